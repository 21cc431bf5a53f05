package drills_test

import (
	"errors"
	"fmt"
	"math"
	"net"
	"path/filepath"
	"testing"
	"time"

	"interlock/body/remote"
	"interlock/body/sim"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// Failures that were seen in the field, in real processes. Each test names where the report is.

// OpenRAL/openral#290: safety processes that existed and were not started. A driver that cannot open its stop listener does
// not start, so no robot gets a body without one.
//
// Verifies: U190
func TestNoBodyWithoutAStopListener(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	taken, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(string(h), "operator"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	for name, operator := range map[string]string{"an address that is taken": h.socket("operator"), "a folder that is not there": h.socket("nowhere/operator")} {
		_, code := h.command(t, "", "driver", "sim", "--contract", contractFile, "--listen", h.socket("driver"), "--operator", operator, "--latch-file", h.latch())
		if code == 0 {
			t.Errorf("with %s for its stop listener the driver ends well", name)
		}
	}
	h.serve(t)
	if ack, err := h.call(t).Start(t.Context(), request("m1", toLeft)); !waits(ack.GetRejections(), err) {
		t.Errorf("a robot without a driver answers %v, %v", ack, err)
	}
}

// farm-ng/tractor#82: commands that were held during a stop ran on its reset.
//
// Verifies: P03, U191
func TestWhatIsAskedDuringAStopNeverRuns(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.plant(t)
	h.driver(t, "--plant", h.socket("plant"))
	w := watch(t, h)
	h.serve(t)
	c := h.call(t)
	ready(t, c)
	person := operate(t, h)
	number, _, err := person.Stop(t.Context(), "drill")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		ack := judged(t, c, fmt.Sprint("held", i), toLeft)
		if ack.GetAccepted() || ack.GetRejections()[0].GetCode() != string(reject.Stopped) {
			t.Errorf("a start under the stop is answered by %v", ack)
		}
	}
	if err := person.Reset(t.Context(), number); err != nil {
		t.Fatal(err)
	}
	w.still(2*time.Second, "the reset")
	carry(t, c, "new", toLeft)
}

// almond-bot/axol#253: ending a mode dropped torque, and raised arms fell. Whatever ends with the tip 20 cm up, it stays up.
//
// Verifies: U192
func TestNothingDropsARaisedArm(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.plant(t)
	r := &raised{home: h, t: t, driver: h.driver(t, "--plant", h.socket("plant")), w: watch(t, h), robot: h.serve(t), person: operate(t, h)}
	stop := func(string) bool {
		_, _, err := r.person.Stop(t.Context(), "drill")
		check(t, err)
		return true
	}
	for _, end := range []struct {
		name  string
		act   func(mission string) (counts bool)
		again func()
	}{
		{"a stop", stop, func() { unlatch(t, r.person) }},
		{"a cancel", r.cancelled, func() {}},
		{"the death of the robot", func(string) bool { r.robot.kill(); return true }, func() { r.robot = h.serve(t) }},
		{"the end of the robot", func(string) bool { r.robot.end(); return true }, func() { r.robot = h.serve(t) }},
		{"the death of the driver", func(string) bool { r.driver.kill(); return true }, func() {
			r.driver = h.driver(t, "--plant", h.socket("plant"))
			waitFor(t, "the driver", func() bool { l, _, err := r.person.State(t.Context()); return err == nil && l.Stopped })
			unlatch(t, r.person)
		}},
	} {
		for tries := 0; !end.act(r.moving()); tries++ {
			if tries == busyTries {
				t.Fatalf("%s: a busy machine ended every mission before it", end.name)
			}
			r.w.untilStill(r.w.look())
			unlatch(t, r.person)
		}
		r.w.untilStill(r.w.look())
		before := r.w.look()
		after := r.w.after(before, 1500*time.Millisecond)
		if lost := before.tip[2] - after.tip[2]; math.Abs(lost) > 0.002 {
			t.Errorf("after %s the tip went down by %.4f m", end.name, lost)
		}
		end.again()
	}
}

// raised is a robot whose arm is raised and moves aside.
type raised struct {
	home
	t             *testing.T
	robot, driver *process
	w             *watcher
	person        *remote.Operator
	n             int
}

// moving raises the arm, begins to move it aside, slowly, and returns that mission. It calls as the verbs for people do, so
// that these may end it. A machine that is busy may lose a driver in between.
func (r *raised) moving() (mission string) {
	r.t.Helper()
	const high, aside = `{"x_cm":20,"y_cm":0,"z_cm":20}`, `{"x_cm":18,"y_cm":-12,"z_cm":20,"speed_mps":0.1}`
	c := r.callAsPerson(r.t)
	ready(r.t, c)
	waitFor(r.t, "the raised arm to move", func() bool {
		r.n++
		up := begin(r.t, c, fmt.Sprint("up-", r.n), high)
		if !up.GetAccepted() || !last(r.t, c, up.GetMissionId()).GetFinal() || math.Abs(r.w.tip()[2]-0.20) > 0.01 {
			unlatch(r.t, r.person)
			return false
		}
		mission = fmt.Sprint("aside-", r.n)
		if ack := begin(r.t, c, mission, aside); !ack.GetAccepted() {
			return false
		}
		_, moves := r.w.movesWithin(3 * time.Second)
		return moves
	})
	return mission
}

// cancelled is a person's own cancel, which waits until the standstill was measured. It counts unless a busy machine ended
// the mission before.
func (r *raised) cancelled(mission string) (counts bool) {
	r.t.Helper()
	out, code := r.command(r.t, "", "cancel", mission, "--json")
	e := last(r.t, r.callAsPerson(r.t), mission)
	if wasSpoiled(e) || e.GetKind() == contractv1.EventKind_VERIFIED {
		r.t.Logf("mission %s ended before its cancel: %v, %s", mission, e.GetKind(), e.GetReason())
		return false
	}
	said := lines(r.t, out)
	if code != 0 || len(said) == 0 || said[len(said)-1]["state"] != "cancelled" || e.GetKind() != contractv1.EventKind_CANCELLED {
		r.t.Errorf("the cancel exits with %d and says %s; the mission ended %v: %s", code, out, e.GetKind(), e.GetReason())
	}
	return true
}

// huggingface/lerobot#2519: a gripper turned by itself on reconnection, to where it had last been told to be. A driver that
// comes back takes the present position for its goal, however far from the last one the arm has been brought meanwhile.
//
// Verifies: U193
func TestComingBackMovesNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.plant(t)
	driver := h.driver(t, "--plant", h.socket("plant"))
	w := watch(t, h)
	robot := h.serve(t)
	c := h.call(t)
	ready(t, c)
	carry(t, c, "there", toLeft)
	robot.kill()
	driver.kill()
	elsewhere := sim.DefaultConfig()
	elsewhere.StartRad[0] = -1.5
	elsewhere.StartRad[5] = 1.6
	check(t, w.lab.SetUp(elsewhere, "", false))
	w.untilStill(w.look())
	before := w.look()
	h.driver(t, "--plant", h.socket("plant"))
	h.serve(t)
	ready(t, c)
	unlatch(t, operate(t, h))
	if now := w.after(w.look(), time.Second); now.tip.Distance(before.tip) > movingM {
		t.Errorf("coming back moved the tip by %v m", now.tip.Distance(before.tip))
	}
	carry(t, c, "new", toLeft)
}

// nasa-jpl/rosa#28: an action was told to have succeeded, and nothing had changed. A body that acknowledges every setpoint at once
// and never moves ends its mission failed, by what was read back; one that is cancelled is cancelled, and not succeeded.
//
// Verifies: F34, F35, U147
func TestALyingBodyIsNotBelieved(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.plant(t)
	w := watch(t, h)
	check(t, w.lab.SetUp(sim.DefaultConfig(), sim.LieStill, false))
	h.driver(t, "--plant", h.socket("plant"))
	h.serve(t)
	c := h.call(t)
	ready(t, c)
	before := w.look()
	ends := func(id, args string, meanwhile func(id string) (late bool)) *contractv1.Event {
		t.Helper()
		for tries := range busyTries {
			name := again(id, tries)
			if accepted(t, c, name, args) {
				late := meanwhile(name)
				if e := last(t, c, name); !wasSpoiled(e) && !late {
					return e
				}
			}
			permitted(t)
		}
		t.Fatal("a busy machine spoils every mission")
		return nil
	}
	e := ends("lied", toLeft, func(string) bool { return false })
	if e.GetKind() != contractv1.EventKind_FAILED || e.GetFailure().GetViolatedPostcondition() != "tip_at_target" || e.GetFailure().GetSource() != "encoders" {
		t.Errorf("the mission of a body that lies ended %v: %s, %v", e.GetKind(), e.GetReason(), e.GetFailure())
	}
	e = ends("cancelled", slowly, func(id string) (late bool) {
		ack, err := c.Cancel(t.Context(), &contractv1.CancelRequest{MissionId: id})
		check(t, err)
		return !ack.GetAccepted() // it had ended
	})
	if e.GetKind() != contractv1.EventKind_CANCELLED {
		t.Errorf("its cancelled mission ended %v: %s", e.GetKind(), e.GetReason())
	}
	if now := w.look(); now.tip.Distance(before.tip) > movingM {
		t.Errorf("a body that does not move moved by %v m", now.tip.Distance(before.tip))
	}
}

// unlatch is a person who permits motion again, if it is not permitted.
func unlatch(t testing.TB, person *remote.Operator) {
	t.Helper()
	for {
		l, _, err := person.State(t.Context())
		if err != nil || !l.Stopped {
			return
		}
		if err = person.Reset(t.Context(), l.Number); !rejected(err, reject.Conflict) { // else it was stopped once more
			check(t, err)
			return
		}
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// waits reports whether a call was refused because the robot has no driver yet.
func waits(in []*contractv1.Rejection, err error) bool {
	var l reject.List
	if errors.As(err, &l) {
		return l.Has(reject.StaleFact)
	}
	return len(in) > 0 && in[0].GetCode() == string(reject.StaleFact)
}

func request(id, args string) *contractv1.StartRequest {
	return &contractv1.StartRequest{MissionId: id, Capability: startOf, ArgsJson: []byte(args)}
}
