package robot_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"interlock/body"
	"interlock/body/guard"
	contractv1 "interlock/contract/v1"
	"interlock/robot"
	"interlock/robot/audit"
)

// counted is a body whose calls are counted, of which one goes wrong.
type counted struct {
	*guard.Guard
	fatal int    // number of the call that goes wrong; 0: none
	wrong string // how: one of wrongs
	died  func() // called as the robot dies

	mu    sync.Mutex
	calls []string
	over  bool // the robot has died: nothing of it reaches the body any more
}

// wrongs are the ways in which a call can go wrong: the robot's process dies before it or after it, or its answer is an error,
// and the body did nothing or did it.
var wrongs = []string{"dies before", "dies after", "fails", "fails after"}

// call makes one call of the body, or lets it go wrong.
func (c *counted) call(name string, does func() error) error {
	c.mu.Lock()
	c.calls = append(c.calls, name)
	now := len(c.calls) == c.fatal
	wrong := c.wrong
	if c.over {
		c.mu.Unlock()
		return errDied
	}
	dies := now && (wrong == "dies before" || wrong == "dies after")
	c.over = dies
	c.mu.Unlock()
	if !now {
		return does()
	}
	err := errTest
	if wrong == "dies after" || wrong == "fails after" {
		err = errors.Join(err, does())
	}
	if dies {
		c.died()
		runtime.Goexit() // the loop ends here, as if its process had been killed
	}
	return err
}

func (c *counted) Open() error { return c.call("Open", c.Guard.Open) }

func (c *counted) Send(s body.Setpoint) (sent body.Sent, err error) {
	err = c.call("Send", func() (err error) { sent, err = c.Guard.Send(s); return err })
	return sent, err
}

func (c *counted) Halt() error { return c.call("Halt", c.Guard.Halt) }

func (c *counted) Observe() (o body.Observation, err error) {
	err = c.call("Observe", func() (err error) { o, err = c.Guard.Observe(); return err })
	return o, err
}

func (c *counted) Close() error { return c.call("Close", c.Guard.Close) }

func (c *counted) Stop(reason string) (number uint64) {
	_ = c.call("Stop", func() error { number = c.Guard.Stop(reason); return nil })
	return number
}

// Advance is how a body whose time is moved by the robot gets its tick.
func (c *counted) Advance(d time.Duration) error {
	return c.call("Advance", func() error { return c.Guard.Advance(d) })
}

// paced moves the time of the body that the robot holds.
type paced struct{ body *counted }

// Tick implements robot.Pacer.
func (p paced) Tick(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return robot.Lockstep(p.body).Tick(ctx)
}

// day is what the callers of a robot were told on the day of which a call went wrong.
type day struct {
	acks map[string]*contractv1.MissionAck // of starts that were answered
	told map[string][]*contractv1.Event
}

// dayOf plays a day: a motion, and a task with one that is cancelled on its way. Whatever goes wrong, the callers go on.
func dayOf(r *rig) day {
	d := day{map[string]*contractv1.MissionAck{}, map[string][]*contractv1.Event{}}
	ctx := r.t.Context()
	start := func(id, args, task string) {
		if ack, err := r.client.Start(ctx, request(id, "move_to", args, task)); err == nil {
			d.acks[id] = ack
		}
	}
	follow := func(id string) (events []*contractv1.Event) {
		for e, err := range r.client.Events(ctx, &contractv1.EventsRequest{MissionId: id}) {
			if err == nil {
				events = append(events, e)
			}
		}
		return events
	}
	start("m1", moveTo(20, 0, 14.8), "")
	d.told["m1"] = follow("m1")
	task, err := r.client.OpenTask(ctx, &contractv1.OpenTaskRequest{Words: "go", Provenance: "person"})
	if err != nil {
		task = &contractv1.Task{}
	}
	first, resume := r.pauseAfter(1), r.pauseAfter(6)
	start("m2", moveTo(20, 0, 15), task.GetTaskId())
	followed := later(func() []*contractv1.Event { return follow("m2") })
	first()
	cancelled := later(func() *contractv1.CancelAck {
		ack, _ := r.client.Cancel(ctx, &contractv1.CancelRequest{MissionId: "m2"}) // a robot that died has no answer
		return ack
	})
	resume()
	<-cancelled
	d.told["m2"] = <-followed
	_, _ = r.client.Claim(ctx, &contractv1.ClaimRequest{TaskId: task.GetTaskId(), Claim: &contractv1.Claim{Reported: true}})
	return d
}

// spoiled plays the day of a robot of which the call goes wrong, and ends the robot. left is what the next one finds: where this
// one died, its disk as it was then.
func spoiled(t *testing.T, fatal int, wrong string) (left *disk, told day, calls []string, sent int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		left = d
		log, past, err := audit.Open("record", audit.Options{Disk: d})
		check(t, err)
		k := &kept{Log: log}
		var c *counted
		s := set{journal: k, past: past, body: func(g *guard.Guard) robot.Body {
			c = &counted{Guard: g, fatal: fatal, wrong: wrong, died: func() { k.die(); left = d.copied() }}
			return c
		}}
		r := newRig(t, s)
		r.pacer.inner = paced{c}
		told = dayOf(r)
		_ = r.close()
		check(t, log.Close())
		calls, sent = c.calls, r.sent()
	})
	return left, told, calls, sent
}

// TestWrongAtEveryCall: whichever call of the robot to its body goes wrong, and however, the robot that begins on the record
// moves nothing by itself, takes no start for a new one that may have moved, tells every mission's end, and tells what was told
// under the same number.
//
// Verifies: P20, F04, K143
func TestWrongAtEveryCall(t *testing.T) {
	_, _, calls, _ := spoiled(t, 0, "")
	kinds := map[string]int{}
	for _, name := range calls {
		kinds[name]++
	}
	for _, name := range []string{"Open", "Observe", "Send", "Advance", "Halt", "Close"} {
		if kinds[name] == 0 {
			t.Fatalf("the day has no %s: %v", name, kinds)
		}
	}
	stride := 1
	if testing.Short() {
		stride = 7
	}
	for _, wrong := range wrongs {
		t.Run(wrong, func(t *testing.T) {
			for k := 1; k <= len(calls) && !t.Failed(); k += stride {
				d, told, _, sent := spoiled(t, k, wrong)
				on(t, d, set{after: time.Second}, func(t *testing.T, r *rig, _ *kept) {
					if err := r.keeps(d, told, sent); err != nil {
						t.Errorf("call %d, %s: %v", k, calls[k-1], err)
					}
				})
			}
		})
	}
	t.Logf("%d calls: %v", len(calls), kinds)
}

// keeps holds a robot that begins on the record against what was told before, and to doing nothing.
func (r *rig) keeps(d *disk, before day, sent int) error {
	intents := map[string]bool{}
	for _, rec := range d.says(r.t) {
		if i := rec.GetIntent(); i != nil {
			intents[i.GetMissionId()] = true
		}
	}
	if sent > 0 && len(intents) == 0 {
		return fmt.Errorf("%d setpoints without an intent", sent)
	}
	for id, q := range map[string]*contractv1.StartRequest{
		"m1": request("m1", "move_to", moveTo(20, 0, 14.8), ""), "m2": request("m2", "move_to", moveTo(20, 0, 15), "task-1"),
	} {
		told, accepted := before.told[id], before.acks[id].GetAccepted()
		if !intents[id] {
			if len(told) > 0 || accepted {
				return fmt.Errorf("%s was told %v and is not on record", id, told)
			}
			continue
		}
		if !accepted && before.acks[id] != nil { // its intent was taken back
			continue
		}
		if ack := r.start(q); !ack.GetDuplicate() {
			return fmt.Errorf("the start of %s again: %v", id, ack)
		}
		after := r.events(id)
		for i, e := range told {
			if i >= len(after) || !proto.Equal(e, after[i]) {
				return fmt.Errorf("%s was told %v, and after the restart %v", id, told, after)
			}
		}
		if n := len(after); n == 0 || !after[n-1].GetFinal() {
			return fmt.Errorf("%s has no end: %v", id, after)
		}
	}
	if r.sent() > 0 || r.ticks() > 0 {
		return fmt.Errorf("%d setpoints and %d ticks", r.sent(), r.ticks())
	}
	return nil
}
