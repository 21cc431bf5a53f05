package audit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	contractv1 "interlock/contract/v1"
	"interlock/internal/golden"
)

// everyKind is one record of each kind, with text that is hard to write.
func everyKind() []*contractv1.AuditRecord {
	act := &contractv1.Act{
		Robot: "so101", ContractHash: "c0ffee", Capability: "pick", ArgsJson: []byte(`{"name":"red cube"}`), LeaseEpoch: 3,
		Principal: "token", TaskId: "t1", Displayed: "pick <red cube> & \"put\" \u2028 it \U0001F4E6\n\x1b[2J", Number: 5,
	}
	return []*contractv1.AuditRecord{
		openedAs(1), latchRecord(2),
		{AtMs: 3, What: &contractv1.AuditRecord_Task{Task: &contractv1.TaskChange{
			Task:  &contractv1.Task{TaskId: "t1", Number: 4, State: contractv1.TaskState_OPEN, Goal: `held("red cube")`, Claim: &contractv1.Claim{}},
			Words: "pick up the red cube", Provenance: "person", Principal: "token",
		}}},
		{AtMs: 4, What: &contractv1.AuditRecord_Lease{Lease: &contractv1.LeaseChange{
			Kind: contractv1.LeaseChange_ACQUIRED, Lease: &contractv1.Lease{Resource: "arm", Holder: "chat", Epoch: 3, Sequence: 1, ExpiresInMs: 2000},
		}}},
		{AtMs: 5, What: &contractv1.AuditRecord_Approval{Approval: &contractv1.ApprovalChange{Kind: contractv1.ApprovalChange_ASKED, Hash: "ab", Act: act, By: "token"}}},
		intentBy("m1", "ab"), approvalChange(contractv1.ApprovalChange_USED, "ab", 5),
		event("m1", 1, accepted), event("m1", 2, started), event("m1", 3, arrived), event("m1", 4, verified),
		refusedRecord(6), intentOf("m2"), voidOf("m2"), intentOf("m3"), event("m3", 1, accepted),
	}
}

// asWritten is a record of three segments with a gap in the middle, as the present program writes it.
func asWritten(t *testing.T) *memory {
	t.Helper()
	d := newMemory()
	l, _ := opened(t, d, func(o *Options) { o.SegmentBytes = 4000 })
	must(t, l, everyKind()...)
	d.before = func(_ int, op, _ string) damage {
		if op == "write" {
			return damage{err: syscall.ENOSPC}
		}
		return damage{}
	}
	if err := durable(l, event("m3", 2, started)); err == nil {
		t.Fatal("acknowledged")
	}
	d.before = nil
	must(t, l, event("m3", 3, aborted), closedRecord())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return d
}

const presentFormat = "format1"

// The files that this program writes are those of its format, to the byte. A program that writes other ones needs a format
// of its own, and this one's files stay as they are.
//
// Verifies: P43, I11
func TestFormatIsKept(t *testing.T) {
	d := asWritten(t)
	files, err := filepath.Glob(filepath.Join("testdata", presentFormat, "*"))
	if err != nil || len(files) != len(d.live) {
		t.Fatalf("%d files, want %d; %v", len(files), len(d.live), err)
	}
	for _, path := range files {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.text(filepath.Base(path)); !bytes.Equal(got, want) {
			t.Errorf("%s: the program writes\n%s\nand its format is\n%s", path, got, want)
		}
	}
}

// Records of every format there ever was verify, open, say what they said, and can be gone on with.
//
// Verifies: P43
func TestOldRecords(t *testing.T) {
	formats, err := filepath.Glob(filepath.Join("testdata", "format*"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, path := range formats {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			continue
		}
		n++
		dir := filepath.Join(t.TempDir(), "record")
		if err := os.CopyFS(dir, os.DirFS(path)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		was, err := Verify(dir, VerifyOptions{})
		if err != nil || was.Fault != nil {
			t.Fatalf("%s: %v, %v", path, was.Fault, err)
		}
		l, h, err := Open(dir, Options{})
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		golden.Compare(t, filepath.Base(path)+".history", []byte(told(h)))
		must(t, l, openedAs(h.Incarnation+1), closedRecord())
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if r, err := Verify(dir, VerifyOptions{Checkpoint: &was.Head}); err != nil || r.Fault != nil || r.Records != was.Records+2 {
			t.Errorf("%s, gone on with: %+v, %v", path, r, err)
		}
	}
	if n == 0 {
		t.Fatal("no format is tested")
	}
}

// told is a history as text.
func told(h *History) string {
	var b strings.Builder
	fmt.Fprintf(&b, "records %d, head %s\nincarnation %d, closed %t, gaps %d, set aside %d\n", h.Records, h.Head, h.Incarnation, h.Closed, h.Gaps, h.SetAside)
	fmt.Fprintf(&b, "tasks %d, lease epoch %d, request number %d, approvals %v, void %v, latch %t %d\n",
		h.TasksOpened, h.LeaseEpoch, h.RequestNumber, h.Approvals, h.Voided, h.Latch.GetStopped(), h.Latch.GetNumber())
	for _, m := range h.Missions {
		fmt.Fprintf(&b, "mission %s, ended %t, last event %d, fingerprint %x, %s %s\n", m.ID, m.Ended, m.LastSeq, m.Fingerprint, m.Intent.GetCapability(), m.Intent.GetArgsJson())
		for _, e := range m.Events {
			fmt.Fprintf(&b, "  %d %s %d ms, %d readings\n", e.GetSeq(), e.GetKind(), e.GetAtMs(), len(e.GetEvidence()))
		}
	}
	return b.String()
}
