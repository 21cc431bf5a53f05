package drills_test

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
	"interlock/transport/connect"
	"interlock/units"
)

// ropes is a line with something in its middle that can hold up what goes in either direction, or be slow. What is held up is
// not lost: it comes when the line is good again, as it does with TCP.
type ropes struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	held  [2]bool // what goes to the server, what comes from it
	delay time.Duration
	good  *sync.Cond
	conns []net.Conn
	over  bool
	all   sync.WaitGroup
}

const (
	toServer = 0
	toClient = 1
)

// rope opens one in front of a socket of the home's.
func (h home) rope(t testing.TB, name string) *ropes {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(string(h), name+".rope"))
	if err != nil {
		t.Fatal(err)
	}
	r := &ropes{listener: l, to: filepath.Join(string(h), name)}
	r.good = sync.NewCond(&r.mu)
	r.all.Go(r.serve)
	t.Cleanup(func() {
		_ = l.Close()
		r.cut(true)
		r.all.Wait()
	})
	return r
}

func (r *ropes) addr() string { return "unix:" + r.listener.Addr().String() }

func (r *ropes) serve() {
	for {
		near, err := r.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("unix", r.to)
		if err != nil {
			_ = near.Close()
			continue
		}
		r.mu.Lock()
		r.conns = append(r.conns, near, far)
		r.mu.Unlock()
		r.carry(toServer, near, far)
		r.carry(toClient, far, near)
	}
}

// carry takes what one end sends to the other, until either ends.
func (r *ropes) carry(direction int, from, to net.Conn) {
	type piece struct {
		text []byte
		came time.Time
	}
	pieces := make(chan piece, 1024)
	r.all.Go(func() {
		defer close(pieces)
		for {
			text := make([]byte, 16<<10)
			n, err := from.Read(text)
			if err != nil {
				return
			}
			pieces <- piece{text[:n], time.Now()}
		}
	})
	r.all.Go(func() {
		defer func() { _ = to.Close() }()
		for p := range pieces {
			time.Sleep(time.Until(p.came.Add(r.passes(direction))))
			if _, err := to.Write(p.text); err != nil {
				_ = from.Close()
			}
		}
	})
}

// passes waits until the direction is good, and returns how slow it is.
func (r *ropes) passes(direction int) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.held[direction] && !r.over {
		r.good.Wait()
	}
	return r.delay
}

// set holds up directions, or lets go of them, and makes the line so slow.
func (r *ropes) set(server, client bool, delay time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held, r.delay = [2]bool{server, client}, delay
	r.good.Broadcast()
}

// cut ends every connection; over: for good.
func (r *ropes) cut(over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		_ = c.Close()
	}
	r.conns, r.over = nil, over
	r.good.Broadcast()
}

// flap holds the line up and lets it go, for so long each, until it is told to end.
func (r *ropes) flap(each time.Duration) (end func()) {
	stop := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		for held := true; ; held = !held {
			r.set(held, held, 0)
			select {
			case <-time.After(each):
			case <-stop:
				r.set(false, false, 0)
				return
			}
		}
	})
	return sync.OnceFunc(func() { close(stop); ended.Wait() })
}

func dialed(t testing.TB, addr string) transport.Client {
	t.Helper()
	c, closer, err := connect.Dial(addr, connect.DialOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = closer.Close() })
	return c
}

// followed reads a mission's events to its end from another goroutine, and asks that none is missing.
func followed(t testing.TB, c transport.Client, mission string) (end func() *contractv1.Event) {
	ends := make(chan *contractv1.Event, 1)
	go func() {
		var last *contractv1.Event
		next := uint64(1)
		for e, err := range c.Events(t.Context(), &contractv1.EventsRequest{MissionId: mission, FromSeq: 1}) {
			if err != nil || e.GetSeq() != next {
				t.Errorf("event %d of %s: %v, %v", next, mission, e, err)
				break
			}
			last = e
			next++
		}
		ends <- last
	}()
	return func() *contractv1.Event { return <-ends }
}

// A line between brain and robot that is open in one direction only, or in none: the brain counts as gone, its lease lapses, and
// the arm stands. When the line is good again nothing goes on by itself, and who followed the mission has every event of it.
//
// Verifies: F03, F08, P06, U141
func TestHalfOpenLine(t *testing.T) {
	t.Parallel()
	for name, held := range map[string][2]bool{
		"nothing reaches the robot": {true, false}, "nothing reaches the brain": {false, true}, "nothing reaches either": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLane(t, 0, true)
			l.serve(t)
			c := l.call(t)
			ready(t, c)
			line := l.rope(t, "robot")
			brain := start(t, l.self(t, brainEnv+"="+line.addr()))
			var mission string
			waitFor(t, "a mission that moves the arm", func() bool {
				l.opened()
				if moves, _ := l.w.moves(); !moves {
					return false
				}
				var err error
				mission, err = running(t, c)
				return err == nil && mission != ""
			})
			end := followed(t, dialed(t, line.addr()), mission)
			l.late.begin()
			before := l.w.look()
			line.set(held[toServer], held[toClient], 0)
			after := l.w.look()
			took, bound := l.w.untilStill(before), lapsed
			if !held[toServer] {
				bound += units.LeaseRenew // the brain renews once more before it misses the answer
			}
			l.w.within(took-after.at.Sub(before.at), bound, l.late, "a line that is held up")
			tell(t, "%s: standstill after %v", name, took)
			if e := last(t, c, mission); e.GetKind() != contractv1.EventKind_INTERRUPTED && e.GetKind() != contractv1.EventKind_VERIFIED && !wasSpoiled(e) {
				t.Errorf("the mission ended %v: %s", e.GetKind(), e.GetReason())
			}
			l.opened()
			if held[toServer] && held[toClient] {
				line.cut(false) // who follows must come again
			}
			line.set(false, false, 0)
			l.w.still(2*stillFor, "the line is good again")
			if e := end(); e == nil || !e.GetFinal() {
				t.Errorf("over the line the mission's last event is %v", e)
			}
			if says := brain.untilOne(string(reject.NoLease), string(reject.Stopped), "the end of"); !strings.Contains(says, string(reject.NoLease)) {
				t.Logf("the brain says %q, and on its standard error: %s", says, brain.errors)
			}
		})
	}
}

// A line between robot and driver that comes and goes ten times a second, or more slowly than the silence: a motion goes on or
// ends once, it is stopped at most once, and whatever ended does not begin again by itself. Once the line is good, and a
// person has permitted it, a new mission is carried out.
//
// Verifies: F09, F11, U142
func TestFlappingLine(t *testing.T) {
	t.Parallel()
	for _, each := range []time.Duration{50 * time.Millisecond, 400 * time.Millisecond} {
		t.Run(each.String(), func(t *testing.T) {
			t.Parallel()
			l := newLane(t, 0, true)
			line := l.rope(t, "driver")
			l.serveFile(t, contractFile, "--driver", line.addr(), "--operator", l.socket("operator"), "--listen", l.socket("robot"))
			c := l.call(t)
			ready(t, c)
			carry(t, c, "there", toLeft)
			mission, tries := "flapped", 0
			for ; !accepted(t, c, mission, toRight); mission = again("flapped", tries) {
				permitted(t)
				if tries++; tries == busyTries {
					t.Fatal("no mission is accepted")
				}
			}
			stops := state(t, l.person).Number
			l.late.begin()
			end := line.flap(each)
			defer end()
			e := last(t, c, mission)
			l.w.untilStill(l.w.look())
			l.w.still(10*each+stillFor, "a mission on a flapping line has ended") // the line goes on to flap
			switch now := state(t, l.person); {
			case now.Number > stops+1 && l.late.most() < each/4: // else a stop's answer may have been late, and it was made again
				t.Errorf("one episode of a flapping line was %d stops", now.Number-stops)
			case now.Stopped && e.GetKind() == contractv1.EventKind_VERIFIED:
				t.Logf("after its mission the driver was stopped: %s", now.Reason)
			}
			tell(t, "a line that is held up every %v: the mission ended %v %s", each, e.GetKind(), e.GetReason())
			end()
			ready(t, c)
			l.opened()
			carry(t, c, "new", toLeft)
		})
	}
}

// A line between robot and driver that becomes half a second slow in the middle of a motion: what comes so late has expired, the
// driver holds, and nothing of it moves the arm again.
//
// Verifies: F12, P08, U143
func TestSlowLine(t *testing.T) {
	t.Parallel()
	l := newLane(t, 0, true)
	line := l.rope(t, "driver")
	l.serveFile(t, contractFile, "--driver", line.addr(), "--operator", l.socket("operator"), "--listen", l.socket("robot"))
	c := l.call(t)
	ready(t, c)
	carry(t, c, "there", toLeft)
	mission := carrySlowly(t, c, l.w, "slow")
	l.w.standsAfter("the line became slow", standstill, func() { line.set(false, false, 500*time.Millisecond) })
	l.w.still(time.Second, "a line that is slow")
	line.set(false, false, 0)
	if e := last(t, c, mission); e.GetKind() != contractv1.EventKind_ABORTED && !wasSpoiled(e) {
		t.Errorf("the mission ended %v: %s", e.GetKind(), e.GetReason())
	}
	l.w.still(stillFor, "the line is good again")
	ready(t, c)
	l.opened()
	carry(t, c, "new", toLeft)
}

// A machine whose processes all sleep for a while in the middle of a mission, as one that is paused: what was commanded before
// has expired when they wake, and moves nothing.
//
// Verifies: F21, D04, U144
func TestEverybodySleeps(t *testing.T) {
	t.Parallel()
	l := newLane(t, 0, false)
	robot, mission := l.served()
	c := l.call(t)
	all := []*process{robot, l.driver, l.plantProcess}
	for _, p := range all {
		p.signal(syscall.SIGSTOP)
	}
	time.Sleep(time.Duration(scaled(t, 1, 5)) * time.Second)
	for _, p := range []*process{l.plantProcess, l.driver, robot} {
		p.signal(syscall.SIGCONT)
	}
	before := l.w.look()
	l.w.untilStill(before)
	e := last(t, c, mission)
	moved := l.w.look().tip.Distance(before.tip)
	tell(t, "after a sleep of all the mission ended %v %s, and the tip had moved by %.1f mm", e.GetKind(), e.GetReason(), moved*1000)
	if e.GetKind() != contractv1.EventKind_VERIFIED && moved > 5*movingM {
		t.Errorf("the tip moved by %v m, and the mission ended %v: %s", moved, e.GetKind(), e.GetReason())
	}
	ready(t, c)
	l.opened()
	carry(t, c, "new", toLeft)
}

// raced lets many brains ask for the arm at once. It returns who got it and what each was told; an owner of nil: this one caller
// had asked too often, or the machine was so slow that a lease may have lapsed meanwhile.
func raced(t testing.TB, c transport.Client, brains int) (owner *contractv1.Lease, replies []*contractv1.LeaseReply) {
	t.Helper()
	replies = make([]*contractv1.LeaseReply, brains)
	var all sync.WaitGroup
	begun := time.Now()
	for i := range brains {
		all.Go(func() {
			r, err := c.AcquireLease(t.Context(), &contractv1.AcquireLeaseRequest{Resource: "arm", Holder: fmt.Sprint("brain-", i)})
			if err != nil {
				t.Error(err)
			}
			replies[i] = r
		})
	}
	all.Wait()
	slow := time.Since(begun) > units.LeaseTTL/2
	for _, r := range replies {
		if l := r.GetLease(); l != nil && owner != nil && !slow {
			t.Fatalf("%s and %s hold the arm", owner.GetHolder(), l.GetHolder())
		} else if l != nil {
			owner = l
		}
	}
	if owner != nil && slow {
		_, err := c.ReleaseLease(t.Context(), &contractv1.ReleaseLeaseRequest{Lease: owner})
		check(t, err)
		return nil, replies
	}
	return owner, replies
}

// Many brains ask for the arm at once: one gets it, all the others are told who holds it and when to come again, and none of
// them moves it.
//
// Verifies: F18, P09, U145
func TestOneOwnerOfManyBrains(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.driver(t)
	h.serve(t)
	c := h.call(t)
	ready(t, c)
	const brains = 16
	told := 0
	for rounds := scaled(t, 3, 50); rounds > 0 && !t.Failed(); {
		owner, replies := raced(t, c, brains)
		if owner == nil {
			time.Sleep(250 * time.Millisecond)
			continue
		}
		rounds--
		for i, r := range replies {
			no := r.GetRejections()
			switch {
			case len(no) == 0 || no[0].GetCode() == string(reject.Overloaded):
			case no[0].GetCode() != string(reject.Busy) || no[0].GetGot() != fmt.Sprintf("%q", owner.GetHolder()) || no[0].GetAfterMs() <= 0:
				t.Errorf("brain %d is told %v; %s holds the arm", i, no, owner.GetHolder())
			default:
				told++
			}
		}
		for name, wrong := range map[string]*contractv1.Lease{
			"none": nil, "an older epoch": {Resource: "arm", Holder: owner.GetHolder(), Epoch: owner.GetEpoch() - 1}, "a newer epoch": {Resource: "arm", Holder: "me", Epoch: owner.GetEpoch() + 1},
		} {
			kept, err := c.RenewLease(t.Context(), &contractv1.RenewLeaseRequest{Lease: owner})
			if check(t, err); len(kept.GetRejections()) > 0 { // the machine is slow
				break
			}
			owner = kept.GetLease()
			ack, err := c.Start(t.Context(), &contractv1.StartRequest{MissionId: "m", Capability: startOf, ArgsJson: []byte(toLeft), Lease: wrong})
			check(t, err)
			code := reject.Code("")
			if no := ack.GetRejections(); len(no) > 0 {
				code = reject.Code(no[0].GetCode())
			}
			if code != reject.NoLease && code != reject.Busy && code != reject.Overloaded && code != reject.StaleFact {
				t.Errorf("with %s a start is answered by %v", name, ack)
			}
		}
		_, err := c.ReleaseLease(t.Context(), &contractv1.ReleaseLeaseRequest{Lease: owner})
		check(t, err)
	}
	if told == 0 {
		t.Error("nobody was told who holds the arm")
	}
}
