package leasing_test

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"interlock/arm"
	"interlock/body/guard"
	"interlock/body/sim"
	"interlock/contract"
	contractv1 "interlock/contract/v1"
	"interlock/robot"
	"interlock/robot/gate"
	"interlock/robot/operator"
	"interlock/robot/skill"
	"interlock/robots"
	"interlock/transport"
	"interlock/transport/inproc"
	"interlock/transport/leasing"
	"interlock/units"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const slow = `{"x_cm":20,"y_cm":5,"z_cm":15,"speed_mps":0.02}`

// line is an in-process line that can be cut.
type line struct {
	transport.Client
	cut   atomic.Bool
	stale atomic.Int32 // so many starts are refused for a reading that is too old
}

// Start implements transport.Client.
func (l *line) Start(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	if l.stale.Add(-1) >= 0 {
		return &contractv1.MissionAck{Rejections: []*contractv1.Rejection{{Code: "STALE_FACT", Field: "objects", Retry: "later"}}}, nil
	}
	return l.Client.Start(ctx, q)
}

var errCut = errors.New("the line is cut")

func (l *line) RenewLease(ctx context.Context, q *contractv1.RenewLeaseRequest) (*contractv1.LeaseReply, error) {
	if l.cut.Load() {
		return nil, errCut
	}
	return l.Client.RenewLease(ctx, q)
}

// run runs a test with a robot whose time is the test's, and two brains that lease.
func run(t *testing.T, test func(t *testing.T, robot transport.Client, broken *line, one, another *leasing.Client)) {
	t.Helper()
	attended(t, func(t *testing.T, r *robot.Robot, broken *line, one, another *leasing.Client) {
		test(t, inproc.New(r), broken, one, another)
	})
}

// attended is run for tests that need the person too.
func attended(t *testing.T, test func(t *testing.T, r *robot.Robot, broken *line, one, another *leasing.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		src, err := robots.Files.ReadFile("so101-tabletop.yaml")
		check(t, err)
		reachable := []byte(`      - {id: reachable, that: "reach_mm(point_cm(args.x_cm`)
		src = bytes.Replace(src, reachable, append([]byte(`      - {id: low, that: "args.z_cm >= 5.0", on_false: ask}`+"\n"), reachable...), 1)
		c, err := contract.Load("so101-tabletop.yaml", src)
		check(t, err)
		driver, err := sim.New(sim.DefaultConfig())
		check(t, err)
		planner, err := skill.NewPlanner(c, skill.Solver(c.Solver))
		check(t, err)
		chain := arm.SO101()
		g := guard.New(driver, guard.Config{Ceiling: guard.Limits{TipSpeedMPS: 1, JointSpeedRadS: 4.2}, Tip: func(positionsRad []float64) units.Vec3 {
			s, _ := arm.ServosOf(positionsRad)
			return chain.Tip(s.Joints())
		}})
		a := robot.Align(c, driver.Describe(), planner)
		desk := operator.NewDesk(operator.Config{})
		r, err := robot.New(robot.Config{
			Desk:     desk,
			Contract: c, Alignment: a, Gate: gate.New(c, a, planner), Body: g, Pacer: robot.RealTime(g, nil), MaxMissions: 8, Beat: units.Beat,
		})
		check(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		broken := &line{Client: inproc.New(r)}
		one, another := leasing.New(broken, "one", units.LeaseRenew), leasing.New(inproc.New(r), "another", units.LeaseRenew)
		test(t, r, broken, one, another)
		check(t, errors.Join(one.Close(), another.Close()))
		cancel()
		check(t, <-ended)
	})
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func start(t *testing.T, c transport.Client, id, args string) *contractv1.MissionAck {
	t.Helper()
	ack, err := c.Start(t.Context(), &contractv1.StartRequest{MissionId: id, Capability: "move_to", ArgsJson: []byte(args)})
	check(t, err)
	return ack
}

func ends(t *testing.T, c transport.Client, id string) *contractv1.Event {
	t.Helper()
	var last *contractv1.Event
	for e, err := range c.Events(t.Context(), &contractv1.EventsRequest{MissionId: id}) {
		check(t, err)
		last = e
	}
	return last
}

// A motion longer than any lease ends verified; meanwhile nobody else may move, and afterwards everybody may.
//
// Verifies: T30
func TestALongMotionIsLeasedToItsEnd(t *testing.T) {
	run(t, func(t *testing.T, robot transport.Client, _ *line, one, another *leasing.Client) {
		began := time.Now()
		if ack := start(t, one, "m1", slow); !ack.GetAccepted() {
			t.Fatal(ack)
		}
		time.Sleep(5 * time.Second)
		ack := start(t, another, "m2", slow)
		if ack.GetAccepted() || ack.GetRejections()[0].GetCode() != "BUSY" || ack.GetRejections()[0].GetGot() != `"m1"` && ack.GetRejections()[0].GetGot() != `"one"` {
			t.Errorf("a second motion: %v", ack)
		}
		if e := ends(t, robot, "m1"); e.GetKind() != contractv1.EventKind_VERIFIED || time.Since(began) < 2*units.LeaseTTL {
			t.Errorf("%v after %v", e, time.Since(began))
		}
		if again := start(t, one, "m1", slow); !again.GetDuplicate() {
			t.Errorf("the same start again: %v", again)
		}
		synctest.Wait()
		if ack := start(t, another, "m3", `{"x_cm":18,"y_cm":-5,"z_cm":12}`); !ack.GetAccepted() {
			t.Errorf("after the first has ended: %v", ack)
		}
		ends(t, robot, "m3")
	})
}

// A brain that dies, or whose line does, stops renewing, and what moved for it stands still.
//
// Verifies: P06, F01, T31
func TestWhatMovedForADeadBrainStands(t *testing.T) {
	run(t, func(t *testing.T, robot transport.Client, broken *line, one, _ *leasing.Client) {
		if ack := start(t, one, "m1", slow); !ack.GetAccepted() {
			t.Fatal(ack)
		}
		time.Sleep(time.Second)
		broken.cut.Store(true)
		cut := time.Now()
		if e := ends(t, robot, "m1"); e.GetKind() != contractv1.EventKind_INTERRUPTED {
			t.Errorf("%v", e)
		}
		if took := time.Since(cut); took > units.LeaseTTL+units.StopUnconfirmed {
			t.Errorf("it stood after %v", took)
		}
		if o, err := robot.Observe(t.Context(), nil); err != nil || !o.GetStandstill() {
			t.Errorf("%v, %v", o, err)
		}
	})
}

// A brain that ends in order gives its lease back at once.
//
// Verifies: T32
func TestABrainThatEndsLeavesNothingMoving(t *testing.T) {
	run(t, func(t *testing.T, robot transport.Client, _ *line, one, _ *leasing.Client) {
		if ack := start(t, one, "m1", slow); !ack.GetAccepted() {
			t.Fatal(ack)
		}
		time.Sleep(time.Second)
		closed := time.Now()
		check(t, one.Close())
		if e := ends(t, robot, "m1"); e.GetKind() != contractv1.EventKind_INTERRUPTED || time.Since(closed) > units.StopUnconfirmed {
			t.Errorf("%v after %v", e, time.Since(closed))
		}
		ack, err := one.Start(t.Context(), &contractv1.StartRequest{MissionId: "m2", Capability: "move_to", ArgsJson: []byte(slow)})
		if !errors.Is(err, leasing.ErrClosed) {
			t.Errorf("a brain that has ended moves the robot: %v, %v", ack, err)
		}
	})
}

// What needs no lease gets none, and a refusal is the robot's own.
//
// Verifies: T33
func TestLookingNeedsNoLease(t *testing.T) {
	run(t, func(t *testing.T, robot transport.Client, _ *line, one, another *leasing.Client) {
		if ack := start(t, one, "m1", slow); !ack.GetAccepted() {
			t.Fatal(ack)
		}
		ack, err := another.Start(t.Context(), &contractv1.StartRequest{MissionId: "look", Capability: "get_state", ArgsJson: []byte("{}")})
		if check(t, err); !ack.GetAccepted() {
			t.Errorf("looking: %v", ack)
		}
		ack, err = another.Start(t.Context(), &contractv1.StartRequest{MissionId: "fly", Capability: "fly", ArgsJson: []byte("{}")})
		if check(t, err); ack.GetReason() != "rejected_unknown_capability:fly" {
			t.Errorf("an unknown verb: %v", ack)
		}
		ack = start(t, another, "bad", `{"x_cm":true}`)
		if codes := len(ack.GetRejections()); codes == 0 || ack.GetAccepted() {
			t.Errorf("bad arguments: %v", ack)
		}
		ends(t, robot, "m1")
	})
}

// A start that needs a person keeps its lease while it is made again, as often as it likes, so that what a person allows
// is still what is asked for.
//
// Verifies: T34
func TestAStartThatNeedsAPersonKeepsItsLease(t *testing.T) {
	const low = `{"x_cm":20,"y_cm":5,"z_cm":4}`
	for _, every := range []time.Duration{100 * time.Millisecond, units.LeaseRenew + 100*time.Millisecond} {
		attended(t, func(t *testing.T, r *robot.Robot, _ *line, one, another *leasing.Client) {
			epoch := uint64(0)
			for range 40 {
				ack := start(t, one, "m1", low)
				if ack.GetAccepted() || ack.GetRejections()[0].GetCode() != "NEEDS_APPROVAL" {
					t.Fatal(ack)
				}
				list, err := r.Person().ListPending(t.Context(), nil)
				check(t, err)
				if len(list.GetPending()) != 1 || epoch != 0 && list.GetPending()[0].GetAct().GetLeaseEpoch() != epoch {
					t.Fatalf("%v, under epoch %d at first", list, epoch)
				}
				epoch = list.GetPending()[0].GetAct().GetLeaseEpoch()
				time.Sleep(every)
			}
			list, err := r.Person().ListPending(t.Context(), nil)
			check(t, err)
			p := list.GetPending()[0]
			_, err = r.Person().Approve(t.Context(), &contractv1.ApproveRequest{Hash: p.GetHash(), Displayed: p.GetAct().GetDisplayed(), By: "ada"})
			check(t, err)
			if ack := start(t, one, "m1", low); !ack.GetAccepted() {
				t.Errorf("what a person allowed: %v", ack)
			}
			if e := ends(t, one, "m1"); e.GetKind() != contractv1.EventKind_VERIFIED {
				t.Error(e)
			}
			// One that is never made again gives its lease free.
			start(t, one, "m2", low)
			time.Sleep(time.Minute)
			if ack := start(t, another, "m3", `{"x_cm":18,"y_cm":-5,"z_cm":12}`); !ack.GetAccepted() {
				t.Errorf("the lease of a start that was given up: %v", ack)
			}
			ends(t, one, "m3")
		})
	}
}

// What passes by itself, such as a stale reading, does not end the wait for a person: it is the same request, under the same
// lease, and the word that was given for it counts. One that is cancelled frees its lease at once.
//
// Verifies: U129
func TestAWaitOutlastsWhatPassesAndEndsWithItsCancel(t *testing.T) {
	const low = `{"x_cm":20,"y_cm":5,"z_cm":4}`
	attended(t, func(t *testing.T, r *robot.Robot, broken *line, one, another *leasing.Client) {
		start(t, one, "m1", low)
		list, err := r.Person().ListPending(t.Context(), nil)
		check(t, err)
		p := list.GetPending()[0]
		_, err = r.Person().Approve(t.Context(), &contractv1.ApproveRequest{Hash: p.GetHash(), Displayed: p.GetAct().GetDisplayed(), By: "ada"})
		check(t, err)
		broken.stale.Store(8)
		for range 8 {
			if ack := start(t, one, "m1", low); ack.GetAccepted() || ack.GetRejections()[0].GetCode() != "STALE_FACT" {
				t.Fatal(ack)
			}
			time.Sleep(500 * time.Millisecond)
		}
		if ack := start(t, one, "m1", low); !ack.GetAccepted() {
			t.Errorf("what a person allowed before the readings were stale: %v", ack)
		}
		ends(t, one, "m1")
		synctest.Wait() // its lease is given back
		start(t, one, "m2", low)
		if _, err := one.Cancel(t.Context(), &contractv1.CancelRequest{MissionId: "m2"}); err != nil {
			t.Error(err)
		}
		if ack := start(t, another, "m3", `{"x_cm":18,"y_cm":-5,"z_cm":12}`); !ack.GetAccepted() {
			t.Errorf("right after a start that waited was cancelled: %v", ack)
		}
		ends(t, another, "m3")
		synctest.Wait()       // its lease is given back
		broken.stale.Store(1) // one that waits for nobody keeps no lease
		start(t, one, "m4", low)
		if ack := start(t, another, "m5", `{"x_cm":20,"y_cm":5,"z_cm":15}`); !ack.GetAccepted() {
			t.Errorf("after a start that was refused for a stale reading: %v", ack)
		}
		ends(t, another, "m5")
	})
}
