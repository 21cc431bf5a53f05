package bodytest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"interlock/body/bodytest"
	"interlock/reject"
)

// bare makes it a body without a latch: its stop is a halt.
func (b *broken) bare() {
	b.post = func(method, text string, header []string) (string, string, []string) {
		if method == "Stop" {
			method, text = "Halt", "{}"
		}
		return method, text, header
	}
	b.reply = func(method string, text []byte) []byte {
		if method == "Stop" {
			return []byte(`{"number":"0"}`)
		}
		return text
	}
}

// A body process without latch and limits of its own passes what is asked of one.
//
// Verifies: Q120
func TestABareBodyConforms(t *testing.T) {
	for _, c := range bodytest.BareChecks() {
		t.Run(c.Name, func(t *testing.T) {
			b := &broken{apart: newApart(t)}
			b.bare()
			if err := c.Run(b); err != nil {
				t.Error(err)
			}
		})
	}
}

// restarts is a process that can be started again: its grants may begin anew by that.
type restarts struct {
	*broken
	begin func()
}

func (r *restarts) Restart() error { r.begin(); return nil }

// A process that begins to count its grants again when it is started again is found; one that goes on is not.
//
// Verifies: Q122
func TestEpochsGrowOverRestarts(t *testing.T) {
	for _, c := range bodytest.RestartChecks() {
		good := &restarts{&broken{apart: newApart(t)}, func() {}}
		if err := c.Run(good); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		bad := &restarts{broken: &broken{apart: newApart(t)}}
		first := ""
		bad.begin = func() {
			first = bad.granted
			bad.reply = func(_ string, text []byte) []byte { return epochIn.ReplaceAll(text, []byte(first)) }
		}
		if err := c.Run(bad); err == nil || first == "" {
			t.Errorf("%s: it passes where epoch %s is granted again", c.Name, first)
		}
	}
}

// A machine that keeps a check waiting longer than a lease lasts, or a motion, is asked again and is no fault of the body;
// one that does so each time is told apart from a body that gives its lease away.
//
// Verifies: Q121
func TestALateMachineIsAskedAgain(t *testing.T) {
	for _, c := range append(bodytest.ProcessChecks(), bodytest.LatchChecks()...) {
		if c.Name != lapses && c.Name != straight {
			continue
		}
		for name, stalls := range map[string]int{"once": 1, "always": 1 << 20} {
			t.Run(c.Name+", "+name, func(t *testing.T) {
				b := &broken{apart: newApart(t)}
				left, calls := stalls, 0
				stall := func() error { // the driver's time goes on meanwhile
					if calls++; calls%7 != 0 || left == 0 {
						return nil
					}
					left--
					return b.apart.Wait(3 * time.Second)
				}
				b.wait = func(a *apart, by time.Duration) error { return errors.Join(stall(), a.Wait(by)) }
				b.advance = func(a *apart, by time.Duration) error {
					*a.passed += by
					return errors.Join(stall(), a.Guard.Advance(by), keep(a))
				}
				err := c.Run(b)
				if name == "once" && err != nil {
					t.Error(err)
				}
				if name == "always" && c.Name == lapses && (err == nil || !strings.Contains(err.Error(), string(reject.NoLease))) {
					t.Errorf("a machine that is late each time: %v", err)
				}
				if left == stalls {
					t.Error("it was not kept waiting")
				}
			})
		}
	}
}

// keep keeps the lease, and takes it again where the machine let it lapse.
func keep(a *apart) error {
	if err := a.Renew(a.epoch); err == nil {
		return nil
	}
	epoch, err := a.Acquire("bodytest")
	a.epoch = epoch
	return err
}
