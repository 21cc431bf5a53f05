package mission

import (
	"fmt"
	"testing"
	"time"

	"interlock/units"
)

// A cancel and the success of a mission that cross, in every order and at every distance: exactly one last word. A verdict that
// came first stands; a cancel that came first wins, whatever the driver or the verifier still say, early, late or twice, and it
// is the measured standstill that ends it.
//
// Verifies: P10, P21, F16, F34
func TestCancelCrossesSuccess(t *testing.T) {
	at := func(tick int) units.Instant { return units.Instant(0).Add(time.Duration(tick) * units.RobotTick) }
	for cancel := range 40 {
		for ended := 2; ended < 30; ended += 5 {
			for verdict := ended; verdict < 36; verdict += 4 {
				for _, twice := range []int{0, 1, 5} { // ticks later everything is said once more
					name := fmt.Sprintf("cancel %d, motion ended %d, verdict %d, again after %d", cancel, ended, verdict, twice)
					b := bench{}
					b.send(t, Start{At: 0, Policy: goodPolicy()})
					words, first := 0, ""
					say := func(ev Event) {
						was := b.s.Status.Final()
						if b.send(t, ev); !was && b.s.Status.Final() {
							words, first = words+1, b.s.Word()
						}
					}
					cancelled := false
					for tick := 1; tick < 80; tick++ {
						if tick == 1 {
							say(Started{at(tick)})
						}
						if tick == cancel {
							cancelled = !b.s.Status.Final()
							say(Cancel{at(tick)})
						}
						if tick == ended || twice > 0 && tick == ended+twice {
							say(MotionEnded{at(tick)})
						}
						if (tick == verdict || twice > 0 && tick == verdict+twice) && b.s.Status != Running {
							say(Verdict{at(tick), Succeeded})
						}
						was := b.s.Status.Final()
						if b.tick(t, at(tick), 3); !was && b.s.Status.Final() {
							words, first = words+1, b.s.Word()
						}
					}
					want := "succeeded"
					if cancelled {
						want = "cancelled"
					}
					if words != 1 || first != want || b.s.Word() != want {
						t.Fatalf("%s: %d last words, first %q, then %q; want %q", name, words, first, b.s.Word(), want)
					}
				}
			}
		}
	}
}
