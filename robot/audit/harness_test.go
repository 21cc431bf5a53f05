package audit

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// clock is the wall clock of tests.
func clock() time.Time { return time.UnixMilli(1_700_000_000_123) }

// opened opens a record on a disk, and closes it at the test's end.
func opened(t testing.TB, d Disk, change ...func(*Options)) (*Log, *History) {
	t.Helper()
	o := Options{Disk: d, Now: clock, RetryAfter: time.Nanosecond}
	for _, c := range change {
		c(&o)
	}
	l, h, err := Open(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, h
}

// durable appends a record and waits for its answer.
func durable(l *Log, r *contractv1.AuditRecord) error {
	answer := make(chan error, 1)
	l.Append(r, func(err error) { answer <- err })
	return <-answer
}

// must appends records that must become durable.
func must(t testing.TB, l *Log, rs ...*contractv1.AuditRecord) {
	t.Helper()
	for _, r := range rs {
		if err := durable(l, r); err != nil {
			t.Fatal(err)
		}
	}
}

// answers collects what several appends were answered, in order.
type answers struct {
	mu   sync.Mutex
	list []answer
	all  sync.WaitGroup
}

type answer struct {
	n   int
	err error
}

func (a *answers) append(l *Log, n int, r *contractv1.AuditRecord) {
	a.all.Add(1)
	l.Append(r, func(err error) {
		a.mu.Lock()
		a.list = append(a.list, answer{n, err})
		a.mu.Unlock()
		a.all.Done()
	})
}

func (a *answers) wait() []answer {
	a.all.Wait()
	return a.list
}

// codeOf is the code of a refusal to write.
func codeOf(t testing.TB, err error) reject.Code {
	t.Helper()
	var r reject.Rejection
	var u *Unavailable
	if !errors.As(err, &r) || !errors.As(err, &u) {
		t.Fatalf("%v (%T) is no refusal", err, err)
	}
	return r.Code
}

// The records of tests.

func openedAs(n uint64) *contractv1.AuditRecord {
	return &contractv1.AuditRecord{What: &contractv1.AuditRecord_Opened{Opened: &contractv1.Opened{Robot: "so101", Incarnation: n, Version: "test"}}}
}

func intentOf(id string) *contractv1.AuditRecord { return intentBy(id, "") }

func intentBy(id, approval string) *contractv1.AuditRecord {
	return &contractv1.AuditRecord{AtMs: 10, What: &contractv1.AuditRecord_Intent{Intent: &contractv1.Intent{
		MissionId: id, Capability: "move_to", ArgsJson: []byte(`{"x_cm":20,"y_cm":0,"z_cm":15}`), Principal: "token",
		Fingerprint: []byte("fingerprint of " + id), Approval: approval, LeaseEpoch: 3,
	}}}
}

func voidOf(id string) *contractv1.AuditRecord {
	return &contractv1.AuditRecord{What: &contractv1.AuditRecord_Void{Void: &contractv1.Void{
		MissionId: id, Rejections: []*contractv1.Rejection{{Code: "STOPPED"}},
	}}}
}

func event(id string, seq uint64, kind contractv1.EventKind) *contractv1.AuditRecord {
	e := &contractv1.Event{MissionId: id, Seq: seq, Kind: kind, AtMs: 100 + int64(seq), Final: ends(kind)}
	if kind == contractv1.EventKind_VERIFIED {
		e.Evidence = []*contractv1.Evidence{{
			Condition: "tip_at_target [at@1]", Fact: "tip", Witness: "encoders", SourceAtMs: 104, AgeMs: 2, Observed: "[20,0,15]",
			Threshold: "10", MissionStartedAtMs: 102,
		}}
	}
	return &contractv1.AuditRecord{AtMs: e.AtMs, What: &contractv1.AuditRecord_Event{Event: e}}
}

func refusedRecord(n int) *contractv1.AuditRecord {
	return &contractv1.AuditRecord{What: &contractv1.AuditRecord_Refused{Refused: &contractv1.Refused{
		MissionId: "r" + strconv.Itoa(n), Capability: "fly", Rejections: []*contractv1.Rejection{{Code: "UNKNOWN_CAPABILITY"}},
	}}}
}

func latchRecord(n uint64) *contractv1.AuditRecord {
	return &contractv1.AuditRecord{What: &contractv1.AuditRecord_Latch{Latch: &contractv1.LatchChange{Stopped: true, Number: n, Reason: "test"}}}
}

func approvalChange(kind contractv1.ApprovalChange_Kind, hash string, number uint64) *contractv1.AuditRecord {
	return &contractv1.AuditRecord{What: &contractv1.AuditRecord_Approval{Approval: &contractv1.ApprovalChange{
		Kind: kind, Hash: hash, Act: &contractv1.Act{Robot: "so101", Number: number},
	}}}
}

func closedRecord() *contractv1.AuditRecord {
	return &contractv1.AuditRecord{What: &contractv1.AuditRecord_Closed{Closed: &contractv1.Closed{}}}
}

// life is a mission from its intent to its end.
func life(id string) []*contractv1.AuditRecord {
	return []*contractv1.AuditRecord{
		intentOf(id), event(id, 1, contractv1.EventKind_ACCEPTED), event(id, 2, contractv1.EventKind_STARTED),
		event(id, 3, contractv1.EventKind_ARRIVED), event(id, 4, contractv1.EventKind_VERIFIED),
	}
}

// lives is a record of n lines: one process and whole missions, the last of them perhaps cut short.
func lives(n int) []*contractv1.AuditRecord {
	list := []*contractv1.AuditRecord{openedAs(1)}
	for i := 0; len(list) < n; i++ {
		list = append(list, life(fmt.Sprintf("m%d", i))...)
	}
	return list[:n]
}

// written is a record on a disk of its own.
func written(t testing.TB, rs []*contractv1.AuditRecord, change ...func(*Options)) *memory {
	t.Helper()
	d := newMemory()
	l, _ := opened(t, d, change...)
	must(t, l, rs...)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return d
}

func smallSegments(o *Options) { o.SegmentBytes = 1500 }

// sound verifies a disk and returns the report, which must have no fault.
func sound(t testing.TB, d Disk) Report {
	t.Helper()
	r, err := verify(d, nil)
	if err != nil || r.Fault != nil {
		t.Fatalf("%v, %v", r.Fault, err)
	}
	return r
}

func TestMain(m *testing.M) {
	if beWriter() {
		return
	}
	goleak.VerifyTestMain(m)
}

func digestOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
