package connect

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// deadlined is a reply whose write deadlines are kept.
type deadlined struct {
	*httptest.ResponseRecorder
	at []time.Time
}

// SetWriteDeadline implements what a ResponseController looks for.
func (d *deadlined) SetWriteDeadline(at time.Time) error {
	d.at = append(d.at, at)
	return nil
}

// An event that is taken too late marks its reader as slow; one that is not taken at all is cut off later still.
//
// Verifies: P23
func TestSlownessIsTimedPerEvent(t *testing.T) {
	const slow = time.Second
	for _, c := range []struct {
		name  string
		takes []time.Duration // each event takes so long to be sent, and as long passes between them
		late  []bool
		cuts  int
	}{
		{"many events in time", []time.Duration{900 * time.Millisecond, 900 * time.Millisecond, 0, 999 * time.Millisecond}, []bool{false, false, false, false}, 0},
		{"one too late, and taken", []time.Duration{0, 1500 * time.Millisecond}, []bool{false, true}, 0},
		{"one not taken", []time.Duration{2500 * time.Millisecond}, []bool{true}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reply := &deadlined{ResponseRecorder: httptest.NewRecorder()}
				w := newWatch(context.WithValue(t.Context(), controlKey{}, http.NewResponseController(reply)), slow)
				defer w.end()
				for i, d := range c.takes {
					w.begin()
					time.Sleep(d) // the bubble's clock
					synctest.Wait()
					if late := w.done(); late != c.late[i] {
						t.Errorf("event %d: late %v, want %v", i, late, c.late[i])
					}
					time.Sleep(d)
				}
				if len(reply.at) != c.cuts {
					t.Errorf("the stream was cut %d times, want %d", len(reply.at), c.cuts)
				}
			})
		})
	}
}
