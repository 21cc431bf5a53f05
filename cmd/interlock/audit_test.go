package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/robot/audit"
)

// stateFolder gives the test a state folder of its own.
func stateFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	t.Setenv("XDG_RUNTIME_DIR", dir)
	return filepath.Join(dir, "interlock")
}

func auditRecords() []*contractv1.AuditRecord {
	intent := &contractv1.Intent{MissionId: "m1", Capability: "move_to", ArgsJson: []byte(`{"x_cm":20}`), Principal: "tok\x1b[2Jen\u202e"}
	event := func(seq uint64, kind contractv1.EventKind) *contractv1.AuditRecord {
		e := &contractv1.Event{MissionId: "m1", Seq: seq, Kind: kind, Final: kind == contractv1.EventKind_FAILED, Reason: "timeout"}
		return &contractv1.AuditRecord{What: &contractv1.AuditRecord_Event{Event: e}}
	}
	return []*contractv1.AuditRecord{
		{What: &contractv1.AuditRecord_Opened{Opened: &contractv1.Opened{Robot: "so101", Incarnation: 1}}},
		{What: &contractv1.AuditRecord_Intent{Intent: intent}},
		event(1, contractv1.EventKind_ACCEPTED), event(2, contractv1.EventKind_STARTED), event(3, contractv1.EventKind_FAILED),
		{What: &contractv1.AuditRecord_Refused{Refused: &contractv1.Refused{MissionId: "m2", Capability: "fly", Rejections: []*contractv1.Rejection{{Code: "UNKNOWN_CAPABILITY"}}}}},
		{What: &contractv1.AuditRecord_Latch{Latch: &contractv1.LatchChange{Stopped: true, Number: 7, Reason: "test"}}},
		{What: &contractv1.AuditRecord_Closed{Closed: &contractv1.Closed{}}},
	}
}

// recorded writes a record in a folder and leaves the log open.
func recorded(t *testing.T, dir string) *audit.Log {
	t.Helper()
	l, _, err := audit.Open(dir, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	for _, r := range auditRecords() {
		putRecord(t, l, r)
	}
	return l
}

func putRecord(t *testing.T, l *audit.Log, r *contractv1.AuditRecord) {
	t.Helper()
	answer := make(chan error, 1)
	l.Append(r, func(err error) { answer <- err })
	if err := <-answer; err != nil {
		t.Fatal(err)
	}
}

// Each process on record says which program it was, however that was built, and how its driver's latch stood when it began:
// where nothing was ever stopped that is no reset.
//
// Verifies: U168
func TestTheRecordSaysWhichProgramAndWhichLatch(t *testing.T) {
	h := inhabited(t, "robots/so101-tabletop.yaml")
	_, out, _ := command(t, "audit", "show", "--kind", "opened")
	name := strings.TrimPrefix(version(), "program ")
	if name == "" || !strings.Contains(out, "process 1 of so101, program "+name+", contract ") {
		t.Errorf("program %q: %s", name, out)
	}
	latch := func(says string) {
		t.Helper()
		h.until("the latch is on record: "+says, func() bool {
			_, out, _ := command(t, "audit", "show", "--kind", "latch", "-n", "1")
			return strings.HasSuffix(out, "  "+says+"\n")
		})
	}
	latch("not stopped, and never was")
	if code, _, errOut := command(t, "stop"); code != exitFine {
		t.Fatal(errOut)
	}
	latch("stopped, number 1  interlock stop")
	if code, _, errOut := command(t, "reset", "1"); code != exitFine {
		t.Fatal(errOut)
	}
	latch("reset, number 1")
}

// Show prints the record of the only robot, of a named one or of a folder, filtered, while the robot has it open; nothing in
// it can command a terminal.
//
// Verifies: I12
func TestAuditShow(t *testing.T) {
	state := stateFolder(t)
	dir := filepath.Join(state, "so101.audit")
	recorded(t, dir)
	for name, c := range map[string]struct {
		line  []string
		lines int
		says  string
	}{
		"the only one": {nil, 8, "move_to"}, "by name": {[]string{"so101"}, 8, "so101"}, "a folder": {[]string{dir}, 8, "token"},
		"a mission": {[]string{"--mission", "m1"}, 4, "FAILED"}, "a kind": {[]string{"--kind", "event"}, 3, "timeout"},
		"the last": {[]string{"-n", "2"}, 2, "7"}, "the last of a kind": {[]string{"-n", "1", "--kind", "event"}, 1, "FAILED"},
		"refusals": {[]string{"--kind", "refused"}, 1, "UNKNOWN_CAPABILITY"}, "none": {[]string{"--mission", "m9"}, 0, ""},
	} {
		code, out, errOut := command(t, append([]string{"audit", "show"}, c.line...)...)
		says := strings.NewReplacer(`\x1b[2J`, "", `\u{202e}`, "").Replace(out)
		if code != exitFine || strings.Count(out, "\n") != c.lines || !strings.Contains(says, c.says) || strings.ContainsAny(out, "\x1b\u202e") {
			t.Errorf("%s: exit %d, %s%s", name, code, out, errOut)
		}
		code, out, _ = command(t, append([]string{"audit", "show", "--json"}, c.line...)...)
		if code != exitFine || strings.Count(out, "\n") != c.lines || strings.ContainsAny(out, "\x1b\u202e") {
			t.Errorf("%s: exit %d, %s", name, code, out)
		}
		for text := range strings.Lines(out) {
			var l auditLine
			if err := json.Unmarshal([]byte(text), &l); err != nil || len(l.Hash) != 64 || l.Seq == 0 || l.Line == 0 || !json.Valid(l.Record) {
				t.Errorf("%s: %v: %s", name, err, text)
			}
		}
	}
}

// Verify exits with 0 and a checkpoint, or with 4 and the place of the fault, which is said as such where it is no line.
//
// Verifies: I13, P28, U127
func TestAuditVerify(t *testing.T) {
	dir := filepath.Join(stateFolder(t), "so101.audit")
	l := recorded(t, dir)
	code, out, errOut := command(t, "audit", "verify")
	_, checkpoint, _ := strings.Cut(strings.TrimSpace(out), "checkpoint ")
	if code != exitFine || !strings.HasPrefix(checkpoint, "8:") {
		t.Fatalf("exit %d, %s%s", code, out, errOut)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := command(t, "audit", "verify", "so101", "--checkpoint", checkpoint); code != exitFine {
		t.Errorf("against its own checkpoint: exit %d, %s", code, out)
	}
	path := filepath.Join(dir, "00000001.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte{'\n'})
	flipped := bytes.Clone(text)
	flipped[len(lines[0])+50] ^= 1
	for name, c := range map[string]struct {
		text []byte
		flag []string
		rule audit.Rule
		line int

		place string
	}{
		"whole":         {text, nil, "", 0, ""},
		"flipped":       {flipped, nil, audit.RuleHash, 2, "00000001.jsonl, line 2, record 2: "},
		"cut in a line": {text[:len(text)-3], nil, audit.RuleTorn, 0, "the end of 00000001.jsonl, where record 8 would stand: "},
		"cut":           {bytes.Join(lines[:6], nil), []string{"--checkpoint", checkpoint}, audit.RuleCheckpoint, 0, "the record as a whole: "},
		"another one":   {text, []string{"--checkpoint", "3:" + strings.Repeat("0", 64)}, audit.RuleCheckpoint, 3, "00000001.jsonl, line 3, record 3: "},
	} {
		if err := os.WriteFile(path, c.text, 0o600); err != nil {
			t.Fatal(err)
		}
		want := exitFine
		if c.rule != "" {
			want = exitNotDone
		}
		line := append([]string{"audit", "verify", dir}, c.flag...)
		code, out, errOut := command(t, line...)
		if code != want || strings.Contains(out, "FAULT") != (c.rule != "") {
			t.Errorf("%s: exit %d, %s%s", name, code, out, errOut)
		}
		if says := out + errOut; strings.Contains(says, "line 0") || strings.Contains(says, ":0:") || !strings.Contains(says, c.place) {
			t.Errorf("%s: the place is told as %q, want %q", name, says, c.place)
		}
		code, out, _ = command(t, append(line, "--json")...)
		var r struct{ Fault *audit.Fault }
		if err := json.Unmarshal([]byte(out), &r); err != nil || code != want || (r.Fault != nil) != (c.rule != "") {
			t.Fatalf("%s: exit %d, %v: %s", name, code, err, out)
		}
		if r.Fault != nil && (r.Fault.Rule != c.rule || r.Fault.Line != c.line) {
			t.Errorf("%s: %+v", name, r.Fault)
		}
		shows := want
		if c.rule == audit.RuleCheckpoint {
			shows = exitFine
		}
		if code, _, errOut := command(t, "audit", "show", dir); code != shows {
			t.Errorf("show of %s: exit %d, %s", name, code, errOut)
		}
	}
}

// Verifies: I12, I13
func TestAuditRefusesBadInput(t *testing.T) {
	state := stateFolder(t)
	if code, _, errOut := command(t, "audit", "show"); code != exitBadInput {
		t.Errorf("without any record: exit %d, %s", code, errOut)
	}
	recorded(t, filepath.Join(state, "so101.audit"))
	for name, line := range map[string][]string{
		"nobody": {"show", "nobody"}, "an empty folder": {"verify", t.TempDir()}, "no folder": {"verify", "nowhere/at/all"},
		"a kind": {"show", "--kind", "dream"}, "a number": {"show", "-n", "-1"}, "two": {"show", "a", "b"},
		"a checkpoint": {"verify", "--checkpoint", "12"}, "an empty checkpoint": {"verify", "--checkpoint", ""},
		"a part of audit": {"shwo"},
	} {
		if code, out, errOut := command(t, append([]string{"audit"}, line...)...); code != exitBadInput {
			t.Errorf("%s: exit %d: %s%s", name, code, out, errOut)
		}
	}
	recorded(t, filepath.Join(state, "other.audit"))
	if code, _, errOut := command(t, "audit", "verify"); code != exitBadInput || !strings.Contains(errOut, "other, so101") {
		t.Errorf("two records: exit %d, %s", code, errOut)
	}
	if _, out, _ := command(t, "__complete", "audit", "verify", ""); !strings.Contains(out, "other\nso101\n") {
		t.Errorf("completion: %s", out)
	}
	elsewhere := entry{Name: "third", Audit: filepath.Join(t.TempDir(), "record")}
	if err := elsewhere.write(); err != nil {
		t.Fatal(err)
	}
	recorded(t, elsewhere.Audit)
	if code, out, errOut := command(t, "audit", "verify", "third"); code != exitFine || !strings.Contains(out, elsewhere.Audit) {
		t.Errorf("a record elsewhere: exit %d, %s%s", code, out, errOut)
	}
	if _, out, _ := command(t, "__complete", "audit", "show", "--kind", ""); !strings.Contains(out, "intent\n") {
		t.Errorf("completion: %s", out)
	}
}

// watched is an output that tells when it holds a text.
type watched struct {
	mu    sync.Mutex
	text  bytes.Buffer
	until string
	held  chan struct{}
	told  bool
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.text.Write(b)
	if !w.told && strings.Contains(w.text.String(), w.until) {
		w.told = true
		close(w.held)
	}
	return n, err
}

// With --follow show goes on as the robot writes, until it is interrupted.
//
// Verifies: I12
func TestAuditFollow(t *testing.T) {
	dir := filepath.Join(stateFolder(t), "so101.audit")
	l := recorded(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	out := &watched{until: "number 9", held: make(chan struct{})}
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, []string{"audit", "show", "-f", "-n", "1", "--kind", "latch"}, out, out) }()
	for n := uint64(8); n < 10; n++ {
		putRecord(t, l, &contractv1.AuditRecord{What: &contractv1.AuditRecord_Latch{Latch: &contractv1.LatchChange{Number: n}}})
	}
	select {
	case <-out.held:
	case <-time.After(time.Minute):
		t.Error("the new records are not shown")
	}
	cancel()
	if code := <-ended; code != exitFine {
		t.Errorf("exit %d", code)
	}
	if text := out.text.String(); !strings.Contains(text, "number 9") || strings.Contains(text, "move_to") {
		t.Errorf("%s", text)
	}
}

// A hash that does not match is shown whole, beside the one that the line claims: they may differ in their last digit only.
//
// Verifies: U127
func TestAuditVerifyShowsWhichHashesDiffer(t *testing.T) {
	dir := filepath.Join(stateFolder(t), "so101.audit")
	if err := recorded(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "00000001.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte{'\n'})
	last := len(lines[0]) + len(lines[1]) - len(`0"}`+"\n")
	digit := text[last]
	text[last] = map[bool]byte{true: '1', false: '0'}[digit == '0']
	claimed := string(text[last-63 : last+1])
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	truly := claimed[:63] + string(digit)
	code, out, _ := command(t, "audit", "verify", dir)
	if code != exitNotDone || !strings.Contains(out, claimed) || !strings.Contains(out, truly) {
		t.Errorf("exit %d: %s has neither %s nor %s", code, out, claimed, truly)
	}
}
