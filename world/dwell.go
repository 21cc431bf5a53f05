package world

import (
	"time"

	"interlock/units"
)

// DwellState is what a Dwell knows so far.
type DwellState uint8

// The states of a dwell. Pending and Held may follow each other; Refuted and Undecided are final.
const (
	Pending   DwellState = iota // not decided yet
	Held                        // true, and has been for long enough
	Refuted                     // measured false when its time was up
	Undecided                   // not known when its time was up
)

// String returns the word for the state.
func (s DwellState) String() string {
	switch s {
	case Pending:
		return "pending"
	case Held:
		return "held"
	case Refuted:
		return "refuted"
	case Undecided:
		return "undecided"
	}
	return "invalid"
}

// lateHold is how much longer than its own length a hold that began in time may take: slow sources report seldom, and
// one that never reports again must not be waited for without end.
const lateHold = time.Second

// Dwell follows one truth over time: it must become true no later than Within after Start, and stay true for Hold
// without interruption.
//
// The hold is measured on the times of the sources, never on the time of looking: it takes two readings of different
// times, at least Hold apart, with no other answer in between. A reading from before Start says nothing, so the answer
// made from it counts as unknown. A source whose time stands still therefore never holds.
//
// What counts when the time is up is the answer then: false refutes, unknown leaves it undecided, and true goes on
// until the hold completes or breaks. Held is not final: a later other answer withdraws it, so that several dwells are
// held together only while all their truths are.
type Dwell struct {
	Start  units.Instant // readings from before it do not count
	Within time.Duration
	Hold   time.Duration

	state   DwellState
	last    Truth         // the latest answer
	seen    bool          // there was an observation
	now     units.Instant // time of the latest observation
	holding bool
	looked  units.Instant // when the hold was first seen
	from    units.Instant // source time of the first reading of the hold
	to      units.Instant // source time of the latest reading of the hold
	wasTrue bool
}

// State returns what is known so far.
func (d *Dwell) State() DwellState { return d.state }

// WasTrue reports whether the truth was true at any observation that counted.
func (d *Dwell) WasTrue() bool { return d.wasTrue }

// Observe takes the answer t, judged at now from readings of which the oldest was measured at source. An observation
// that lies before an earlier one is ignored.
func (d *Dwell) Observe(now, source units.Instant, t Truth) DwellState {
	if d.state == Refuted || d.state == Undecided || d.seen && now.Before(d.now) {
		return d.state
	}
	if source.Before(d.Start) || source.After(now) {
		t = Unknown
	}
	if t == True {
		d.observeTrue(now, source)
	} else {
		d.observeOther(now, t)
	}
	d.now, d.seen = now, true
	return d.state
}

func (d *Dwell) observeTrue(now, source units.Instant) {
	switch {
	case !d.holding && now.After(d.deadline()):
		d.close(d.last) // true too late: what counts is the answer when the time was up
		return
	case !d.holding:
		d.holding, d.looked, d.from, d.to = true, now, source, source
	default:
		d.to = source
	}
	d.last, d.wasTrue = True, true
	switch {
	case d.to.After(d.from) && d.to.Sub(d.from) >= d.Hold:
		d.state = Held
	case now.After(d.deadline()) && now.Sub(d.looked) > d.Hold+lateHold:
		d.state = Undecided
	}
}

func (d *Dwell) observeOther(now units.Instant, t Truth) {
	d.holding, d.state, d.last = false, Pending, t
	if !now.Before(d.deadline()) {
		d.close(t)
	}
}

func (d *Dwell) close(t Truth) {
	d.state = Undecided
	if t == False {
		d.state = Refuted
	}
}

func (d *Dwell) deadline() units.Instant { return d.Start.Add(d.Within) }
