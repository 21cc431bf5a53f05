package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"

	"interlock/eval"
)

// bar shows how far a run is: a moving bar on a terminal, a line per quarter elsewhere.
type bar struct {
	out     io.Writer
	name    string
	writer  progress.Writer
	tracker *progress.Tracker
	quarter int
}

func newBar(out io.Writer, name string) *bar {
	b := &bar{out: out, name: name}
	if f, ok := out.(*os.File); !ok || !terminal(f) {
		return b
	}
	b.writer = progress.NewWriter()
	b.writer.SetOutputWriter(out)
	b.writer.SetTrackerLength(30)
	b.writer.SetUpdateFrequency(100 * time.Millisecond)
	b.writer.Style().Visibility.Speed = false
	b.tracker = &progress.Tracker{Message: name, Total: 1}
	b.writer.AppendTracker(b.tracker)
	go b.writer.Render()
	return b
}

func terminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// show is called after every episode.
func (b *bar) show(done, total int, _ *eval.Episode) {
	if b.tracker != nil {
		b.tracker.UpdateTotal(int64(total))
		b.tracker.SetValue(int64(done))
		return
	}
	if q := 4 * done / total; q > b.quarter && total >= 100 {
		b.quarter = q
		_, _ = fmt.Fprintf(b.out, "%s: %d of %d episodes\n", b.name, done, total)
	}
}

// end takes the bar away.
func (b *bar) end() {
	if b.writer == nil {
		return
	}
	b.writer.Stop()
	for b.writer.IsRenderInProgress() {
		time.Sleep(10 * time.Millisecond)
	}
}
