package drills_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"interlock/body"
	"interlock/body/plant"
	"interlock/body/remote"
	"interlock/reject"
	"interlock/units"
)

// Bounds of a standstill after a kill: the silence, the ramp, and what the servos need to settle; the rest is what two
// busy cores may delay a process.
const (
	movingM    = 0.002  // the tip has moved when it is further than this from where it was
	creepM     = 0.0004 // in one look, the tip moves: 2 cm/s
	lookEvery  = 20 * time.Millisecond
	stillFor   = 300 * time.Millisecond
	standstill = units.Silence + 80*time.Millisecond + 250*time.Millisecond
	slack      = 250 * time.Millisecond
)

// watcher reads the plant's truth.
type watcher struct {
	t   testing.TB
	lab *plant.Lab
}

func watch(t testing.TB, h home) *watcher {
	t.Helper()
	w := &watcher{t, plant.DialLab(h.socket("lab"))}
	t.Cleanup(w.lab.Close)
	for range 100 {
		if _, err := w.lab.Look(); err == nil {
			return w
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("no plant")
	return nil
}

func (w *watcher) tip() units.Vec3 {
	w.t.Helper()
	truth, err := w.lab.Look()
	if err != nil {
		w.t.Fatal(err)
	}
	return truth.TipInBase()
}

// moves reports whether the tip moves now.
func (w *watcher) moves() bool {
	w.t.Helper()
	a := w.tip()
	time.Sleep(lookEvery)
	return w.tip().Distance(a) > creepM
}

func (w *watcher) waitMoving() {
	w.t.Helper()
	for range 400 {
		if w.moves() {
			return
		}
	}
	w.t.Fatal("the arm does not move")
}

// untilStill returns when the tip last moved after begun. It stands once it has not moved for stillFor.
func (w *watcher) untilStill(begun time.Time) time.Duration {
	w.t.Helper()
	last, at := w.tip(), time.Now()
	for time.Since(at) < stillFor {
		time.Sleep(lookEvery)
		if now := w.tip(); now.Distance(last) > movingM {
			last, at = now, time.Now()
		}
		if time.Since(begun) > 5*time.Second {
			w.t.Fatal("the arm goes on moving")
		}
	}
	return max(0, at.Sub(begun))
}

func spread(took []time.Duration) string {
	slices.Sort(took)
	at := func(share int) time.Duration { return took[(len(took)-1)*share/100].Round(time.Millisecond) }
	return fmt.Sprintf("standstill after min %v, median %v, p95 %v, max %v (n = %d)", at(0), at(50), at(95), at(100), len(took))
}

// A robot that is killed or frozen while the arm moves: the driver's own watchdog brings it to a standstill. One that is
// thawed is refused by its epoch or finds the arm held, and moves nothing.
//
// Verifies: P06, P07, D01
func TestRobotDiesWhileTheArmMoves(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.plant(t)
	w := watch(t, h)
	h.driver(t, "--plant", h.socket("plant"))
	n, moving := kills(t, 4), 0
	took := map[syscall.Signal][]time.Duration{}
	for i := range n {
		robot := h.robot(t)
		w.waitMoving()
		time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond)
		if w.moves() {
			moving++
		} else {
			t.Logf("kill %d comes while the arm stands; the robot says %q", i, robot.errors)
		}
		how := []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP}[i%2]
		begun := time.Now()
		robot.signal(how)
		d := w.untilStill(begun)
		took[how] = append(took[how], d)
		if d > standstill+slack {
			t.Errorf("%v: the arm moved for %v", how, d)
		}
		if how == syscall.SIGSTOP {
			time.Sleep(max(0, units.LeaseTTL-time.Since(begun)) + 100*time.Millisecond)
			robot.signal(syscall.SIGCONT)
			before := w.tip()
			time.Sleep(500 * time.Millisecond)
			if d := w.tip().Distance(before); d > movingM {
				t.Errorf("a robot whose lease lapsed while it was frozen moved the tip by %v m", d)
			}
		}
		robot.kill()
	}
	for how, d := range took {
		t.Logf("%v: %s", how, spread(d))
	}
	t.Logf("%d of %d while the arm moved", moving, n)
	if moving*10 < n*8 {
		t.Errorf("only %d of %d kills came while the arm moved", moving, n)
	}
}

// operate is a person at the driver's operator socket.
func operate(t testing.TB, h home) *remote.Operator {
	t.Helper()
	o := remote.DialOperator(h.socket("operator"))
	t.Cleanup(o.Close)
	for range 100 {
		if _, _, err := o.State(t.Context()); err == nil {
			return o
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("no driver")
	return nil
}

func state(t testing.TB, o *remote.Operator) body.Latch {
	t.Helper()
	l, _, err := o.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A driver that is killed or frozen while the arm moves: the servos keep their last goal. Started anew it comes up
// stopped, the robot's setpoints are refused, and a reset starts nothing.
//
// Verifies: D02, D03
func TestDriverDiesWhileTheArmMoves(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.plant(t)
	w := watch(t, h)
	var took []time.Duration
	driver := h.driver(t, "--plant", h.socket("plant"))
	for range kills(t, 2) {
		robot := h.robot(t)
		w.waitMoving()
		time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
		begun := time.Now()
		driver.kill()
		took = append(took, w.untilStill(begun))
		robot.kill()
		before := w.tip()
		driver = h.driver(t, "--plant", h.socket("plant"))
		if says := driver.line(); !strings.Contains(says, "stopped") {
			t.Fatalf("a driver that died in a motion comes up with %q", says)
		}
		person := operate(t, h)
		l := state(t, person)
		if err := person.Reset(t.Context(), l.Number+1); !rejected(err, reject.Conflict) {
			t.Errorf("a reset of another number was answered by %v", err)
		}
		robot = h.robot(t)
		if says := robot.line(); says != "open" {
			t.Fatalf("the robot says %q", says)
		}
		robot.kill()
		if err := person.Reset(t.Context(), l.Number); err != nil {
			t.Fatal(err)
		}
		time.Sleep(500 * time.Millisecond)
		if d := w.tip().Distance(before); d > movingM {
			t.Errorf("restart, a refused robot and a reset moved the tip by %v m", d)
		}
	}
	t.Log(spread(took))
	if worst := slices.Max(took); worst > standstill+slack {
		t.Errorf("the arm moved for %v after its driver died", worst)
	}
	driver.end()
}

func rejected(err error, code reject.Code) bool {
	var r reject.Rejection
	return errors.As(err, &r) && r.Code == code
}

// A frozen driver, thawed in the middle of a motion that it owed: the motion is over, not resumed.
//
// Verifies: D04
func TestDriverFreezesWhileTheArmMoves(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.plant(t)
	w := watch(t, h)
	driver := h.driver(t, "--plant", h.socket("plant"))
	robot := h.robot(t)
	w.waitMoving()
	begun := time.Now()
	driver.signal(syscall.SIGSTOP)
	if d := w.untilStill(begun); d > standstill+slack {
		t.Errorf("the arm moved for %v after its driver froze", d)
	}
	robot.kill()
	time.Sleep(time.Second)
	before := w.tip()
	driver.signal(syscall.SIGCONT)
	time.Sleep(500 * time.Millisecond)
	if d := w.tip().Distance(before); d > movingM {
		t.Errorf("the thawed driver moved the tip by %v m", d)
	}
}

// The stop latch and its number outlive the process, whether it was stopped at rest, in a motion or before there was any
// body; a damaged file is a stop; who was never stopped comes up ready.
//
// Verifies: P04, D03
func TestLatchOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	driver := h.driver(t) // the simulator inside
	if says := driver.line(); !strings.Contains(says, "ready") {
		t.Fatalf("a new driver comes up with %q", says)
	}
	person := operate(t, h)
	number, durable, err := person.Stop(t.Context(), "drill")
	if err != nil || !durable || number == 0 {
		t.Fatalf("stop %d, durable %v: %v", number, durable, err)
	}
	driver.kill()
	driver = h.driver(t, "--plant", h.socket("nobody")) // no body will ever come
	if says := driver.line(); !strings.Contains(says, "stopped") {
		t.Fatalf("a stopped driver comes up with %q", says)
	}
	if l := state(t, person); l.Number != number || l.Reason != "drill" {
		t.Errorf("the latch came back as %+v", l)
	}
	if err := person.Reset(t.Context(), number); err != nil {
		t.Error(err)
	}
	if number, durable, err = person.Stop(t.Context(), "no body"); err != nil || number != 2 {
		t.Errorf("a stop without a body: %d, %v, %v", number, durable, err)
	}
	driver.end()
	if err := os.WriteFile(h.latch(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if says := h.driver(t).line(); !strings.Contains(says, "damaged") {
		t.Errorf("a damaged latch file comes up with %q", says)
	}
}

// Two processes want the body: the second is told who holds it, and gets it when the first has died.
//
// Verifies: D05
func TestOneMoverAtATime(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.driver(t)
	robot := h.robot(t)
	if says := robot.line(); says != "open" {
		t.Fatalf("the robot says %q", says)
	}
	second, err := remote.Dial(t.Context(), h.socket("driver"), remote.Options{Holder: "second", OpenWithin: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = second.Close() }()
	err = second.Open()
	var busy reject.Rejection
	if !errors.As(err, &busy) || busy.Code != reject.Busy || busy.Got != `"drill"` {
		t.Errorf("the second robot's open was answered by %v", err)
	}
	robot.kill()
	third, err := remote.Dial(context.Background(), h.socket("driver"), remote.Options{Holder: "third"})
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := third.Open(); err != nil {
		t.Errorf("after the holder died: %v", err)
	}
	t.Logf("the lease was free %v after its holder died", time.Since(begun).Round(time.Millisecond))
	if err := third.Close(); err != nil {
		t.Error(err)
	}
}

// A person's stop in the middle of a motion, from a socket of its own while the robot goes on sending; then setpoints
// are refused however often they come, and the reset starts nothing, not even what was sent while it was stopped.
//
// Verifies: P04, D21
func TestStopEndsTheMotionAndResetStartsNone(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.plant(t)
	w := watch(t, h)
	h.driver(t, "--plant", h.socket("plant"))
	person := operate(t, h)
	robot := h.robot(t)
	w.waitMoving()
	begun := time.Now()
	number, durable, err := person.Stop(t.Context(), "drill")
	if err != nil || !durable {
		t.Fatalf("durable %v: %v", durable, err)
	}
	took := w.untilStill(begun)
	t.Logf("the arm stood %v after the stop", took.Round(time.Millisecond))
	if took > standstill-units.Silence+slack {
		t.Errorf("the arm moved for %v after a stop", took)
	}
	robot.kill()
	before := w.tip()
	d, err := remote.Dial(t.Context(), h.socket("driver"), remote.Options{Holder: "fighter"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	if err := d.Open(); err != nil {
		t.Fatal(err)
	}
	fight := func(knows uint64, times int) {
		t.Helper()
		for range times {
			o, err := d.Observe()
			if err != nil {
				t.Fatal(err)
			}
			p := body.Setpoint{PositionsRad: slices.Clone(o.GoalRad), Over: time.Second, Expires: o.At.Add(body.Expiry), Stop: knows}
			p.PositionsRad[0] = 0
			if _, err := d.Send(p); !rejected(err, reject.Stopped) {
				t.Fatalf("a setpoint under stop %d was answered by %v", knows, err)
			}
		}
	}
	fight(number, 100)
	fight(0, 5)
	if err := person.Reset(t.Context(), number); err != nil {
		t.Fatal(err)
	}
	fight(0, 5) // what belongs to a motion from before the stop
	time.Sleep(time.Second)
	if d := w.tip().Distance(before); d > movingM {
		t.Errorf("the tip moved by %v m", d)
	}
}
