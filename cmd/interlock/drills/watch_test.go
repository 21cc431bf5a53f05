package drills_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"interlock/body/plant"
	"interlock/units"
)

// What moving and standing are, by the plant's truth and on the plant's clock. A machine that is busy delays whoever
// looks; it does not change when the plant says that the tip was where.
const (
	movingM   = units.StandstillM      // the tip has moved when it is further than this from where it was
	movingMPS = 0.01                   // slower is no motion: servos settle
	lookEvery = 20 * time.Millisecond  // between two looks
	stillFor  = 300 * time.Millisecond // the tip stands once it has not moved for so long
	settle    = 250 * time.Millisecond // what servos need to come to rest behind their last goal, at most
	slack     = 250 * time.Millisecond // of a driver whose process has to wait for a core
	ramp      = 80 * time.Millisecond  // of a driver, from full speed to none
	patience  = time.Minute            // what a test waits for anything at all: only a hang is longer
)

// When the tip last moves after something ended.
const (
	held       = units.Silence + 50*time.Millisecond + ramp                    // a robot: its driver holds 50 ms after the silence, as promised
	lapsed     = units.LeaseTTL + units.RobotTick + 50*time.Millisecond + ramp // a brain: its robot ends the motion in the tick after its lease
	standstill = units.Silence + halting                                       // a robot, where much else goes on
	halting    = ramp + settle                                                 // what was stopped or halted
)

// sample is the truth of one instant of the plant's own time.
type sample struct {
	at  units.Instant
	tip units.Vec3
}

// speed is that of the tip between two samples, m/s.
func (s sample) speed(before sample) float64 {
	if d := s.at.Sub(before.at); d > 0 {
		return s.tip.Distance(before.tip) / d.Seconds()
	}
	return 0
}

// watcher reads the plant's truth.
type watcher struct {
	t   testing.TB
	lab *plant.Lab
}

func watch(t testing.TB, h home) *watcher {
	t.Helper()
	w := &watcher{t, plant.DialLab(h.socket("lab"))}
	t.Cleanup(w.lab.Close)
	waitFor(t, "a plant", func() bool { _, err := w.lab.Look(); return err == nil })
	return w
}

// waitFor waits until so; a test that waits in vain ends.
func waitFor(t testing.TB, what string, so func() bool) {
	t.Helper()
	for begun := time.Now(); !so(); time.Sleep(lookEvery) {
		if time.Since(begun) > patience {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (w *watcher) look() sample {
	w.t.Helper()
	truth, err := w.lab.Look()
	if err != nil {
		w.t.Fatal(err)
	}
	return sample{truth.Now(), truth.TipInBase()}
}

func (w *watcher) tip() units.Vec3 {
	w.t.Helper()
	return w.look().tip
}

// after looks again once so much of the plant's time has passed since.
func (w *watcher) after(since sample, passed time.Duration) (now sample) {
	w.t.Helper()
	waitFor(w.t, "the plant's time", func() bool {
		now = w.look()
		return now.at.Sub(since.at) >= passed
	})
	return now
}

// moves looks twice: whether the tip moves, and the later look. They are as far apart as a standstill takes, since a robot
// whose ticks are late moves in little steps.
func (w *watcher) moves() (yes bool, now sample) {
	w.t.Helper()
	a := w.look()
	now = w.after(a, units.StandstillOver)
	return now.speed(a) > movingMPS, now
}

func (w *watcher) movesWithin(long time.Duration) (now sample, ok bool) {
	w.t.Helper()
	for begun := time.Now(); time.Since(begun) < long; {
		if ok, now = w.moves(); ok {
			return now, true
		}
	}
	return now, false
}

// untilStill returns how long after the sample the tip last moved.
func (w *watcher) untilStill(begun sample) time.Duration {
	w.t.Helper()
	last, started := w.look(), time.Now()
	for now := last; now.at.Sub(last.at) < stillFor; time.Sleep(lookEvery) {
		if now = w.look(); now.tip.Distance(last.tip) > movingM {
			last = now
		}
		if now.at.Sub(begun.at) > 12*time.Second || time.Since(started) > patience {
			w.t.Fatalf("the arm goes on moving, %v after", now.at.Sub(begun.at))
		}
	}
	return max(0, last.at.Sub(begun.at))
}

// still asks that the tip stays where it is for so much of the plant's time.
func (w *watcher) still(long time.Duration, after string) {
	w.t.Helper()
	before := w.look()
	if now := w.after(before, long); now.tip.Distance(before.tip) > movingM {
		w.t.Errorf("after %s the tip moved by %v m", after, now.tip.Distance(before.tip))
	}
}

// within holds a standstill against its bound. What the machine was late while it was measured comes on top, for each of the
// processes that must get a core for the motion to end.
func (w *watcher) within(took, bound time.Duration, late *lateness, what string) {
	w.t.Helper()
	if most := bound + 4*late.most(); took > most {
		w.t.Errorf("the arm moved for %v after %s; %v is the bound", took, what, most)
	}
}

// standsAfter holds the standstill after an act against its bound, from the moment the act was over, and returns what it
// took since it began.
func (w *watcher) standsAfter(what string, bound time.Duration, act func()) (took time.Duration) {
	w.t.Helper()
	late := feelLateness(w.t)
	before := w.look()
	act()
	after := w.look()
	took = w.untilStill(before)
	w.within(took-after.at.Sub(before.at), bound+slack, late, what)
	return took
}

// lateness is how long this process waits for a core: the most by which a short sleep took too long.
type lateness struct {
	mu    sync.Mutex
	worst time.Duration
	stop  chan struct{}
	ended sync.WaitGroup
}

func feelLateness(t testing.TB) *lateness {
	l := feelTheMachine()
	t.Cleanup(l.end)
	return l
}

// feelTheMachine is feelLateness beyond a test.
func feelTheMachine() *lateness {
	l := &lateness{stop: make(chan struct{})}
	l.ended.Go(func() {
		for {
			before := time.Now()
			select {
			case <-time.After(lookEvery / 2):
			case <-l.stop:
				return
			}
			l.mu.Lock()
			l.worst = max(l.worst, time.Since(before)-lookEvery/2)
			l.mu.Unlock()
		}
	})
	return l
}

func (l *lateness) end() { close(l.stop); l.ended.Wait() }

// begin forgets what was so far.
func (l *lateness) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.worst = 0
}

func (l *lateness) most() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.worst
}

// spread tells how times are distributed.
func spread(took []time.Duration) string {
	if len(took) == 0 {
		return "none"
	}
	took = slices.Sorted(slices.Values(took))
	at := func(share int) time.Duration { return took[(len(took)-1)*share/100].Round(time.Millisecond) }
	return fmt.Sprintf("min %v, median %v, p95 %v, p99 %v, max %v (n = %d)", at(0), at(50), at(95), at(99), at(100), len(took))
}
