package drills_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"interlock/body"
	"interlock/body/remote"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
	"interlock/units"
)

// lanes is in how many homes a drill kills at once.
const lanes = 3

// inShort spares a plant of its own where a drill leaves the driver alone: it takes as much of the machine as all the rest.
// At length every drill has one.
func inShort() bool { return os.Getenv("INTERLOCK_DRILLS") == "" }

// lane is a home with a plant, a driver, and who looks at them.
type lane struct {
	home
	t      *testing.T
	w      *watcher
	late   *lateness
	driver *process
	person *remote.Operator
	n      int // of the lane

	plantProcess *process
}

// newLane starts them. With the plant inside the driver is the one that tells the truth.
func newLane(t *testing.T, n int, inside bool) *lane {
	t.Helper()
	h := newHome(t)
	l := &lane{home: h, t: t, n: n, late: feelLateness(t)}
	if inside {
		l.driver = h.driver(t, "--lab-socket", h.socket("lab"))
	} else {
		l.plantProcess = h.plant(t)
		l.driver = h.driver(t, "--plant", h.socket("plant"))
	}
	l.w = watch(t, h)
	l.person = operate(t, h)
	return l
}

// toll is what the kills of a drill came to.
type toll struct {
	mu        sync.Mutex
	took      map[string][]time.Duration
	moving, n int
	spoiled   int // kills that were made again
}

func (l *toll) add(how string, took time.Duration, moving bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took[how] = append(l.took[how], took)
	l.n++
	if moving {
		l.moving++
	}
}

func (l *toll) spoil() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spoiled++
	return l.spoiled
}

// mostSpoiled is how many of n kills a busy machine may spoil.
func mostSpoiled(n int) int { return max(5, n/10) }

// drillKills makes n kills, in some lanes at once, and tells what they came to. One that something else spoiled, as a robot
// that a busy machine let wait too long for its driver, is made again; that these stay few is asked too, else a fault could
// hide there. At least 80 in 100 must come while the arm moves, else the drill has shown little.
func drillKills(t *testing.T, who string, n int, inside bool, one func(l *lane, i int, all *toll) (spoiled string), ready func(l *lane)) {
	t.Helper()
	all := &toll{took: map[string][]time.Duration{}}
	var next atomic.Int64
	t.Run("lanes", func(t *testing.T) {
		for k := range min(lanes, n) {
			t.Run(fmt.Sprint(k), func(t *testing.T) {
				t.Parallel()
				l := newLane(t, k, inside)
				ready(l)
				for i := int(next.Add(1)) - 1; i < n && !t.Failed(); i = int(next.Add(1)) - 1 {
					for {
						spoiled := one(l, i, all)
						if spoiled == "" || t.Failed() {
							break
						}
						t.Logf("kill %d is made again: %s", i, spoiled)
						if all.spoil() > mostSpoiled(n) {
							t.Fatalf("more than %d of %d kills are spoiled", mostSpoiled(n), n)
						}
					}
				}
			})
		}
	})
	for how, took := range all.took {
		tell(t, "%s, %s: standstill after %s", who, how, spread(took))
	}
	tell(t, "%s: %d of %d kills while the arm moved; %d were made again", who, all.moving, all.n, all.spoiled)
	if !t.Failed() && all.moving*10 < all.n*8 {
		t.Errorf("only %d of %d kills came while the arm moved", all.moving, all.n)
	}
}

// signals are how a process is put out of action, in turn.
func signals(i int) (syscall.Signal, string) {
	if i%2 == 0 {
		return syscall.SIGKILL, "kill -9"
	}
	return syscall.SIGSTOP, "SIGSTOP"
}

// strike puts the process out of action at a random moment and measures the standstill by the plant's truth. What is told
// counts from the look before the signal, what is bounded from the one after it: between them the machine may have let
// anybody wait.
func (l *lane) strike(p *process, how syscall.Signal, bound time.Duration, then func()) (took time.Duration, moving bool) {
	l.t.Helper()
	time.Sleep(rand.N(600 * time.Millisecond))
	l.late.begin()
	moving, before := l.w.moves()
	p.signal(how)
	after := l.w.look()
	if then != nil {
		then()
	}
	took = l.w.untilStill(before)
	l.w.within(took-after.at.Sub(before.at), bound, l.late, fmt.Sprintf("%v of %s", how, p.cmd.Args[0]))
	return took, moving
}

// unheld waits until nobody holds the driver's lease.
func (l *lane) unheld() {
	l.t.Helper()
	waitFor(l.t, "the lease to lapse", func() bool {
		_, holder, err := l.person.State(l.t.Context())
		return err == nil && holder == ""
	})
}

// opened resets the latch, if it is closed.
func (l *lane) opened() {
	l.t.Helper()
	unlatch(l.t, l.person)
}

// swinging starts a robot that swings the arm, and another if that one died before it did.
func (l *lane) swinging(more ...string) *process {
	l.t.Helper()
	for range 5 {
		robot := l.robot(l.t, more...)
		if _, ok := l.w.movesWithin(10 * time.Second); ok {
			return robot
		}
		l.t.Logf("a robot moves nothing and says %s", robot.errors)
		robot.kill()
		l.opened()
	}
	l.t.Fatal("the arm does not move")
	return nil
}

var missionNumber atomic.Int64

// carrying makes the robot carry the arm to its far side, slowly, and returns the mission once it moves. One that a busy
// machine ended is tried anew; one that is refused, as by a robot that lost its driver, as often as it takes.
func (l *lane) carrying(c transport.Client) (id string) {
	l.t.Helper()
	tries := 0
	waitFor(l.t, "a mission that moves the arm", func() bool {
		id = fmt.Sprintf("drill-%d", missionNumber.Add(1))
		side := -14
		if l.w.tip()[1] < 0 {
			side = 14
		}
		ack := begin(l.t, c, id, fmt.Sprintf(`{"x_cm": 20, "y_cm": %d, "z_cm": 15, "speed_mps": 0.15}`, side))
		if ack.GetAccepted() {
			if _, ok := l.w.movesWithin(5 * time.Second); ok {
				return true
			}
			if tries++; tries == 10 {
				l.t.Fatal("no mission moves the arm")
			}
		}
		l.t.Logf("mission %s moves nothing: %v", id, ack)
		l.opened()
		return false
	})
	return id
}

// A robot that is killed or frozen while the arm moves: the driver's own watchdog brings it to a standstill, of a robot that
// sends long lines as of one that carries out a mission. One that is thawed is refused by its epoch, and moves nothing.
//
// Verifies: P06, P07, D01, F04, F05, F09
func TestRobotDiesWhileTheArmMoves(t *testing.T) {
	t.Parallel()
	drillKills(t, "robot", kills(t, 20), inShort(), func(l *lane, i int, all *toll) (spoiled string) {
		l.opened()
		how, word := signals(i / 2)
		var robot *process
		kind := "long lines"
		if i%2 == 0 {
			robot = l.swinging()
		} else {
			kind = "a mission"
			robot = l.serve(l.t)
			c := l.call(l.t)
			ready(l.t, c)
			l.carrying(c)
		}
		took, moving := l.strike(robot, how, held, nil)
		all.add(word+" in "+kind, took, moving)
		if how == syscall.SIGSTOP {
			l.unheld()
			robot.signal(syscall.SIGCONT)
			l.w.still(300*time.Millisecond, "a robot whose lease lapsed while it was frozen was thawed")
		}
		robot.kill()
		return ""
	}, func(*lane) {})
}

// A driver that is killed or frozen while the arm moves: the servos keep their last goal. Started anew it comes up stopped,
// the robot's setpoints are refused, and a reset of that number, of no other, starts nothing. One that is thawed in the
// middle of a motion that it owed resumes nothing.
//
// Verifies: D02, D03, D04, F06, F07
func TestDriverDiesWhileTheArmMoves(t *testing.T) {
	t.Parallel()
	drillKills(t, "driver", kills(t, 20), false, func(l *lane, i int, all *toll) (spoiled string) {
		how, word := signals(i)
		robot := l.swinging(shortEnv + "=yes") // what it had under way when the driver slept has expired then
		var frozen time.Time                   // at the latest
		took, moving := l.strike(l.driver, how, settle, func() { frozen = time.Now() })
		all.add(word, took, moving)
		if how == syscall.SIGSTOP {
			robot.kill()
			asleep := units.Silence + units.Silence/10 + rand.N(units.Silence) // through the silence, and its ramp or not
			time.Sleep(time.Until(frozen.Add(asleep)))                         // on the driver's own clock: a plant that is late may run ahead
			l.driver.signal(syscall.SIGCONT)
			l.w.still(300*time.Millisecond, "the driver was thawed")
			l.opened()
			return ""
		}
		l.driver.kill()
		before := l.w.look()
		l.driver = l.home.driver(l.t, "--plant", l.socket("plant"))
		if says := l.driver.line(); !strings.Contains(says, "stopped") {
			l.t.Errorf("a driver that died in a motion comes up with %q", says)
		}
		robot.kill()
		refusedAll(l)
		if d := l.w.after(before, 300*time.Millisecond).tip.Distance(before.tip); d > movingM {
			l.t.Errorf("restart, a refused robot and a reset moved the tip by %v m", d)
		}
		return ""
	}, func(*lane) {})
}

// refusedAll asks of a driver that came up stopped that it refuses setpoints and the reset of another number; then it is
// reset.
func refusedAll(l *lane) {
	l.t.Helper()
	number := state(l.t, l.person).Number
	if err := l.person.Reset(l.t.Context(), number+1); !rejected(err, reject.Conflict) {
		l.t.Errorf("a reset of another number was answered by %v", err)
	}
	d := l.opens("another")
	defer func() { _ = d.Close() }()
	for _, knows := range []uint64{0, number - 1, number} {
		if err := answerTo(l.t, d, knows); !rejected(err, reject.Stopped) {
			l.t.Errorf("a setpoint under stop %d was answered by %v", knows, err)
		}
	}
	if err := l.person.Reset(l.t.Context(), number); err != nil {
		l.t.Error(err)
	}
}

// opensOn is a robot's line to the home's driver, once its lease can be had.
func (h home) opensOn(t testing.TB, holder string) *remote.Driver {
	t.Helper()
	var d *remote.Driver
	waitFor(t, "the driver", func() (ok bool) {
		var err error
		if d, err = remote.Dial(t.Context(), h.socket("driver"), remote.Options{Holder: holder, CallTimeout: 2 * time.Second}); err != nil {
			return false
		}
		if err = d.Open(); err != nil {
			_ = d.Close()
		}
		return err == nil
	})
	return d
}

func (l *lane) opens(holder string) *remote.Driver { l.t.Helper(); return l.opensOn(l.t, holder) }

// sendHome sends one setpoint that would turn the arm ahead.
func sendHome(d *remote.Driver, knows uint64) (body.Sent, error) {
	o, err := d.Observe()
	if err != nil {
		return body.Sent{}, err
	}
	p := body.Setpoint{PositionsRad: append([]float64(nil), o.GoalRad...), Over: time.Second, Expires: o.At.Add(body.Expiry), Stop: knows}
	p.PositionsRad[0] += 0.1
	if p.PositionsRad[0] > 0 {
		p.PositionsRad[0] -= 0.2
	}
	return d.Send(p)
}

// A brain that is killed or frozen while its mission moves the arm: its lease lapses, the mission ends interrupted, and the
// arm stands. One that is thawed finds its lease gone, and starts nothing by it.
//
// Verifies: F01, F02, F19, U101
func TestBrainDiesWhileTheArmMoves(t *testing.T) {
	t.Parallel()
	clients, n := make([]transport.Client, lanes), kills(t, 20)
	var interrupted atomic.Int64
	drillKills(t, "brain", n, inShort(), func(l *lane, i int, all *toll) (spoiled string) {
		how, word := signals(i)
		l.opened()
		c := clients[l.n]
		brain := l.thinking()
		defer brain.kill()
		orphan := ""
		var asked error
		took, moving := l.strike(brain, how, lapsed, func() { orphan, asked = running(l.t, c) })
		if asked != nil {
			return asked.Error()
		}
		if orphan != "" {
			switch e := last(l.t, c, orphan); {
			case e.GetKind() == contractv1.EventKind_INTERRUPTED && strings.HasPrefix(e.GetReason(), "lease_lost"):
				interrupted.Add(1)
			case e.GetKind() == contractv1.EventKind_VERIFIED || e.GetKind() == contractv1.EventKind_FAILED: // before the lease lapsed
			case wasSpoiled(e):
				return fmt.Sprint(e.GetKind(), " ", e.GetReason())
			default:
				l.t.Errorf("the mission of a brain that died ended %v: %s", e.GetKind(), e.GetReason())
			}
		} else if moving {
			return "the arm moved, and the robot names no mission" // it ended before the robot was asked
		}
		all.add(word, took, moving)
		if how == syscall.SIGSTOP {
			other, err := takeLease(l.t.Context(), c, "another")
			if err != nil {
				l.t.Fatal(err)
			}
			if _, err := c.ReleaseLease(l.t.Context(), &contractv1.ReleaseLeaseRequest{Lease: other}); err != nil {
				l.t.Error(err)
			}
			brain.signal(syscall.SIGCONT)
			refused := ""
			for range 50 {
				if refused = brain.untilOne(string(reject.NoLease), string(reject.Stopped)); !strings.Contains(refused, string(reject.Stopped)) {
					break
				}
				l.opened() // the robot is stopped as well
			}
			if !strings.Contains(refused, string(reject.NoLease)) {
				l.t.Errorf("a brain whose lease lapsed says %q", refused)
			}
			l.w.still(300*time.Millisecond, "a brain whose lease lapsed while it was frozen was thawed")
		}
		return ""
	}, func(l *lane) {
		l.serve(l.t)
		clients[l.n] = l.call(l.t)
		ready(l.t, clients[l.n])
	})
	if !t.Failed() && int(interrupted.Load())*2 < n {
		t.Errorf("only %d of %d missions were interrupted; the others ended before the lease lapsed", interrupted.Load(), n)
	}
}

// thinking starts a brain and returns it once its mission moves the arm.
func (l *lane) thinking() (brain *process) {
	l.t.Helper()
	for range 10 {
		brain = l.brain(l.t)
		if says := brain.untilOne("started", string(reject.Stopped)); strings.HasPrefix(says, "started") {
			if _, ok := l.w.movesWithin(10 * time.Second); ok {
				return brain
			}
		}
		l.t.Logf("the missions of a brain move nothing: the latch is %+v", state(l.t, l.person))
		brain.kill()
		l.opened() // a robot that found no standstill in time has stopped its driver
	}
	l.t.Fatal("no brain moves the arm")
	return nil
}

// running is the mission that runs now; empty: none.
func running(t testing.TB, c transport.Client) (string, error) {
	t.Helper()
	o, err := c.Observe(t.Context(), &contractv1.ObserveRequest{})
	return o.GetRunningMission(), err
}
