package connect

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// watch times the sending of each event. One that takes longer than slow marks the reader as dropped: if it takes the
// event after all, it can still be told where to go on. After twice that long the stream is cut where it stands.
type watch struct {
	slow    time.Duration
	control *http.ResponseController
	timer   *time.Timer

	mu      sync.Mutex
	sending bool
	late    bool
}

func newWatch(ctx context.Context, slow time.Duration) *watch {
	control, _ := ctx.Value(controlKey{}).(*http.ResponseController)
	w := &watch{slow: slow, control: control}
	w.timer = time.AfterFunc(slow, w.fire)
	w.timer.Stop()
	return w
}

// begin starts the clock for one event.
func (w *watch) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sending = true
	w.timer.Reset(w.slow)
}

// done stops it and reports whether the event took too long.
func (w *watch) done() (late bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sending = false
	w.timer.Stop()
	return w.late
}

func (w *watch) end() { w.done() }

func (w *watch) fire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !w.sending:
	case !w.late:
		w.late = true
		w.timer.Reset(w.slow)
	case w.control != nil:
		_ = w.control.SetWriteDeadline(time.Now()) // the write that hangs fails; in HTTP/2 the stream is reset
	}
}
