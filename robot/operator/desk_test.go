package operator_test

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot/operator"
)

const (
	pendingTTL = 5 * time.Minute
	grantTTL   = time.Minute
	start      = 3 * time.Hour // of the robot's own time; nothing begins at zero
)

// act is a call that needs a person, as the shell makes it.
func act(name string) *contractv1.Act {
	a := &contractv1.Act{
		Robot: "so101", ContractHash: "c0ffee", Capability: "pick", ArgsJson: fmt.Appendf(nil, `{"name":%q}`, name), LeaseEpoch: 3,
		Principal: "chat", TaskId: "task-7",
	}
	a.Displayed = operator.Display(a, because(), "")
	return a
}

func because() []*contractv1.Rejection {
	return []*contractv1.Rejection{{Code: "NEEDS_APPROVAL", Rule: "low", Field: "z_cm", Says: "z = 40 cm is above 31.5 cm"}}
}

func asked(t *testing.T, d *operator.Desk, now time.Duration, a *contractv1.Act) *contractv1.Pending {
	t.Helper()
	p, isNew, refusal := d.Ask(now, a, because())
	if refusal != nil || !isNew {
		t.Fatalf("asked: new %v, refused %v", isNew, refusal)
	}
	return p
}

func yes(p *contractv1.Pending) *contractv1.ApproveRequest {
	return &contractv1.ApproveRequest{Hash: p.GetHash(), Displayed: p.GetAct().GetDisplayed(), By: "ada"}
}

func no(p *contractv1.Pending) *contractv1.DenyRequest {
	return &contractv1.DenyRequest{Hash: p.GetHash(), By: "ada"}
}

func approved(t *testing.T, d *operator.Desk, now time.Duration, p *contractv1.Pending) {
	t.Helper()
	if _, refusal := d.Approve(now, yes(p)); refusal != nil {
		t.Fatal(refusal)
	}
}

// expect compares a refusal by code, rule and field.
func expect(t *testing.T, what string, r *reject.Rejection, code reject.Code, rule, field string) {
	t.Helper()
	if r == nil || r.Code != code || r.Rule != rule || r.Field != field {
		t.Errorf("%s: refused with %v; want %s by %s in %q", what, r, code, rule, field)
	}
}

// The same call waits once, whoever repeats it, under the number of its first request.
//
// Verifies: O03
func TestWhatIsAskedTwiceWaitsOnce(t *testing.T) {
	d := operator.NewDesk(operator.Config{FirstNumber: 41})
	first := asked(t, d, start, act("red cube"))
	again := act("red cube")
	again.Number = 7 // whatever stands there
	p, isNew, refusal := d.Ask(start+time.Second, again, because())
	if refusal != nil || isNew || p.GetHash() != first.GetHash() || again.GetNumber() != 41 || operator.Hash(again) != first.GetHash() {
		t.Errorf("asked again: %v, new %v, number %d, %v", p, isNew, again.GetNumber(), refusal)
	}
	if p.GetExpiresInMs() != (pendingTTL - time.Second).Milliseconds() {
		t.Errorf("asking again made it wait longer: %d ms", p.GetExpiresInMs())
	}
	second := asked(t, d, start, act("blue cube"))
	if second.GetAct().GetNumber() != 42 {
		t.Errorf("the second request has the number %d", second.GetAct().GetNumber())
	}
	list := d.List(start + 2*time.Second)
	if len(list) != 2 || list[0].GetHash() != first.GetHash() || list[0].GetApproved() || !proto.Equal(list[0].GetBecause()[0], because()[0]) {
		t.Errorf("the list is %v", list)
	}
	approved(t, d, start, first)
	if p, isNew, _ := d.Ask(start, act("red cube"), because()); isNew || !p.GetApproved() {
		t.Error("a call that was approved waits a second time")
	}
}

// Nobody who holds what the desk returned, or gave it, changes what is on it.
//
// Verifies: O02
func TestTheDeskIsNobodyElses(t *testing.T) {
	d := operator.NewDesk(operator.Config{})
	mine, why := act("red cube"), because()
	p, _, _ := d.Ask(start, mine, why)
	mine.ArgsJson[9], mine.Capability, why[0].Says = 'X', "place", "nothing"
	p.Act.Displayed, p.Hash, p.Approved = "harmless", "", true
	list := d.List(start)
	if !proto.Equal(list[0].GetBecause()[0], because()[0]) || list[0].GetAct().GetCapability() != "pick" || list[0].GetApproved() {
		t.Errorf("on the desk lies %v", list[0])
	}
	list[0].Act.ArgsJson[9] = 'X'
	if string(d.List(start)[0].GetAct().GetArgsJson()) != `{"name":"red cube"}` {
		t.Error("the list is the desk itself")
	}
}

// Every way in which an approval can be wrong has a rule of its own.
//
// Verifies: O04, F45, P34
func TestWhatCannotBeApproved(t *testing.T) {
	d := operator.NewDesk(operator.Config{})
	used, late, unused := asked(t, d, start, act("used")), asked(t, d, start, act("late")), asked(t, d, start, act("unused"))
	denied, withdrawn, superseded := asked(t, d, start, act("denied")), act("withdrawn"), act("superseded")
	withdrawn.LeaseEpoch, superseded.TaskId = 8, "task-6"
	gone, old := asked(t, d, start, withdrawn), asked(t, d, start, superseded)
	approved(t, d, start, used)
	if !d.Use(start, used.GetHash()) {
		t.Fatal("the approval is not good")
	}
	approved(t, d, start, unused)
	if _, refusal := d.Deny(start, no(denied)); refusal != nil {
		t.Fatal(refusal)
	}
	if list := d.Withdraw(8); len(list) != 1 || list[0].GetHash() != gone.GetHash() {
		t.Errorf("withdrawn: %v", list)
	}
	if list := d.WithdrawTask("task-6"); len(list) != 1 || list[0].GetHash() != old.GetHash() {
		t.Errorf("withdrawn with their task: %v", list)
	}
	waits := asked(t, d, start+pendingTTL-1, act("waits"))
	twice := asked(t, d, start+pendingTTL-1, act("twice"))
	approved(t, d, start+pendingTTL-1, twice)
	now := start + pendingTTL

	for name, c := range map[string]struct {
		q           *contractv1.ApproveRequest
		code        reject.Code
		rule, field string
	}{
		"used":             {yes(used), reject.Conflict, "approval_used", "hash"},
		"too late":         {yes(late), reject.Conflict, "approval_expired", "hash"},
		"approved, unused": {yes(unused), reject.Conflict, "approval_expired", "hash"},
		"denied":           {yes(denied), reject.Conflict, "approval_denied", "hash"},
		"another holder":   {yes(gone), reject.Conflict, "approval_withdrawn", "hash"},
		"another task":     {yes(old), reject.Conflict, "approval_withdrawn", "hash"},
		"twice":            {yes(twice), reject.Conflict, "approval_twice", "hash"},
		"unknown":          {&contractv1.ApproveRequest{Hash: operator.Hash(act("x")), By: "ada"}, reject.Conflict, "approval_unknown", "hash"},
		"no hash":          {&contractv1.ApproveRequest{By: "ada"}, reject.Conflict, "approval_unknown", "hash"},
		"a prefix":         {&contractv1.ApproveRequest{Hash: waits.GetHash()[:12], Displayed: waits.GetAct().GetDisplayed(), By: "ada"}, reject.Conflict, "approval_unknown", "hash"},
		"another text":     {&contractv1.ApproveRequest{Hash: waits.GetHash(), Displayed: waits.GetAct().GetDisplayed() + "\n", By: "ada"}, reject.Conflict, "approval_text", "displayed"},
		"no text":          {&contractv1.ApproveRequest{Hash: waits.GetHash(), By: "ada"}, reject.Conflict, "approval_text", "displayed"},
		"nobody":           {&contractv1.ApproveRequest{Hash: waits.GetHash(), Displayed: waits.GetAct().GetDisplayed()}, reject.MissingArgument, "", "by"},
		"a hidden name":    {&contractv1.ApproveRequest{Hash: waits.GetHash(), Displayed: waits.GetAct().GetDisplayed(), By: "a\u202eda"}, reject.Malformed, "", "by"},
		"nothing at all":   {nil, reject.MissingArgument, "", "by"},
	} {
		p, refusal := d.Approve(now, c.q)
		expect(t, name, refusal, c.code, c.rule, c.field)
		if p != nil {
			t.Errorf("%s: refused, and %v", name, p)
		}
	}
	if _, refusal := d.Deny(now, no(used)); refusal == nil || refusal.Rule != "approval_used" {
		t.Errorf("what was done can be denied: %v", refusal)
	}
	if _, refusal := d.Approve(now, yes(waits)); refusal != nil {
		t.Errorf("after all of that, the one that waits: %v", refusal)
	}
}

// Verifies: O05
func TestADeniedCallIsNotAskedAgainAtOnce(t *testing.T) {
	d := operator.NewDesk(operator.Config{DeniedFor: 10 * time.Second})
	p := asked(t, d, start, act("red cube"))
	approved(t, d, start, p)
	if _, refusal := d.Deny(start, no(p)); refusal != nil { // an approval is taken back by it too
		t.Fatal(refusal)
	}
	if d.Use(start, p.GetHash()) {
		t.Error("a denied approval was used")
	}
	_, _, refusal := d.Ask(start+10*time.Second-1, act("red cube"), because())
	expect(t, "asked again", refusal, reject.NeedsApproval, "approval_denied", "")
	if refusal.Retry != reject.Later || refusal.AfterMS != 1 {
		t.Errorf("when: %s after %d ms", refusal.Retry, refusal.AfterMS)
	}
	asked(t, d, start, act("blue cube"))
	asked(t, d, start+10*time.Second, act("red cube"))
}

// Verifies: O06
func TestTheDeskIsBounded(t *testing.T) {
	d := operator.NewDesk(operator.Config{MaxPending: 3, MaxGrants: 2, PendingTTL: time.Minute, GrantTTL: time.Hour})
	var waiting []*contractv1.Pending
	for i := range 3 {
		waiting = append(waiting, asked(t, d, start+time.Duration(i)*time.Second, act(fmt.Sprint(i))))
	}
	_, _, refusal := d.Ask(start+2*time.Second, act("3"), because())
	expect(t, "one too many", refusal, reject.Overloaded, "approvals_pending", "")
	if refusal.AfterMS != 58000 || refusal.Limit != "3" {
		t.Errorf("room comes after %d ms; limit %s", refusal.AfterMS, refusal.Limit)
	}
	if p, isNew, refusal := d.Ask(start+2*time.Second, act("1"), because()); refusal != nil || isNew || p.GetHash() != waiting[1].GetHash() {
		t.Errorf("what waits already is refused: %v", refusal)
	}
	for i, p := range waiting {
		_, refusal := d.Approve(start+2*time.Second, yes(p))
		if i < 2 && refusal != nil {
			t.Fatal(refusal)
		}
		if i == 2 {
			expect(t, "one approval too many", refusal, reject.Overloaded, "approvals_granted", "")
		}
	}
	for i := range 2 { // approvals take no place of what waits
		asked(t, d, start+2*time.Second, act(fmt.Sprint("more ", i)))
	}
	// Those that wait end by themselves, and make room, until too many of them are not collected.
	now, n := start, 0
	for range 20 {
		now += 2 * time.Minute
		for i := range 3 {
			if _, _, refusal = d.Ask(now, act(fmt.Sprint("round ", n, i)), because()); refusal != nil {
				expect(t, "unrecorded", refusal, reject.Overloaded, "approvals_unrecorded", "")
				break
			}
			n++
		}
	}
	if refusal == nil || n > 12 {
		t.Errorf("%d acts were forgotten before one was refused: %v", n, refusal)
	}
	if list := d.Expired(now); len(list) < 12 {
		t.Errorf("%d ended", len(list))
	}
	asked(t, d, now, act("after"))
}

// Verifies: O06
func TestWhatCannotBeShownIsNotAsked(t *testing.T) {
	long := string(make([]byte, 2000))
	for name, c := range map[string]struct {
		change func(*contractv1.Act)
		code   reject.Code
		field  string
	}{
		"no robot":           {func(a *contractv1.Act) { a.Robot = "" }, reject.MissingArgument, "robot"},
		"no contract":        {func(a *contractv1.Act) { a.ContractHash = "" }, reject.MissingArgument, "contract_hash"},
		"no capability":      {func(a *contractv1.Act) { a.Capability = "" }, reject.MissingArgument, "capability"},
		"no text":            {func(a *contractv1.Act) { a.Displayed = "" }, reject.TooLarge, "displayed"},
		"text too long":      {func(a *contractv1.Act) { a.Displayed = string(make([]byte, operator.MaxDisplayed+1)) }, reject.TooLarge, "displayed"},
		"text with controls": {func(a *contractv1.Act) { a.Displayed += "\x1b[2K" }, reject.Malformed, "displayed"},
		"text turned round":  {func(a *contractv1.Act) { a.Displayed += "\u202e" }, reject.Malformed, "displayed"},
		"text not UTF-8":     {func(a *contractv1.Act) { a.Displayed += "\xff" }, reject.Malformed, "displayed"},
		"long principal":     {func(a *contractv1.Act) { a.Principal = long }, reject.TooLarge, "principal"},
		"long task":          {func(a *contractv1.Act) { a.TaskId = long }, reject.TooLarge, "task_id"},
		"long arguments":     {func(a *contractv1.Act) { a.ArgsJson = make([]byte, 65<<10) }, reject.TooLarge, "args_json"},
		"a new field":        {func(a *contractv1.Act) { a.ProtoReflect().SetUnknown([]byte{0x98, 0x06, 0x01}) }, reject.Malformed, "act"},
	} {
		d := operator.NewDesk(operator.Config{})
		a := act("red cube")
		c.change(a)
		_, _, refusal := d.Ask(start, a, because())
		expect(t, name, refusal, c.code, "approval_act", c.field)
		if len(d.List(start)) != 0 {
			t.Errorf("%s: it is on the desk", name)
		}
	}
	d := operator.NewDesk(operator.Config{})
	_, _, refusal := d.Ask(start, nil, nil)
	expect(t, "no act", refusal, reject.Malformed, "approval_act", "act")
	_, _, refusal = d.Ask(start, act("x"), []*contractv1.Rejection{{Says: string(make([]byte, 17<<10))}})
	expect(t, "long reasons", refusal, reject.TooLarge, "approval_act", "because.says")
	_, _, refusal = d.Ask(start, act("x"), make([]*contractv1.Rejection, 65))
	expect(t, "many reasons", refusal, reject.TooLarge, "approval_act", "because")
}

// Numbers go on where the last process ended, and are never used twice.
//
// Verifies: O07
func TestNumbersNeverRepeat(t *testing.T) {
	seen := map[uint64]bool{}
	next := uint64(0)
	for range 3 { // three processes
		d := operator.NewDesk(operator.Config{FirstNumber: next})
		for i := range 5 {
			p := asked(t, d, start, act(fmt.Sprint(i)))
			n := p.GetAct().GetNumber()
			if n == 0 || seen[n] {
				t.Errorf("the number %d was used before", n)
			}
			seen[n], next = true, n+1
			approved(t, d, start, p)
			d.Use(start, p.GetHash())
		}
	}
	d := operator.NewDesk(operator.Config{FirstNumber: ^uint64(0)})
	asked(t, d, start, act("last"))
	_, _, refusal := d.Ask(start, act("beyond"), because())
	expect(t, "beyond the last", refusal, reject.Overloaded, "approval_numbers", "")
}

// What expired is told once, and time that runs back revives nothing.
//
// Verifies: O08, P34
func TestTimeEndsAnApprovalForGood(t *testing.T) {
	d := operator.NewDesk(operator.Config{})
	waits, granted := asked(t, d, start, act("waits")), asked(t, d, start, act("granted"))
	approved(t, d, start, granted)
	if list := d.Expired(start + grantTTL - 1); len(list) != 0 {
		t.Errorf("expired too early: %v", list)
	}
	if _, ok := d.Granted(start+grantTTL-1, act("granted")); !ok {
		t.Error("the approval is not good a nanosecond before its end")
	}
	if _, ok := d.Granted(start+grantTTL, act("granted")); ok {
		t.Error("the approval is good at its end")
	}
	for _, now := range []time.Duration{start, 0, -time.Hour} {
		if _, ok := d.Granted(now, act("granted")); ok || d.Use(now, granted.GetHash()) {
			t.Errorf("time ran back to %v, and the approval is good again", now)
		}
	}
	if left := d.List(start)[0].GetExpiresInMs(); left != (pendingTTL - grantTTL).Milliseconds() {
		t.Errorf("time ran back, and what waits has %d ms left", left)
	}
	list := d.Expired(start)
	if len(list) != 1 || list[0].GetHash() != granted.GetHash() || !list[0].GetApproved() || list[0].GetExpiresInMs() != 0 {
		t.Errorf("expired: %v", list)
	}
	list = d.Expired(start + pendingTTL)
	if len(list) != 1 || list[0].GetHash() != waits.GetHash() || list[0].GetApproved() {
		t.Errorf("expired: %v", list)
	}
	if list := d.Expired(start + 2*pendingTTL); len(list) != 0 {
		t.Errorf("told twice: %v", list)
	}
	d = operator.NewDesk(operator.Config{})
	last := time.Duration(1<<63 - 1)
	p := asked(t, d, last-time.Second, act("at the end of time"))
	if list := d.List(last - time.Millisecond); len(list) != 1 || p.GetExpiresInMs() != 1000 {
		t.Errorf("a time to live beyond the end of time: %v, %d ms", list, p.GetExpiresInMs())
	}
}
