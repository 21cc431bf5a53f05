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
		ack := begin(t, c, fmt.Sprint("held", i), toLeft)
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
	const high, aside = `{"x_cm":20,"y_cm":0,"z_cm":20}`, `{"x_cm":18,"y_cm":-12,"z_cm":20,"speed_mps":0.1}`
	h := newHome(t)
	h.plant(t)
	driver := h.driver(t, "--plant", h.socket("plant"))
	w := watch(t, h)
	robot := h.serve(t)
	c := h.call(t)
	person := operate(t, h)
	for i, end := range []struct {
		name  string
		act   func(id string)
		again func()
	}{
		{"a stop", func(string) {
			if _, _, err := person.Stop(t.Context(), "drill"); err != nil {
				t.Error(err)
			}
		}, func() { unlatch(t, person) }},
		{"a cancel", func(id string) { h.command(t, "", "cancel", id) }, func() {}},
		{"the death of the robot", func(string) { robot.kill() }, func() { robot = h.serve(t) }},
		{"the end of the robot", func(string) { robot.end() }, func() { robot = h.serve(t) }},
		{"the death of the driver", func(string) { driver.kill() }, func() {
			driver = h.driver(t, "--plant", h.socket("plant"))
			waitFor(t, "the driver", func() bool { l, _, err := person.State(t.Context()); return err == nil && l.Stopped })
			unlatch(t, person)
		}},
	} {
		ready(t, c)
		id := ""
		waitFor(t, "the raised arm to move", func() bool { // a machine that is busy may lose a driver in between
			up := begin(t, c, fmt.Sprint("up", i, time.Now().UnixNano()), high)
			if !up.GetAccepted() || !last(t, c, up.GetMissionId()).GetFinal() || math.Abs(w.tip()[2]-0.20) > 0.01 {
				unlatch(t, person)
				return false
			}
			id = fmt.Sprint("aside", i, time.Now().UnixNano())
			if ack := begin(t, c, id, aside); !ack.GetAccepted() {
				return false
			}
			_, moves := w.movesWithin(3 * time.Second)
			return moves
		})
		end.act(id)
		w.untilStill(w.look())
		before := w.look()
		after := w.after(before, 1500*time.Millisecond)
		if lost := before.tip[2] - after.tip[2]; math.Abs(lost) > 0.002 {
			t.Errorf("after %s the tip went down by %.4f m", end.name, lost)
		}
		end.again()
	}
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

// unlatch is a person who permits motion again, if it is not permitted.
func unlatch(t testing.TB, person *remote.Operator) {
	t.Helper()
	if l, _, err := person.State(t.Context()); err == nil && l.Stopped {
		check(t, person.Reset(t.Context(), l.Number))
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
