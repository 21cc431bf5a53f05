package operator

import (
	"slices"
	"strconv"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// maxBy is the longest name of a person, in bytes.
const maxBy = 100

// Approve lets one act pass, once, for the time of Config.GrantTTL. Hash and text must both be exactly those of an act
// that waits: CONFLICT otherwise, by approval_unknown, approval_text, approval_twice, approval_used, approval_expired,
// approval_denied or approval_withdrawn. It moves nothing: whoever asked must ask again.
func (d *Desk) Approve(now time.Duration, q *contractv1.ApproveRequest) (*contractv1.Pending, *reject.Rejection) {
	d.settle(now)
	if refusal := person(q.GetBy()); refusal != nil {
		return nil, refusal
	}
	i := d.index(q.GetHash())
	switch {
	case i < 0:
		return nil, d.missing(q.GetHash())
	case d.live[i].act.GetDisplayed() != q.GetDisplayed():
		return nil, conflict("approval_text", "displayed", "the text that was approved is not the one of this call")
	case d.live[i].approved:
		return nil, conflict("approval_twice", "hash", "this call is approved already")
	case d.count(true) >= d.cfg.MaxGrants:
		return nil, d.overloaded("approvals_granted", "too many approvals were not used yet", d.cfg.MaxGrants)
	}
	e := d.live[i]
	e.approved, e.ends = true, d.after(d.cfg.GrantTTL)
	return d.pending(e), nil
}

// Deny takes one act off the desk, also one that was approved and not used. The same call cannot be asked for again for
// the time of Config.DeniedFor. It refuses what is not there, as Approve does.
func (d *Desk) Deny(now time.Duration, q *contractv1.DenyRequest) (*contractv1.Pending, *reject.Rejection) {
	d.settle(now)
	if refusal := person(q.GetBy()); refusal != nil {
		return nil, refusal
	}
	i := d.index(q.GetHash())
	if i < 0 {
		return nil, d.missing(q.GetHash())
	}
	p := d.pending(d.live[i])
	p.ExpiresInMs = 0
	d.denied = append(d.denied, refused{d.live[i].key, d.after(d.cfg.DeniedFor)})
	d.denied = slices.Clone(d.denied[max(0, len(d.denied)-maxPast):])
	d.end(i, "approval_denied")
	return p, nil
}

// Withdraw takes everything off the desk that is bound to the lease of this epoch, approvals included, and returns it for
// the record: whoever held the lease does not any more.
func (d *Desk) Withdraw(leaseEpoch uint64) []*contractv1.Pending {
	return d.withdraw(func(act *contractv1.Act) bool { return act.GetLeaseEpoch() == leaseEpoch })
}

// WithdrawTask is Withdraw for a task that is over: a step of it that a person approves late must not be one of the next.
func (d *Desk) WithdrawTask(taskID string) []*contractv1.Pending {
	return d.withdraw(func(act *contractv1.Act) bool { return act.GetTaskId() == taskID })
}

// WithdrawAll is Withdraw for everything: the robot was stopped, or a person took it, and what was asked before is past.
func (d *Desk) WithdrawAll() []*contractv1.Pending {
	return d.withdraw(func(*contractv1.Act) bool { return true })
}

func (d *Desk) withdraw(bound func(*contractv1.Act) bool) (gone []*contractv1.Pending) {
	for i := 0; i < len(d.live); {
		if !bound(d.live[i].act) {
			i++
			continue
		}
		p := d.pending(d.live[i])
		p.ExpiresInMs = 0
		gone = append(gone, p)
		d.end(i, "approval_withdrawn")
	}
	return gone
}

// missing says why no act of this hash is on the desk.
func (d *Desk) missing(hash string) *reject.Rejection {
	says := map[string]string{
		"approval_used": "what was approved was done already", "approval_expired": "it is too late: nobody decided, or nobody came back, in time",
		"approval_denied": "a person denied it", "approval_withdrawn": "whoever asked does not hold the robot any more",
	}
	for _, o := range d.past {
		if o.hash == hash {
			return conflict(o.rule, "hash", says[o.rule])
		}
	}
	return conflict("approval_unknown", "hash", "nothing of this hash waits for a person")
}

func conflict(rule, field, says string) *reject.Rejection {
	r := reject.New(reject.Conflict, says).By(rule).In(field)
	return &r
}

// person refuses a name that the record could not show.
func person(by string) *reject.Rejection {
	var r reject.Rejection
	switch {
	case by == "":
		r = reject.New(reject.MissingArgument, "who decides must be named")
	case len(by) > maxBy:
		r = reject.New(reject.TooLarge, "the name of a person is too long").Saw(strconv.Itoa(len(by)), strconv.Itoa(maxBy), "bytes")
	case !readable(by) || slices.Contains([]byte(by), '\n'):
		r = reject.New(reject.Malformed, "the name of a person has a sign that cannot be shown")
	default:
		return nil
	}
	r = r.In("by")
	return &r
}

// askable refuses an act that a person could not be shown whole, or that would not be bound to anything.
func askable(act *contractv1.Act, because []*contractv1.Rejection) *reject.Rejection {
	if act == nil || len(act.ProtoReflect().GetUnknown()) > 0 {
		return unfit(reject.Malformed, "act", "there is no act, or more of it than is known")
	}
	for _, f := range []struct {
		name        string
		bytes, most int
		needed      bool
	}{
		{"robot", len(act.GetRobot()), maxName, true}, {"contract_hash", len(act.GetContractHash()), maxName, true},
		{"capability", len(act.GetCapability()), maxName, true}, {"args_json", len(act.GetArgsJson()), maxArgs, false},
		{"principal", len(act.GetPrincipal()), maxName, false}, {"task_id", len(act.GetTaskId()), maxName, false},
		{"displayed", len(act.GetDisplayed()), MaxDisplayed, false},
		{"because", len(because), maxBecause, false}, {"because.says", bytesOf(because), maxWords, false},
	} {
		switch {
		case f.needed && f.bytes == 0:
			return unfit(reject.MissingArgument, f.name, "an approval is bound to it")
		case f.bytes > f.most:
			r := unfit(reject.TooLarge, f.name, "it is more than a person can be shown").Saw(strconv.Itoa(f.bytes), strconv.Itoa(f.most), "")
			return &r
		}
	}
	switch {
	case act.GetDisplayed() == "":
		return unfit(reject.TooLarge, "displayed", "the call does not fit on the page that a person is shown")
	case !readable(act.GetDisplayed()):
		return unfit(reject.Malformed, "displayed", "the text has a sign that cannot be shown")
	}
	return nil
}

func unfit(code reject.Code, field, says string) *reject.Rejection {
	r := reject.New(code, says).By("approval_act").In(field)
	return &r
}

func bytesOf(because []*contractv1.Rejection) (n int) {
	for _, r := range because {
		n += len(r.GetCode()) + len(r.GetRule()) + len(r.GetField()) + len(r.GetGot()) + len(r.GetLimit()) + len(r.GetUnit()) + len(r.GetRetry()) + len(r.GetSays())
	}
	return n
}
