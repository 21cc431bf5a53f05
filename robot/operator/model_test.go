package operator_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	contractv1 "interlock/contract/v1"
	"interlock/robot/operator"
)

// model is what the desk must be like: one line per act that waits or is approved.
type model struct {
	desk  *operator.Desk
	now   time.Duration
	live  map[string]standing
	ended int // by themselves
	told  int // of those, by the desk
}

type standing struct {
	p        *contractv1.Pending
	approved bool
	ends     time.Duration
}

// Times to live of the model's desk, in nanoseconds.
const (
	modelPending = 10
	modelGrant   = 6
	modelDenied  = 4
)

var name = rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})

func (m *model) pass(t *rapid.T) {
	m.now += time.Duration(rapid.IntRange(0, 7).Draw(t, "ns"))
	for n, s := range m.live {
		if s.ends <= m.now {
			delete(m.live, n)
			m.ended++
		}
	}
}

func (m *model) ask(t *rapid.T) {
	n := name.Draw(t, "name")
	p, isNew, refusal := m.desk.Ask(m.now, act(n), because())
	s, waits := m.live[n]
	switch {
	case waits != (refusal == nil && !isNew):
		t.Fatalf("%s waits: %v; asked: new %v, refused %v", n, waits, isNew, refusal)
	case waits && s.p.GetHash() != p.GetHash():
		t.Fatal("it waits under another hash")
	case isNew:
		m.live[n] = standing{p, false, m.now + modelPending}
	}
}

func (m *model) approve(t *rapid.T) {
	n := name.Draw(t, "name")
	s, waits := m.live[n]
	p, refusal := m.desk.Approve(m.now, yes(s.p))
	full := refusal != nil && refusal.Rule == "approvals_granted"
	if (refusal == nil) != (waits && !s.approved && !full) {
		t.Fatalf("%s waits %v, approved %v; refused %v", n, waits, s.approved, refusal)
	}
	if refusal == nil {
		m.live[n] = standing{p, true, m.now + modelGrant}
	}
}

func (m *model) deny(t *rapid.T) {
	n := name.Draw(t, "name")
	s, waits := m.live[n]
	if _, refusal := m.desk.Deny(m.now, no(s.p)); (refusal == nil) != waits {
		t.Fatalf("%s waits %v; refused %v", n, waits, refusal)
	}
	delete(m.live, n)
}

func (m *model) use(t *rapid.T) {
	n := name.Draw(t, "name")
	s := m.live[n]
	hash, ok := m.desk.Granted(m.now, act(n))
	if ok != s.approved || ok && hash != s.p.GetHash() {
		t.Fatalf("%s approved %v; granted %v", n, s.approved, ok)
	}
	if m.desk.Use(m.now, s.p.GetHash()) != s.approved {
		t.Fatalf("%s approved %v; used otherwise", n, s.approved)
	}
	if s.approved {
		delete(m.live, n)
	}
}

func (m *model) tell(*rapid.T) { m.told += len(m.desk.Expired(m.now)) }

func (m *model) holds(t *rapid.T) {
	if list := m.desk.List(m.now); len(list) != len(m.live) || len(list) > 5 {
		t.Fatalf("%d on the desk, %d in the model", len(list), len(m.live))
	}
}

// Against a model of one line per act: an approval passes exactly once, only after a person's word, only in time; what
// ends by itself is told exactly once.
//
// Verifies: O09, P34, F45
func TestNoSequenceUsesAnApprovalTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{
			desk: operator.NewDesk(operator.Config{PendingTTL: modelPending, GrantTTL: modelGrant, DeniedFor: modelDenied, MaxPending: 3, MaxGrants: 2}),
			now:  start, live: map[string]standing{},
		}
		t.Repeat(map[string]func(*rapid.T){
			"time": m.pass, "ask": m.ask, "approve": m.approve, "deny": m.deny, "use": m.use, "tell": m.tell, "": m.holds,
		})
		if m.tell(t); m.told != m.ended {
			t.Fatalf("%d ended by themselves, %d were told", m.ended, m.told)
		}
	})
}
