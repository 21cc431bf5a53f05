package main

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
)

// door stands before a robot and answers starts in its place: n counts them from 0 for each mission, and nil lets it through.
type door struct {
	transport.Client
	answer func(n int) (*contractv1.MissionAck, error)

	mu       sync.Mutex
	starts   map[string]int
	canceled []string
}

// Start implements transport.Client.
func (d *door) Start(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	d.mu.Lock()
	n := d.starts[q.GetMissionId()]
	d.starts[q.GetMissionId()]++
	d.mu.Unlock()
	if ack, err := d.answer(n); ack != nil || err != nil {
		return ack, err
	}
	return d.Client.Start(ctx, q)
}

// Cancel implements transport.Client.
func (d *door) Cancel(ctx context.Context, q *contractv1.CancelRequest) (*contractv1.CancelAck, error) {
	d.mu.Lock()
	d.canceled = append(d.canceled, q.GetMissionId())
	d.mu.Unlock()
	return d.Client.Cancel(ctx, q)
}

func (d *door) count() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, more := range d.starts {
		n += more
	}
	return n
}

// behind is a conversation whose robot is behind the door, with a brain that calls once and reports.
func behind(answer func(int) (*contractv1.MissionAck, error)) (chatFlags, *door) {
	d := &door{answer: answer, starts: map[string]int{}}
	f := with(&brain{says: []string{homeCall, reportCall}})
	f.through = func(c transport.Client) transport.Client { d.Client = c; return d }
	return f, d
}

func refusedBy(list ...reject.Rejection) (*contractv1.MissionAck, error) {
	ack := &contractv1.MissionAck{}
	for _, r := range list {
		ack.Rejections = append(ack.Rejections, &contractv1.Rejection{Code: string(r.Code), Rule: r.Rule, Field: r.Field, Retry: string(r.Retry), Says: r.Says})
	}
	return ack, nil
}

func retried(code reject.Code, rule string, retry reject.Retry) reject.Rejection {
	return reject.Rejection{Code: code, Rule: rule, Retry: retry, Says: "…"}
}

// A call that waits for a person outlasts what passes by itself, alone or beside the question, as an answer or as an error of
// the line; whatever does not pass ends the wait, and is the answer.
//
// Verifies: U128
func TestAWaitOutlastsWhatPasses(t *testing.T) {
	person := retried(reject.NeedsApproval, "low", reject.AfterOperator)
	stale, busy, shed := retried(reject.StaleFact, "", reject.Later), retried(reject.Busy, "", reject.Later), retried(reject.Overloaded, "", reject.Later)
	for name, c := range map[string]struct {
		then  func() (*contractv1.MissionAck, error)
		codes string // of the refusals that are told; empty: the mission is verified
	}{
		"a stale reading":         {func() (*contractv1.MissionAck, error) { return refusedBy(stale) }, ""},
		"busy and stale":          {func() (*contractv1.MissionAck, error) { return refusedBy(busy, stale) }, ""},
		"crowded, and a question": {func() (*contractv1.MissionAck, error) { return refusedBy(person, shed) }, ""},
		"shed by the line":        {func() (*contractv1.MissionAck, error) { return nil, reject.List{shed} }, ""},
		"a person's no": {func() (*contractv1.MissionAck, error) {
			return refusedBy(person, retried(reject.NeedsApproval, "approval_denied", reject.Later))
		}, "NEEDS_APPROVAL NEEDS_APPROVAL"},
		"stopped": {func() (*contractv1.MissionAck, error) {
			return refusedBy(retried(reject.Stopped, "", reject.AfterOperator))
		}, "STOPPED"},
		"stale and stopped": {func() (*contractv1.MissionAck, error) {
			return refusedBy(stale, retried(reject.Stopped, "", reject.AfterOperator))
		}, "STALE_FACT STOPPED"},
	} {
		t.Run(name, func(t *testing.T) {
			f, d := behind(func(n int) (*contractv1.MissionAck, error) {
				switch {
				case n == 0 || n == 12:
					return refusedBy(person)
				case n < 40:
					return c.then()
				}
				return nil, nil //nolint:nilnil // the robot itself answers
			})
			converse(t, f, func(k *talk) {
				k.say("go home\n")
				k.wait(time.Minute)
				k.want("refused", k.codes(), c.codes)
				want, starts := "verified", 41
				if c.codes != "" {
					want, starts = "", 2
				}
				k.want("missions", k.states(evMission), want)
				if waits := k.those(named(evWaits)); len(waits) != 1 || !strings.Contains(waits[0].Says, "interlock approve") || d.count() != starts {
					t.Errorf("told to wait: %+v, %d starts, want %d", waits, d.count(), starts)
				}
			})
		})
	}
}

// Where nobody decides, the wait ends before the request does at the robot, and the answer is the one that asked for a person.
// Nothing is asked any more after that.
//
// Verifies: U128
func TestAWaitEndsBeforeTheRequestDoes(t *testing.T) {
	f, d := behind(func(n int) (*contractv1.MissionAck, error) {
		if n%2 == 1 {
			return refusedBy(retried(reject.StaleFact, "", reject.Later))
		}
		return refusedBy(retried(reject.NotLicensed, "", reject.AfterOperator))
	})
	converse(t, f, func(k *talk) {
		k.say("go home\n")
		k.wait(allowWithin - time.Second)
		k.want("refused too early", k.codes(), "")
		k.wait(2 * time.Second)
		k.want("refused", k.codes(), "NOT_LICENSED")
		starts := d.count()
		k.wait(time.Minute)
		if d.count() != starts || allowWithin >= 5*time.Minute {
			t.Errorf("%d starts, and %d a minute later; it waits %v, and the robot 5 minutes", starts, d.count(), allowWithin)
		}
	})
}

// "never mind" and a stop end a wait at once: the call is not made again, what waits is cancelled at the robot, and the next
// request is carried out.
//
// Verifies: U130
func TestNeverMindEndsAWait(t *testing.T) {
	for _, words := range []string{"never mind", "stop"} {
		t.Run(words, func(t *testing.T) {
			var over atomic.Bool
			f, d := behind(func(int) (*contractv1.MissionAck, error) {
				if over.Load() {
					return nil, nil //nolint:nilnil // the robot itself answers
				}
				return refusedBy(retried(reject.NeedsApproval, "low", reject.AfterOperator))
			})
			f.provider = &brain{says: []string{homeCall, homeCall, reportCall}}
			converse(t, f, func(k *talk) {
				k.say("go home\n")
				k.wait(10 * time.Second)
				starts := d.count()
				k.say(words + "\n")
				k.wait(time.Second)
				verdicts := k.those(named(evVerdict))
				if len(verdicts) != 1 || starts < 10 || len(k.those(named(evMission))) > 0 || k.codes() != "" {
					t.Errorf("after %d starts: %+v\n%s", starts, verdicts, k.out)
				}
				k.wait(time.Minute)
				if d.count() != starts || !slices.Equal(d.canceled, []string{verdicts[0].Task + "-m-1"}) {
					t.Errorf("%d starts after %d, cancelled %q", d.count(), starts, d.canceled)
				}
				over.Store(true)
				if words == "stop" {
					k.say("reset 1\n")
				}
				k.say("go home\n")
				k.wait(10 * time.Second)
				k.want("the next request", k.states(evMission), "verified")
			})
		})
	}
}
