package main

import (
	"context"
	"fmt"
	"log/slog"
	"path"
	"sync"
)

// faultLog is where the line of a robot tells its own faults: a call that panicked, once for each method, so that whoever
// repeats it fills no screen. What callers or connections do wrong is no fault of the robot's, and is not printed.
type faultLog struct {
	say func(string)

	mu   sync.Mutex
	told map[string]bool // by method
}

var _ slog.Handler = (*faultLog)(nil)

func newFaultLog(say func(string)) *slog.Logger {
	return slog.New(&faultLog{say: say, told: map[string]bool{}})
}

// Enabled implements slog.Handler.
func (l *faultLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }

// Handle implements slog.Handler.
func (l *faultLog) Handle(_ context.Context, r slog.Record) error {
	method, why := "", ""
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "procedure":
			method = path.Base(a.Value.String())
		case "panic":
			why = a.Value.String()
		}
		return true
	})
	l.mu.Lock()
	told := l.told[method]
	l.told[method] = true
	l.mu.Unlock()
	if !told {
		l.say(fmt.Sprintf("a fault of this program: %s: %s: %s (said once for each method)", shown(method), r.Message, shown(why)))
	}
	return nil
}

// WithAttrs implements slog.Handler; the line gives none.
func (l *faultLog) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup implements slog.Handler; the line gives none.
func (l *faultLog) WithGroup(string) slog.Handler { return l }
