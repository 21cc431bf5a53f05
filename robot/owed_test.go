package robot

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// slow is a journal that answers when it is told to, in the order of the appends.
type slow struct {
	waits     []unanswered
	kept      []*contractv1.AuditRecord
	refused   []*contractv1.AuditRecord // and not kept since
	overtaken []*contractv1.AuditRecord // that were refused, and not brought again before a later one was
}

type unanswered struct {
	record *contractv1.AuditRecord
	then   func(error)
}

// Append implements Journal.
func (s *slow) Append(r *contractv1.AuditRecord, then func(error)) {
	again := func(old *contractv1.AuditRecord) bool {
		return slices.ContainsFunc(s.waits, func(w unanswered) bool { return w.record == old })
	}
	for _, old := range s.refused {
		if taleOf(old) == taleOf(r) && numberOf(old) < numberOf(r) && !again(old) && !s.past(old) {
			s.overtaken = append(s.overtaken, old)
		}
	}
	s.waits = append(s.waits, unanswered{r, then})
}

// past reports whether a later line than this one is on record.
func (s *slow) past(old *contractv1.AuditRecord) bool {
	return slices.ContainsFunc(s.kept, func(k *contractv1.AuditRecord) bool { return sameTale(old, k) && numberOf(k) > numberOf(old) })
}

func numberOf(r *contractv1.AuditRecord) uint64 {
	return max(r.GetEvent().GetSeq(), r.GetLatch().GetNumber(), r.GetApproval().GetAct().GetNumber(), r.GetLease().GetLease().GetEpoch(), r.GetTask().GetTask().GetNumber())
}

// taleOf is what a line tells of: lines of one tale must stand in their order, and only those.
func taleOf(r *contractv1.AuditRecord) string {
	switch what := r.GetWhat().(type) {
	case *contractv1.AuditRecord_Event:
		return "mission " + what.Event.GetMissionId()
	case *contractv1.AuditRecord_Approval:
		return "act " + what.Approval.GetHash()
	case *contractv1.AuditRecord_Lease:
		return "lease of " + what.Lease.GetLease().GetResource()
	case *contractv1.AuditRecord_Latch:
		return "latch"
	}
	return "" // what is no tale
}

// answer answers the oldest append.
func (s *slow) answer(err error) {
	if len(s.waits) == 0 {
		return
	}
	w := s.waits[0]
	s.waits = s.waits[1:]
	s.refused = slices.DeleteFunc(s.refused, func(old *contractv1.AuditRecord) bool { return old == w.record })
	if err == nil {
		s.kept = append(s.kept, w.record)
	} else {
		s.refused = append(s.refused, w.record)
	}
	w.then(err)
}

// indebted is a robot that tells what happens to a journal that fails now and then.
type indebted struct {
	robot   *Robot
	journal *slow
	sent    []*contractv1.AuditRecord
	told    int
	seq     map[string]uint64
}

func (i *indebted) tell(rec *contractv1.AuditRecord) {
	i.sent = append(i.sent, rec)
	i.robot.append(rec, func(error) { i.told++ })
}

// next is the number of the next line of a tale.
func (i *indebted) next(tale string) uint64 {
	i.seq[tale]++
	return i.seq[tale]
}

func (i *indebted) event(mission string) {
	i.tell(&contractv1.AuditRecord{What: &contractv1.AuditRecord_Event{Event: &contractv1.Event{MissionId: mission, Seq: i.next("mission " + mission)}}})
}

func (i *indebted) latch() {
	i.tell(&contractv1.AuditRecord{What: &contractv1.AuditRecord_Latch{Latch: &contractv1.LatchChange{Number: i.next("latch")}}})
}

func (i *indebted) approval(hash string, kind contractv1.ApprovalChange_Kind) {
	act := &contractv1.Act{Number: i.next("act " + hash)}
	i.tell(&contractv1.AuditRecord{What: &contractv1.AuditRecord_Approval{Approval: &contractv1.ApprovalChange{Hash: hash, Kind: kind, Act: act}}})
}

func (i *indebted) lease(resource string) {
	l := &contractv1.Lease{Resource: resource, Epoch: i.next("lease of " + resource)}
	i.tell(&contractv1.AuditRecord{What: &contractv1.AuditRecord_Lease{Lease: &contractv1.LeaseChange{Lease: l}}})
}

// TestNothingThatHappenedIsLostForGood: however a journal fails, and however late it says so, every line is told once, none is on
// record twice, those of one mission, of one act, of one resource and of the latch stand in their order, and the last of each is
// there once the journal works again; so is every other, unless the journal kept a later one first.
//
// Verifies: P20, K145, T50
func TestNothingThatHappenedIsLostForGood(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &slow{}
		i := &indebted{robot: &Robot{record: record{journal: s}}, journal: s, seq: map[string]uint64{}}
		full := &reject.Rejection{Code: reject.AuditUnavailable}
		skipped := false // the journal kept a line behind one that it had refused
		failing := false
		t.Repeat(map[string]func(*rapid.T){
			"an event":  func(t *rapid.T) { i.event(rapid.SampledFrom([]string{"m1", "m2"}).Draw(t, "mission")) },
			"the latch": func(*rapid.T) { i.latch() },
			"an act": func(t *rapid.T) {
				i.approval(rapid.SampledFrom([]string{"a1", "a2"}).Draw(t, "act"), contractv1.ApprovalChange_APPROVED)
			},
			"a lease":    func(t *rapid.T) { i.lease(rapid.SampledFrom([]string{"", "arm"}).Draw(t, "resource")) },
			"a look":     func(*rapid.T) { i.robot.catchUp() },
			"it is kept": func(*rapid.T) { skipped = skipped || failing && len(s.waits) > 0; s.answer(nil) },
			"it is not": func(*rapid.T) {
				failing = failing || len(s.waits) > 0
				s.answer(full)
			},
			"": func(*rapid.T) { failing = failing && len(s.waits) > 0 },
		})
		skipped = skipped || failing && len(s.waits) > 0
		for range 2 * len(i.sent) { // each line may have to be brought once more
			s.answer(nil)
			i.robot.catchUp()
		}
		if n := len(s.waits) + len(i.robot.record.owed.list); n > 0 || len(s.overtaken) > 0 {
			t.Fatalf("%d lines are still owed; overtaken: %v", n, s.overtaken)
		}
		i.settled(t, skipped)
	})
}

// settled holds what is on record against what happened.
func (i *indebted) settled(t *rapid.T, skipped bool) {
	if i.told != len(i.sent) {
		t.Fatalf("%d of %d were told", i.told, len(i.sent))
	}
	for tale, n := range i.seq {
		var got []uint64
		for _, r := range i.journal.kept {
			if taleOf(r) == tale {
				got = append(got, numberOf(r))
			}
		}
		ascending := slices.IsSorted(got) && len(slices.Compact(slices.Clone(got))) == len(got)
		if !ascending || len(got) == 0 || got[len(got)-1] != n || !skipped && len(got) != int(n) {
			t.Fatalf("of %d lines of %q these are on record: %v (skipped: %v)", n, tale, got, skipped)
		}
	}
}

// TestWhatNoDiskCouldHold is owed to none, and what is owed is bounded: what is left out is never an event.
//
// Verifies: K146
func TestWhatNoDiskCouldHold(t *testing.T) {
	s := &slow{}
	i := &indebted{robot: &Robot{record: record{journal: s}}, journal: s, seq: map[string]uint64{}}
	for _, code := range []reject.Code{reject.TooLarge, reject.Malformed} {
		i.event("m1")
		s.answer(reject.New(code, "test"))
	}
	if n := len(i.robot.record.owed.list); n != 0 {
		t.Errorf("%d lines are owed that cannot be written", n)
	}
	full := errors.New("no space left on device")
	i.event("m2")
	s.answer(full)
	for range mostOwed + 20 {
		i.latch()
		for len(s.waits) > 0 {
			s.answer(full)
		}
	}
	if n := len(i.robot.record.owed.list); n != mostOwed {
		t.Errorf("%d lines are owed", n)
	}
	for i.robot.catchUp(); len(s.waits) > 0; {
		s.answer(nil)
	}
	first, last := s.kept[0], s.kept[len(s.kept)-1]
	if first.GetEvent().GetMissionId() != "m2" || last.GetLatch().GetNumber() != mostOwed+20 || len(s.kept) != mostOwed {
		t.Errorf("%d lines, from %v to %v", len(s.kept), first, last)
	}
}

// TestWhatAPersonDidIsLeftOutLast: where more is owed than is kept, what stops, leases and calls that nobody decided add does not
// push out who approved, denied or took; of what changed often the latest is there.
//
// Verifies: T52
func TestWhatAPersonDidIsLeftOutLast(t *testing.T) {
	s := &slow{}
	i := &indebted{robot: &Robot{record: record{journal: s}}, journal: s, seq: map[string]uint64{}}
	i.lease("base") // and not again
	i.approval("a1", contractv1.ApprovalChange_APPROVED)
	i.approval("a2", contractv1.ApprovalChange_DENIED)
	i.lease("")
	i.event("m1")
	i.approval("a1", contractv1.ApprovalChange_WITHDRAWN)
	for n := range mostOwed {
		i.latch()
		i.lease("arm")
		if n%2 == 0 {
			i.approval(strconv.Itoa(n), contractv1.ApprovalChange_ASKED)
		}
	}
	for len(s.waits) > 0 {
		s.answer(errors.New("no space left on device"))
	}
	for i.robot.catchUp(); len(s.waits) > 0; {
		s.answer(nil)
	}
	kept := map[string]uint64{} // the latest line of each tale
	acts := 0
	for _, r := range s.kept {
		kept[taleOf(r)] = max(kept[taleOf(r)], numberOf(r))
		if byAPerson(r) {
			acts++
		}
	}
	if acts != 3 || kept["mission m1"] != 1 || kept["latch"] != mostOwed || kept["lease of arm"] != mostOwed || kept["lease of base"] != 1 || len(s.kept) != mostOwed {
		t.Errorf("of %d lines %d are acts of persons; the latest: %v", len(s.kept), acts, kept)
	}
}
