package audit

import (
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	contractv1 "interlock/contract/v1"
)

// What a robot must know after a restart is what the record says.
//
// Verifies: P20, I09
func TestHistory(t *testing.T) {
	task := func(n uint64) *contractv1.AuditRecord {
		return &contractv1.AuditRecord{What: &contractv1.AuditRecord_Task{Task: &contractv1.TaskChange{Task: &contractv1.Task{Number: n}}}}
	}
	lease := func(epoch uint64) *contractv1.AuditRecord {
		return &contractv1.AuditRecord{What: &contractv1.AuditRecord_Lease{Lease: &contractv1.LeaseChange{Lease: &contractv1.Lease{Epoch: epoch}}}}
	}
	d := written(t, []*contractv1.AuditRecord{
		openedAs(1), task(2), task(1), lease(7), lease(5), latchRecord(4),
		intentBy("a", "h"), event("a", 1, accepted), event("a", 2, started), event("a", 3, aborted),
		intentOf("b"), voidOf("b"),
		intentOf("c"), voidOf("c"), intentOf("c"), event("c", 1, accepted),
		approvalChange(contractv1.ApprovalChange_ASKED, "i", 9), approvalChange(contractv1.ApprovalChange_USED, "j", 3),
		refusedRecord(1), intentOf("d"), latchRecord(6),
	})
	l, h := opened(t, d)
	if h.Records != 21 || h.Incarnation != 1 || h.Closed || h.TasksOpened != 2 || h.LeaseEpoch != 7 ||
		h.RequestNumber != 9 || h.Latch.GetNumber() != 6 || h.Gaps != 0 {
		t.Errorf("%+v", h)
	}
	if !h.Approvals["h"] || !h.Approvals["j"] || len(h.Approvals) != 2 || !slices.Equal(h.Voided, []string{"b"}) {
		t.Errorf("approvals %v, void %v", h.Approvals, h.Voided)
	}
	type known struct {
		id     string
		events int
		seq    uint64
		ended  bool
	}
	var got []known
	for _, m := range h.Missions {
		got = append(got, known{m.ID, len(m.Events), m.LastSeq, m.Ended})
		if string(m.Fingerprint) != "fingerprint of "+m.ID || string(m.Intent.GetArgsJson()) != `{"x_cm":20,"y_cm":0,"z_cm":15}` {
			t.Errorf("%+v", m)
		}
	}
	if want := []known{{"a", 3, 3, true}, {"c", 1, 1, false}, {"d", 0, 0, false}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if !proto.Equal(h.Missions[0].Events[2], event("a", 3, aborted).GetEvent()) {
		t.Errorf("%v", h.Missions[0].Events)
	}
	must(t, l, closedRecord())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, h = opened(t, d)
	if !h.Closed || h.Records != 22 {
		t.Errorf("%+v", h)
	}
	must(t, l, openedAs(2))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, h := opened(t, d); h.Closed || h.Incarnation != 2 {
		t.Errorf("%+v", h)
	}
}

// Of old missions only id and fingerprint are kept; one that has not ended is always kept whole.
//
// Verifies: I09
func TestHistoryIsBounded(t *testing.T) {
	list := []*contractv1.AuditRecord{openedAs(1), intentOf("open"), event("open", 1, accepted)}
	for i := range 50 {
		list = append(list, life(fmt.Sprint(i))...)
	}
	_, h := opened(t, written(t, list), func(o *Options) { o.KeepMissions = 10 })
	if len(h.Missions) != 51 {
		t.Fatalf("%d missions", len(h.Missions))
	}
	for i, m := range h.Missions {
		whole := i == 0 || i > 40
		if (m.Intent != nil) != whole || (len(m.Events) > 0) != whole || len(m.Fingerprint) == 0 || m.Ended != (i > 0) {
			t.Errorf("mission %d, %s: %d events", i, m.ID, len(m.Events))
		}
	}
}

// A disk that lost the middle of a mission's life leaves it open, and the robot can end it.
//
// Verifies: P20, P26
func TestHistoryOverALoss(t *testing.T) {
	d := newMemory()
	l, _ := opened(t, d)
	must(t, l, openedAs(1), intentOf("m"), event("m", 1, accepted), event("m", 2, started))
	d.before = func(int, string, string) damage { return damage{err: errTest} }
	for seq := uint64(3); seq < 6; seq++ {
		if err := durable(l, event("m", seq, phase)); err == nil {
			t.Fatal("acknowledged")
		}
	}
	d.before = nil
	must(t, l, event("m", 6, aborted))
	sound(t, d)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, h := opened(t, d); h.Gaps != 1 || !h.Missions[0].Ended || h.Missions[0].LastSeq != 6 {
		t.Errorf("%+v", h)
	}
}
