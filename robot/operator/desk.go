package operator

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// Config bounds a desk. A zero field takes the default in parentheses; the defaults are ours.
type Config struct {
	PendingTTL  time.Duration // an act waits at most so long (5 min)
	GrantTTL    time.Duration // an approval is good for so long (60 s)
	DeniedFor   time.Duration // a denied act may not be asked for again before (60 s)
	MaxPending  int           // acts that wait at once (32)
	MaxEach     int           // of them of one principal, so that one leaves room for the others (8)
	MaxGrants   int           // approvals that are good at once (32)
	FirstNumber uint64        // of the first request (1). Above every one that was ever used, also by processes before
}

func (c Config) orDefaults() Config {
	return Config{
		PendingTTL: cmp.Or(c.PendingTTL, 5*time.Minute), GrantTTL: cmp.Or(c.GrantTTL, time.Minute), DeniedFor: cmp.Or(c.DeniedFor, time.Minute),
		MaxPending: cmp.Or(c.MaxPending, 32), MaxEach: cmp.Or(c.MaxEach, 8), MaxGrants: cmp.Or(c.MaxGrants, 32), FirstNumber: cmp.Or(c.FirstNumber, 1),
	}
}

// Bounds of one act and of what is remembered.
const (
	maxArgs    = 64 << 10 // bytes of arguments; a call's arguments are read within the same length
	maxName    = 1 << 10  // bytes of each other field
	maxBecause = 64       // reasons
	maxWords   = 16 << 10 // bytes of all reasons
	maxPast    = 256      // acts that are over and of which it is still known why
	unrecorded = 4        // times MaxPending: expired acts that Expired was not asked for
	never      = time.Duration(math.MaxInt64)
)

// Desk is what waits for a person and what a person let pass. It belongs to one goroutine. Every now is the robot's own
// monotonic time since one origin; one that runs back counts as standing still.
type Desk struct {
	cfg    Config
	now    time.Duration // the latest told
	number uint64        // of the next request; 0: all were used
	live   []*entry      // in the order of their numbers
	gone   []*contractv1.Pending
	past   []over // the latest last
	denied []refused
}

// entry is an act that waits or that was approved.
type entry struct {
	key      key
	hash     string
	act      *contractv1.Act
	because  []*contractv1.Rejection
	approved bool
	ends     time.Duration
}

// over is an act that can never pass, by the rule that says why.
type over struct{ hash, rule string }

// refused is a call that a person denied.
type refused struct {
	key   key
	until time.Duration
}

// NewDesk returns an empty desk.
func NewDesk(c Config) *Desk {
	c = c.orDefaults()
	return &Desk{cfg: c, number: c.FirstNumber}
}

// Ask puts an act on the desk, or finds the same one there, waiting or approved: all its fields are equal but the number.
// act.number is filled in either way; isNew says that it was not there. A refusal leaves the desk as it was: OVERLOADED
// where too many wait, NEEDS_APPROVAL by approval_denied where a person denied the same call just now, and TOO_LARGE,
// MISSING_ARGUMENT or MALFORMED by approval_act for what a person cannot be shown.
func (d *Desk) Ask(now time.Duration, act *contractv1.Act, because []*contractv1.Rejection) (pending *contractv1.Pending, isNew bool, refusal *reject.Rejection) {
	d.settle(now)
	if refusal := askable(act, because); refusal != nil {
		return nil, false, refusal
	}
	k := keyOf(act)
	if i := slices.IndexFunc(d.live, func(e *entry) bool { return e.key == k }); i >= 0 {
		act.Number = d.live[i].act.GetNumber()
		return d.pending(d.live[i]), false, nil
	}
	if refusal := d.room(k, act.GetPrincipal()); refusal != nil {
		return nil, false, refusal
	}
	act.Number = d.number
	d.number++
	e := &entry{key: k, hash: Hash(act), act: copied(act), ends: d.after(d.cfg.PendingTTL)}
	for _, r := range because {
		e.because = append(e.because, copied(r))
	}
	d.live = append(d.live, e)
	return d.pending(e), true, nil
}

// room refuses a new act where a person said no to it, or where there is no place for it.
func (d *Desk) room(k key, principal string) *reject.Rejection {
	if i := slices.IndexFunc(d.denied, func(r refused) bool { return r.key == k }); i >= 0 {
		r := reject.New(reject.NeedsApproval, "a person denied this call just now").By("approval_denied")
		r.Retry, r.AfterMS = reject.Later, d.milliseconds(d.denied[i].until)
		return &r
	}
	waiting, theirs := d.count(false), 0
	for _, e := range d.live {
		if !e.approved && e.act.GetPrincipal() == principal {
			theirs++
		}
	}
	switch {
	case theirs >= d.cfg.MaxEach:
		return d.overloaded("approvals_pending", fmt.Sprintf("%d calls of this caller wait for a person already", theirs), d.cfg.MaxEach)
	case waiting >= d.cfg.MaxPending:
		return d.overloaded("approvals_pending", fmt.Sprintf("%d calls wait for a person already", waiting), d.cfg.MaxPending)
	case len(d.gone) >= unrecorded*d.cfg.MaxPending:
		return d.overloaded("approvals_unrecorded", "calls that nobody decided in time are not recorded yet", unrecorded*d.cfg.MaxPending)
	case d.number == 0:
		return d.overloaded("approval_numbers", "every number of a request was used", 0)
	}
	return nil
}

// overloaded says when the first of what is on the desk ends by itself.
func (d *Desk) overloaded(rule, says string, limit int) *reject.Rejection {
	r := reject.New(reject.Overloaded, says).By(rule).Saw("", strconv.Itoa(limit), "")
	first := never
	for _, e := range d.live {
		first = min(first, e.ends)
	}
	if first != never {
		r.AfterMS = d.milliseconds(first)
	}
	return &r
}

// Granted looks for an approval of this act that is good and was not used: every field is equal but the number, which is
// that of the request.
func (d *Desk) Granted(now time.Duration, act *contractv1.Act) (hash string, ok bool) {
	d.settle(now)
	k := keyOf(act)
	for _, e := range d.live {
		if e.approved && e.key == k {
			return e.hash, true
		}
	}
	return "", false
}

// Use consumes an approval. It is false for one that is not good: then nothing may move by it.
func (d *Desk) Use(now time.Duration, hash string) bool {
	d.settle(now)
	i := d.index(hash)
	if i < 0 || !d.live[i].approved {
		return false
	}
	d.end(i, "approval_used")
	return true
}

// List is what waits or is approved, the oldest first.
func (d *Desk) List(now time.Duration) []*contractv1.Pending {
	d.settle(now)
	list := make([]*contractv1.Pending, len(d.live))
	for i, e := range d.live {
		list[i] = d.pending(e)
	}
	return list
}

// Expired is what ended by itself since it was asked last, requests and approvals (approved is true), each once, so that
// it can be recorded. A desk on which too much waits to be told takes no new acts.
func (d *Desk) Expired(now time.Duration) []*contractv1.Pending {
	d.settle(now)
	gone := d.gone
	d.gone = nil
	return gone
}

// settle brings the desk to now: what has ended is taken off before anything is decided.
func (d *Desk) settle(now time.Duration) {
	d.now = max(d.now, now)
	for i := 0; i < len(d.live); {
		if d.live[i].ends > d.now {
			i++
			continue
		}
		d.gone = append(d.gone, d.pending(d.live[i]))
		d.end(i, "approval_expired")
	}
	d.denied = slices.DeleteFunc(d.denied, func(r refused) bool { return r.until <= d.now })
}

// end takes an act off the desk for good.
func (d *Desk) end(i int, rule string) {
	d.past = append(d.past, over{d.live[i].hash, rule})
	d.past = slices.Clone(d.past[max(0, len(d.past)-maxPast):])
	d.live = slices.Delete(d.live, i, i+1)
}

func (d *Desk) index(hash string) int {
	return slices.IndexFunc(d.live, func(e *entry) bool { return e.hash == hash })
}

func (d *Desk) count(approved bool) (n int) {
	for _, e := range d.live {
		if e.approved == approved {
			n++
		}
	}
	return n
}

// after is when a time to live that begins now ends; an end that no clock reaches is the last there is.
func (d *Desk) after(ttl time.Duration) time.Duration {
	if ttl > 0 && d.now > never-ttl {
		return never
	}
	return d.now + ttl
}

// milliseconds are those until then, rounded up: at that time it has ended.
func (d *Desk) milliseconds(then time.Duration) int {
	return int((max(0, then-d.now) + time.Millisecond - 1) / time.Millisecond)
}

func (d *Desk) pending(e *entry) *contractv1.Pending {
	p := &contractv1.Pending{Hash: e.hash, Act: copied(e.act), ExpiresInMs: int64(d.milliseconds(e.ends)), Approved: e.approved}
	for _, r := range e.because {
		p.Because = append(p.Because, copied(r))
	}
	return p
}
