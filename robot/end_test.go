package robot_test

import (
	"errors"
	"testing"

	"interlock/body/guard"
	"interlock/robot"
)

// leaving is a guard that does not answer the last calls, though it does what they ask for.
type leaving struct {
	*guard.Guard
	halt, close error
}

func (l *leaving) Halt() error { return errors.Join(l.Guard.Halt(), l.halt) }

func (l *leaving) Close() error { return errors.Join(l.Guard.Close(), l.close) }

// TestWhatIsLeftAtTheEnd: a robot that ends says what its driver did not answer, and whether it saw standstill is told apart
// from that: a motion whose end was seen is over, whatever became of the line after that.
//
// Verifies: T62
func TestWhatIsLeftAtTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		halt, close error
		moving      bool
	}{
		"all is well":                     {},
		"all is well, in motion":          {moving: true},
		"the last halt is not answered":   {halt: errTest},
		"closing is not answered":         {close: errTest},
		"nothing is answered":             {halt: errTest, close: errTest},
		"closing in motion, not answered": {close: errTest, moving: true},
	} {
		t.Run(name, func(t *testing.T) {
			var b *leaving
			run(t, set{body: func(g *guard.Guard) robot.Body { b = &leaving{Guard: g}; return b }}, func(t *testing.T, r *rig) {
				if c.moving {
					r.midway(20, slowly, "")
				}
				b.halt, b.close = c.halt, c.close
				err := r.close()
				e, is := errors.AsType[*robot.EndError](err)
				switch {
				case c.halt == nil && c.close == nil:
					if err != nil {
						t.Errorf("it ended with %v", err)
					}
				case !is || e.NotStill || !errors.Is(err, errTest) || (e.Halt != nil) != (c.halt != nil) || (e.Close != nil) != (c.close != nil):
					t.Errorf("it ended with %+v, %v", e, err)
				}
			})
		})
	}
}
