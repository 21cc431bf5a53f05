package guard_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"interlock/body"
	"interlock/reject"
)

// A body that comes back as another one stays shut out, and the stop says so: at once, with a number of its own, and again
// after each reset, however often it is tried. The right one is opened again and waits for a person.
//
// Verifies: U169
func TestAnotherBodyIsSaidToAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clocked{plant: newPlant(), since: time.Now()}
		r := run(t, c, config())
		defer r.end()
		time.Sleep(time.Second)
		c.set(func(c *clocked) { c.fail = reject.New(reject.NoLease, "it was started anew") })
		time.Sleep(100 * time.Millisecond)
		lost := r.Latch()
		if !lost.Stopped || strings.Contains(lost.Reason, body.ErrAnother.Error()) {
			t.Fatalf("a lost body: %+v", lost)
		}
		c.set(func(c *clocked) { c.fail = fmt.Errorf("%w: of hardware", body.ErrAnother) })
		time.Sleep(5 * time.Second)
		says := func(number uint64) {
			t.Helper()
			if l := r.Latch(); !l.Stopped || l.Number != number || !strings.Contains(l.Reason, "another body answers: of hardware") {
				t.Errorf("another body: %+v, want stop %d", l, number)
			}
		}
		says(lost.Number + 1)
		c.set(func(c *clocked) { c.fail = body.ErrNotOpen }) // as a line that is not open answers between two attempts
		if err := r.Reset(lost.Number + 1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		says(lost.Number + 2)
		c.set(func(c *clocked) { c.fail = nil })
		time.Sleep(time.Second)
		says(lost.Number + 2)
		if err := r.Reset(lost.Number + 2); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if l := r.Latch(); l.Stopped {
			t.Errorf("the right body: %+v", l)
		}
	})
}
