package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	contractv1 "interlock/contract/v1"
)

// disked is a record of these lines as they are, whatever they say, Lost records included.
func disked(t *testing.T, rs ...*contractv1.AuditRecord) *memory {
	t.Helper()
	d, head, b := newMemory(), Checkpoint{}, []byte(nil)
	for _, r := range rs {
		text, err := recordText(r)
		if err != nil {
			t.Fatal(err)
		}
		b = appendLine(b, &head, text)
	}
	d.put(segmentFile(1), b)
	return d
}

func lostAfter(seq uint64) *contractv1.AuditRecord {
	return &contractv1.AuditRecord{What: &contractv1.AuditRecord_Lost{Lost: &contractv1.Lost{Why: "test", AfterSeq: seq}}}
}

func spoiled(change func(*contractv1.Event)) *contractv1.AuditRecord {
	r := proto.CloneOf(event("m", 3, contractv1.EventKind_VERIFIED))
	change(r.GetEvent())
	return r
}

const (
	accepted    = contractv1.EventKind_ACCEPTED
	started     = contractv1.EventKind_STARTED
	phase       = contractv1.EventKind_PHASE
	arrived     = contractv1.EventKind_ARRIVED
	verified    = contractv1.EventKind_VERIFIED
	failed      = contractv1.EventKind_FAILED
	unverified  = contractv1.EventKind_UNVERIFIED
	cancelling  = contractv1.EventKind_CANCELLING
	cancelled   = contractv1.EventKind_CANCELLED
	aborted     = contractv1.EventKind_ABORTED
	interrupted = contractv1.EventKind_INTERRUPTED
)

// begun is a mission that moves, with more behind it.
func begun(more ...*contractv1.AuditRecord) []*contractv1.AuditRecord {
	return slices.Concat([]*contractv1.AuditRecord{openedAs(1), intentOf("m"), event("m", 1, accepted), event("m", 2, started)}, more)
}

func used() *contractv1.AuditRecord { return approvalChange(contractv1.ApprovalChange_USED, "h", 1) }

// What a robot may do verifies.
//
// Verifies: I08
func TestWhatRecordsMaySay(t *testing.T) {
	type records = []*contractv1.AuditRecord
	for name, rs := range map[string]records{
		"a whole life":                 begun(event("m", 3, phase), event("m", 4, arrived), event("m", 5, verified)),
		"a cancelled one":              begun(event("m", 3, cancelling), event("m", 4, cancelled)),
		"two missions at once":         begun(intentOf("n"), event("n", 1, started), event("m", 3, failed), event("n", 2, aborted)),
		"refused after its intent":     records{openedAs(1), intentOf("m"), voidOf("m")},
		"begun again after that":       records{openedAs(1), intentOf("m"), voidOf("m"), intentOf("m"), event("m", 1, started), event("m", 2, failed)},
		"interrupted by a restart":     begun(openedAs(2), event("m", 3, interrupted)),
		"cancelling over a restart":    begun(event("m", 3, cancelling), openedAs(2), event("m", 4, aborted)),
		"processes that left no line":  begun(openedAs(7)),
		"events that a sick disk lost": begun(lostAfter(4), event("m", 9, aborted)),
		"an end that was lost":         begun(lostAfter(4), openedAs(2), event("m", 3, interrupted)),
		"accepted and never begun":     records{openedAs(1), event("m", 1, accepted), event("m", 2, aborted)},
		"an approval":                  records{openedAs(1), intentBy("m", "h"), used(), intentBy("n", "i")},
		"an approval of a void intent": records{openedAs(1), intentBy("m", "h"), voidOf("m"), intentBy("n", "h"), used()},
		"a refusal":                    records{refusedRecord(1), refusedRecord(1)},
	} {
		d := disked(t, rs...)
		if r, err := verify(d, nil); err != nil || r.Fault != nil {
			t.Errorf("%s: %v, %v", name, r.Fault, err)
		}
		l, _, err := Open("record", Options{Disk: d})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_ = l.Close()
	}
}

// wrong is a record whose line at breaks the rule.
type wrong struct {
	records []*contractv1.AuditRecord
	at      uint64
	rule    Rule
}

// found holds Verify and Open to the first line that breaks a rule.
func (c wrong) found(t *testing.T) {
	t.Helper()
	d := disked(t, c.records...)
	r, err := verify(d, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Fault == nil || r.Fault.Rule != c.rule || r.Fault.Seq != c.at || r.Fault.Line != int(c.at) || r.Fault.File != segmentFile(1) {
		t.Errorf("%+v, want %s at %d", r.Fault, c.rule, c.at)
	}
	var broken *Broken
	l, _, err := Open("record", Options{Disk: d})
	if !errors.As(err, &broken) || broken.Fault.Rule != c.rule {
		t.Errorf("opened: %v", err)
		_ = l.Close()
	}
}

// Motion without a durable intent before it, intents and approvals too many, and processes that count backwards do not
// verify, whoever made the chain, and a robot does not add to them.
//
// Verifies: P26, I08
func TestIntents(t *testing.T) {
	type records = []*contractv1.AuditRecord
	for name, c := range map[string]wrong{
		"motion without intent":        {records{openedAs(1), event("m", 1, accepted), event("m", 2, started)}, 3, RuleIntent},
		"motion before its intent":     {records{openedAs(1), event("m", 1, started), intentOf("m")}, 2, RuleIntent},
		"another mission's intent":     {records{openedAs(1), intentOf("m"), event("n", 1, started)}, 3, RuleIntent},
		"motion after a void":          {records{openedAs(1), intentOf("m"), voidOf("m"), event("m", 1, started)}, 4, RuleIntent},
		"a phase without intent":       {records{openedAs(1), event("m", 1, phase)}, 2, RuleIntent},
		"an arrival without intent":    {records{openedAs(1), event("m", 1, arrived)}, 2, RuleIntent},
		"a success without intent":     {records{openedAs(1), event("m", 1, verified)}, 2, RuleIntent},
		"a measurement without intent": {records{openedAs(1), event("m", 1, unverified)}, 2, RuleIntent},
		"two intents":                  {begun(intentOf("m")), 5, RuleIntent},
		"an intent after the end":      {begun(event("m", 3, failed), intentOf("m")), 6, RuleIntent},
		"two intents over a restart":   {records{openedAs(1), intentOf("m"), openedAs(2), intentOf("m")}, 4, RuleIntent},
		"a void of nothing":            {records{openedAs(1), voidOf("m")}, 2, RuleVoid},
		"a second void":                {records{openedAs(1), intentOf("m"), voidOf("m"), voidOf("m")}, 4, RuleVoid},
		"a void after the start":       {begun(voidOf("m")), 5, RuleVoid},
		"a void after the end":         {records{openedAs(1), intentOf("m"), event("m", 1, aborted), voidOf("m")}, 4, RuleVoid},
		"an old process":               {records{openedAs(2), openedAs(2)}, 2, RuleIncarnation},
		"no process":                   {records{openedAs(0)}, 1, RuleIncarnation},
		"an approval twice":            {records{openedAs(1), intentBy("m", "h"), intentBy("n", "h")}, 3, RuleApproval},
		"an approval used twice":       {records{openedAs(1), used(), used()}, 3, RuleApproval},
		"a gap elsewhere":              {begun(lostAfter(2)), 5, RuleLost},
	} {
		t.Run(name, c.found)
	}
}

// Events with a gap, behind an end, or of a mission that a new process took up again do not verify.
//
// Verifies: P20, I08
func TestEventsOfAMission(t *testing.T) {
	type records = []*contractv1.AuditRecord
	for name, c := range map[string]wrong{
		"a gap":                         {begun(event("m", 4, arrived)), 5, RuleEventSeq},
		"an event twice":                {begun(event("m", 2, started)), 5, RuleEventSeq},
		"no first event":                {records{openedAs(1), intentOf("m"), event("m", 2, started)}, 3, RuleEventSeq},
		"an event zero":                 {records{openedAs(1), intentOf("m"), event("m", 0, accepted)}, 3, RuleEventSeq},
		"a second gap after a loss":     {begun(lostAfter(4), event("m", 9, phase), event("m", 11, aborted)), 7, RuleEventSeq},
		"going back after a loss":       {begun(lostAfter(4), event("m", 2, phase)), 6, RuleEventSeq},
		"a gap of a mission begun late": {records{lostAfter(0), openedAs(1), intentOf("m"), event("m", 2, started)}, 4, RuleEventSeq},
		"a second end":                  {begun(event("m", 3, failed), event("m", 4, verified)), 6, RuleEnd},
		"an event after the end":        {begun(event("m", 3, aborted), event("m", 4, phase)), 6, RuleEnd},
		"an end over a restart":         {begun(event("m", 3, failed), openedAs(2), event("m", 4, interrupted)), 7, RuleEnd},
		"an end after a loss":           {begun(event("m", 3, failed), lostAfter(5), event("m", 9, interrupted)), 7, RuleEnd},
		"an end that says it is none":   {begun(spoiled(func(e *contractv1.Event) { e.Final = false })), 5, RuleEnd},
		"a phase that says it ends":     {begun(spoiled(func(e *contractv1.Event) { e.Kind = phase })), 5, RuleEnd},
		"an event of no kind":           {begun(spoiled(func(e *contractv1.Event) { e.Kind = 0 })), 5, RuleRecord},
		"going on after a restart":      {begun(openedAs(2), event("m", 3, phase)), 6, RuleResumed},
		"a success after a restart":     {begun(event("m", 3, arrived), openedAs(2), event("m", 4, verified)), 7, RuleResumed},
		"started after a restart":       {records{openedAs(1), intentOf("m"), openedAs(2), event("m", 1, started)}, 4, RuleResumed},
		"an intent after a restart":     {records{openedAs(1), event("m", 1, accepted), openedAs(2), intentOf("m")}, 4, RuleResumed},
	} {
		t.Run(name, c.found)
	}
}

// A success that does not say what was measured, by whom, when and against what does not verify.
//
// Verifies: P13, I08
func TestSuccessNeedsEvidence(t *testing.T) {
	for name, c := range map[string]wrong{
		"no evidence":         {begun(spoiled(func(e *contractv1.Event) { e.Evidence = nil })), 5, RuleEvidence},
		"no fact":             {begun(spoiled(func(e *contractv1.Event) { e.Evidence[0].Fact = "" })), 5, RuleEvidence},
		"no condition":        {begun(spoiled(func(e *contractv1.Event) { e.Evidence[0].Condition = "" })), 5, RuleEvidence},
		"no witness":          {begun(spoiled(func(e *contractv1.Event) { e.Evidence[0].Witness = "" })), 5, RuleEvidence},
		"no value":            {begun(spoiled(func(e *contractv1.Event) { e.Evidence[0].Observed = "" })), 5, RuleEvidence},
		"no threshold":        {begun(spoiled(func(e *contractv1.Event) { e.Evidence[0].Threshold = "" })), 5, RuleEvidence},
		"evidence of before":  {begun(spoiled(func(e *contractv1.Event) { e.Evidence[0].SourceAtMs = 101 })), 5, RuleEvidence},
		"evidence from later": {begun(spoiled(func(e *contractv1.Event) { e.Evidence[0].AgeMs = -1 })), 5, RuleEvidence},
	} {
		t.Run(name, c.found)
	}
}

// A line is written in one way only, and every other way is told by its rule.
//
// Verifies: P28, I07
func TestForms(t *testing.T) {
	var head Checkpoint
	good := strings.TrimSuffix(string(appendLine(nil, &head, []byte(`{"latch":{"number":"1"}}`))), "\n")
	resealed := func(covered string) string {
		var c Checkpoint
		line := string(appendLine(nil, &c, []byte(`{}`)))
		fresh := digestOf(covered)
		return covered + line[len(line)-hashSize-1:len(line)-1-hexSize-len(lineEnd)] + fresh + lineEnd
	}
	covered := good[:len(good)-hashSize]
	if resealed(covered) != good {
		t.Fatal(resealed(covered), good)
	}
	replaced := func(old, with string) string { return resealed(strings.Replace(covered, old, with, 1)) }
	for name, c := range map[string]struct {
		line string
		rule Rule
	}{
		"empty":                {"", RuleForm},
		"short":                {"{}", RuleForm},
		"no hash":              {covered + "}", RuleForm},
		"an upper-case hash":   {covered + beforeHash + strings.ToUpper(digestOf(covered)) + lineEnd, RuleHash},
		"another hash":         {covered + beforeHash + digestOf("x") + lineEnd, RuleHash},
		"space before the end": {covered + beforeHash + digestOf(covered) + `" }`, RuleForm},
		"a carriage return":    {good + "\r", RuleForm},
		"a leading zero":       {replaced(`"seq":1`, `"seq":01`), RuleForm},
		"a sign":               {replaced(`"seq":1`, `"seq":+1`), RuleForm},
		"no number":            {replaced(`"seq":1`, `"seq":`), RuleForm},
		"a huge number":        {replaced(`"seq":1`, `"seq":99999999999999999999`), RuleForm},
		"a space":              {replaced(`{"seq"`, `{ "seq"`), RuleForm},
		"other order":          {replaced(`{"seq":1,"prev"`, `{"prev":"","seq"`), RuleForm},
		"an upper-case prev":   {replaced(`"prev":"0`, `"prev":"A`), RuleForm},
		"a prev of no digits":  {replaced(`"prev":"0`, `"prev":"g`), RuleForm},
		"a list":               {replaced(`{"latch":{"number":"1"}}`, `[]`), RuleForm},
		"no record":            {replaced(`{"latch":{"number":"1"}}`, ``), RuleForm},
		"null":                 {replaced(`{"latch":{"number":"1"}}`, `null`), RuleForm},
		"nothing said":         {replaced(`{"latch":{"number":"1"}}`, `{"wall_ms":"1"}`), RuleRecord},
		"an unknown field":     {replaced(`{"latch":{"number":"1"}}`, `{"dream":{}}`), RuleRecord},
		"a field twice":        {replaced(`{"number":"1"}`, `{"number":"1","number":"1"}`), RuleRecord},
		"two kinds":            {replaced(`{"latch":{"number":"1"}}`, `{"latch":{},"closed":{}}`), RuleRecord},
		"a wrong type":         {replaced(`"1"`, `true`), RuleRecord},
		"a comment":            {replaced(`{"number"`, `{/**/"number"`), RuleRecord},
		"more behind":          {replaced(`}}`, `}} {}`), RuleRecord},
	} {
		if _, f := readLine([]byte(c.line)); f == nil || f.Rule != c.rule {
			t.Errorf("%s: %v, want %s", name, f, c.rule)
		}
	}
	if l, f := readLine([]byte(good)); f != nil || l.seq != 1 || !json.Valid(l.text) || !bytes.Equal(l.hash[:], head.Hash[:]) {
		t.Errorf("%+v, %v", l, f)
	}
}

// A checkpoint reads as it is printed, and nothing else is one.
//
// Verifies: P28
func TestCheckpoints(t *testing.T) {
	d := written(t, lives(7))
	head := sound(t, d).Head
	if got, err := ParseCheckpoint(head.String()); err != nil || got != head {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{
		"", ":", "7", head.String() + "0", head.String()[:20], "x" + head.String(), "0" + head.String(), strings.ToUpper(head.String()),
		"-1:" + strings.Repeat("0", 64), "7:" + strings.Repeat("g", 64), " " + head.String(),
	} {
		if c, err := ParseCheckpoint(text); err == nil || c != (Checkpoint{}) {
			t.Errorf("%q is %v", text, c)
		}
	}
	zero, odd := Checkpoint{}, Checkpoint{Hash: [32]byte{1}}
	if r, err := verify(d, &zero); err != nil || r.Fault != nil {
		t.Errorf("against the beginning: %v", r.Fault)
	}
	if r, err := verify(d, &odd); err != nil || r.Fault == nil {
		t.Error("against a record of number 0")
	}
}
