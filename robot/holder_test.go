package robot_test

import (
	"strings"
	"testing"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot/operator"
)

// whatIsBusy are the calls that are refused while the robot is another's, or moves.
var whatIsBusy = map[string]func(*rig) ([]*contractv1.Rejection, error){
	"AcquireLease": func(r *rig) ([]*contractv1.Rejection, error) {
		reply, err := caller{r.client, "eve"}.AcquireLease(r.t.Context(), &contractv1.AcquireLeaseRequest{Resource: "arm", Holder: "eve's brain"})
		return reply.GetRejections(), err
	},
	"OpenTask": func(r *rig) ([]*contractv1.Rejection, error) {
		task, err := caller{r.client, "eve"}.OpenTask(r.t.Context(), &contractv1.OpenTaskRequest{Words: "mine", Provenance: "person"})
		return task.GetRefusals(), err
	},
	"Start": func(r *rig) ([]*contractv1.Rejection, error) {
		ack, err := caller{r.client, "eve"}.Start(r.t.Context(), request("m2", "home", "{}", ""))
		return ack.GetRejections(), err
	},
	"Start again, by the holder": func(r *rig) ([]*contractv1.Rejection, error) {
		return r.start(request("m3", "home", "{}", "")).GetRejections(), nil
	},
}

// hold is who has the robot, and how.
type hold struct {
	leased, moves, taken bool
	want                 string // who is named
}

// TestBusyNamesTheHolder: whatever is BUSY names who holds the robot, also while that moves it, and the mission beside it;
// what moves without a lease is held by its mission, and what a person took by the person.
//
// Verifies: T67
func TestBusyNamesTheHolder(t *testing.T) {
	for name, h := range map[string]hold{
		"a lease":                        {leased: true, want: `"ada's brain"`},
		"a mission under a lease":        {leased: true, moves: true, want: `"ada's brain"`},
		"a mission without one":          {moves: true, want: `"m1"`},
		"a person":                       {taken: true, want: `"bob"`},
		"a person, over a lease":         {leased: true, taken: true, want: `"bob"`},
		"a person, while it still halts": {leased: true, moves: true, taken: true, want: `"bob"`},
	} {
		for call, f := range whatIsBusy {
			if h.taken && !h.moves && call == "OpenTask" { // a task holds nothing, and a person may be asked about it
				continue
			}
			t.Run(name+" "+call, func(t *testing.T) {
				run(t, set{desk: operator.NewDesk(operator.Config{})}, func(t *testing.T, r *rig) {
					rs := r.whileHeld(h, f)
					if len(rs) == 0 {
						t.Fatal("it passed")
					}
					for _, x := range rs {
						if x.GetCode() != string(reject.Busy) || x.GetGot() != h.want {
							t.Errorf("%v, want BUSY by %s", x, h.want)
						}
					}
					if h.moves && !h.taken && !strings.Contains(rs[0].GetSays(), `"m1"`) {
						t.Errorf("the mission is not named: %v", rs[0])
					}
				})
			})
		}
	}
}

// whileHeld brings the robot into the situation and returns what the call is refused with.
func (r *rig) whileHeld(h hold, call func(*rig) ([]*contractv1.Rejection, error)) []*contractv1.Rejection {
	r.t.Helper()
	q := request("m1", "move_to", slowly, "")
	if h.leased {
		q.Lease = r.lease("ada's brain")
	}
	resume, again := func() {}, func() {}
	if h.moves {
		resume, again = r.pauseAfter(10), r.pauseAfter(11)
		if ack := r.start(q); !ack.GetAccepted() {
			r.t.Fatal(ack)
		}
	}
	if h.taken {
		took := later(func() error {
			_, err := r.robot.Person().Take(r.t.Context(), &contractv1.TakeRequest{By: "bob"})
			return err
		})
		resume()
		check(r.t, <-took)
	}
	answer := later(func() []*contractv1.Rejection {
		rs, err := call(r)
		check(r.t, err)
		return rs
	})
	resume()
	again()
	return <-answer
}
