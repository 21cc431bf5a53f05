package goal

import (
	"slices"
	"strconv"

	"interlock/contract"
	"interlock/reject"
	"interlock/world"
)

// State is the robot's word about a request.
type State string

// The closed list of words. All but Open are final.
const (
	Open              State = "open"
	Done              State = "done"
	NotDone           State = "not_done"
	Unverified        State = "unverified"
	NeedsConfirmation State = "needs_confirmation"
	Escalated         State = "escalated"
	Stopped           State = "stopped"
	Superseded        State = "superseded"
	OverBudget        State = "over_budget"
)

// Provenance says whose words a request is.
type Provenance string

// The closed list of provenances.
const (
	Person  Provenance = "person"  // typed or spoken at the console or chat, or written in a suite
	Relayed Provenance = "relayed" // handed on by a named client
	Absent  Provenance = "absent"  // a client that passed on no words
)

// Request is what a task is opened with. It is frozen by the opening.
type Request struct {
	Words       string
	Provenance  Provenance
	Client      string // who relayed it
	Goal        string // a condition over the contract's words; empty: none
	MayChange   []string
	Forbidden   []string
	MaxMissions int
}

// Claim is what the brain says about a task. It decides nothing.
type Claim struct {
	Reported bool // report_result was called
	Success  bool
	Message  string
}

// Measurement is the goal as a Watch measured it. The zero Measurement knows nothing.
type Measurement struct {
	Truth    world.Truth
	Evidence []world.Evidence
	Absent   []string // objects the goal names that a fresh reading did not show
}

// Task is one request of a person on its way to one of the final words. Its methods return the task after something
// happened and leave the receiver as it was.
type Task struct {
	Number      uint64
	State       State
	Request     Request
	Goal        *Goal // nil: none was fixed
	Licence     Licence
	Hash        string // over everything frozen, hex
	Missions    int
	Rejections  int
	Claim       Claim
	Measured    Measurement // what the final word rests on
	SideEffects []SideEffect
	Unclear     []string // objects outside the licence of which it cannot be said whether they moved
}

// OpenTask freezes a request. The list says why it could not be opened; the task is then zero.
func OpenTask(c *contract.Contract, number uint64, r Request) (Task, reject.List) {
	g, l := Fix(c, r.Goal)
	if r.Provenance != Person && r.Provenance != Relayed && r.Provenance != Absent {
		l = append(l, reject.New(reject.NotInEnum, "provenance must be person, relayed or absent").In("provenance").Saw(strconv.QuoteToASCII(string(r.Provenance)), "", ""))
	}
	if r.MaxMissions < 1 {
		l = append(l, reject.New(reject.OutOfRange, "a task needs a budget of at least one mission").In("max_missions").Saw(strconv.Itoa(r.MaxMissions), "1", ""))
	}
	if len(l) > 0 {
		return Task{}, l
	}
	r.MayChange, r.Forbidden = labels(c, r.MayChange), labels(c, r.Forbidden)
	t := Task{Number: number, State: Open, Request: r, Goal: g, Licence: Licence{Fixed: g != nil || len(r.MayChange) > 0, Forbidden: r.Forbidden}}
	t.Licence.Objects = r.MayChange
	if g != nil {
		t.Licence.Objects = labels(c, append(g.Objects(), r.MayChange...))
	}
	t.Hash = t.digest()
	return t, nil
}

// labels resolves aliases, sorts, and drops what is there twice.
func labels(c *contract.Contract, names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = c.Label(n)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (t Task) digest() string {
	goal := ""
	if t.Goal != nil {
		goal = t.Goal.Hash()
	}
	return digest(t.Request.Words, string(t.Request.Provenance), t.Request.Client, goal,
		strconv.FormatBool(t.Licence.Fixed), digest(t.Licence.Objects...), digest(t.Licence.Forbidden...), strconv.Itoa(t.Request.MaxMissions))
}

// Closed reports whether the last word was said.
func (t Task) Closed() bool { return t.State != Open }

// BudgetLeft is how many missions may still be started.
func (t Task) BudgetLeft() int { return max(0, t.Request.MaxMissions-t.Missions) }

// MayStart returns why no further mission may be started for this task; nil if one may.
func (t Task) MayStart() *reject.Rejection {
	var r reject.Rejection
	switch {
	case t.Closed():
		r = reject.New(reject.NotPermitted, "the task is closed: "+string(t.State)).In("task_id").By("task_open")
	case t.BudgetLeft() == 0:
		r = reject.New(reject.Budget, "the task has no missions left").In("task_id").By("max_missions").
			Saw(strconv.Itoa(t.Missions), strconv.Itoa(t.Request.MaxMissions), "")
	default:
		return nil
	}
	return &r
}

// MissionStarted counts a mission.
func (t Task) MissionStarted() Task {
	if !t.Closed() {
		t.Missions++
	}
	return t
}

// Rejected counts a refused call.
func (t Task) Rejected() Task {
	if !t.Closed() {
		t.Rejections++
	}
	return t
}

// MissionEnded takes the goal as measured after a mission: the first time it holds, the task is done.
func (t Task) MissionEnded(m Measurement) Task {
	if t.decide(m) != Done {
		return t
	}
	return t.close(Done, m)
}

// Claimed takes the brain's claim and the goal as measured then. The claim is written beside the word, also when the
// task is closed already; it never decides it.
func (t Task) Claimed(c Claim, m Measurement) Task {
	if !t.Claim.Reported {
		t.Claim = c
	}
	return t.close(t.decide(m), m)
}

// Silent takes the end of the conversation without a claim.
func (t Task) Silent(m Measurement) Task { return t.close(t.decide(m), m) }

// BudgetSpent takes the end of a budget: done if the goal holds, else over budget.
func (t Task) BudgetSpent(m Measurement) Task {
	if t.decide(m) == Done {
		return t.close(Done, m)
	}
	return t.close(OverBudget, m)
}

// Stop takes a stop by a person.
func (t Task) Stop() Task { return t.close(Stopped, Measurement{}) }

// Supersede takes new words from the person: they make a new task.
func (t Task) Supersede() Task { return t.close(Superseded, Measurement{}) }

// AskPerson ends the task because a person must allow something and none can be asked from here.
func (t Task) AskPerson() Task { return t.close(NeedsConfirmation, Measurement{}) }

// Escalate hands the task to a person.
func (t Task) Escalate() Task { return t.close(Escalated, Measurement{}) }

// decide is the word that the measured goal leads to.
func (t Task) decide(m Measurement) State {
	switch {
	case t.Goal == nil:
		return Unverified
	case m.Truth == world.True && len(m.Evidence) > 0:
		return Done
	case m.Truth == world.False:
		return NotDone
	case t.Goal.contract.VocabularyClosed && len(m.Absent) > 0:
		return NotDone // with a closed vocabulary, what is looked for and not seen does not exist
	}
	return Unverified
}

func (t Task) close(s State, m Measurement) Task {
	if !t.Closed() {
		t.State, t.Measured = s, m
	}
	return t
}

// Tighten adds a conjunct to the goal. A goal cannot be given after the opening, only made stricter; hash and licence
// stay what they were.
func (t Task) Tighten(text string) (Task, reject.List) {
	switch {
	case t.Closed():
		return t, reject.List{reject.New(reject.NotPermitted, "the task is closed: "+string(t.State)).In("goal").By("task_open")}
	case t.Goal == nil:
		return t, reject.List{reject.New(reject.NotPermitted, "a goal must be fixed before the first call").In("goal").By("goal_fixed")}
	}
	g, l := t.Goal.Tighten(text)
	t.Goal = g
	return t, l
}

// Moved adds what a mission displaced outside the licence. Of one object the largest displacement stays. It is taken
// after the last word too: what was measured late was still measured. What certainly moved is not unclear any more.
func (t Task) Moved(moved []SideEffect, unclear []string) Task {
	t.SideEffects, t.Unclear = slices.Clone(t.SideEffects), slices.Clone(t.Unclear)
	for _, m := range moved {
		i := slices.IndexFunc(t.SideEffects, func(s SideEffect) bool { return s.Object == m.Object })
		switch {
		case i < 0:
			t.SideEffects = append(t.SideEffects, m)
		case m.DisplacementM > t.SideEffects[i].DisplacementM:
			t.SideEffects[i] = m
		}
	}
	for _, label := range unclear {
		if !slices.Contains(t.Unclear, label) {
			t.Unclear = append(t.Unclear, label)
		}
	}
	t.Unclear = slices.DeleteFunc(t.Unclear, func(label string) bool {
		return slices.ContainsFunc(t.SideEffects, func(s SideEffect) bool { return s.Object == label })
	})
	return t
}

// FalseClaim reports whether success was claimed and the task ended otherwise by measurement.
func (t Task) FalseClaim() bool {
	return t.Claim.Reported && t.Claim.Success && (t.State == NotDone || t.State == OverBudget && t.Measured.Truth == world.False)
}
