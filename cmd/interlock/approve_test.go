package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot/operator"
)

// standIn is a robot as far as a person reaches it: the real desk, and a take and tasks with the rules of a robot.
type standIn struct {
	mu       sync.Mutex
	desk     *operator.Desk
	now      time.Duration
	holder   string // of the lease
	mission  string // that moves
	takenBy  string
	epoch    uint64
	resolved []*contractv1.ResolveRequest
	swap     bool // it lists calls under hashes of others
}

func (s *standIn) locked() func() {
	s.mu.Lock()
	return s.mu.Unlock
}

func orRefused[T any](v *T, refusal *reject.Rejection) (*T, error) {
	if refusal != nil {
		return nil, *refusal
	}
	return v, nil
}

func (s *standIn) ListPending(context.Context, *contractv1.ListPendingRequest) (*contractv1.PendingList, error) {
	defer s.locked()()
	list := s.desk.List(s.now)
	if s.swap && len(list) > 1 {
		list[0].Act, list[1].Act = list[1].GetAct(), list[0].GetAct()
	}
	return &contractv1.PendingList{Pending: list, TakenBy: s.takenBy}, nil
}

func (s *standIn) Approve(_ context.Context, q *contractv1.ApproveRequest) (*contractv1.Pending, error) {
	defer s.locked()()
	p, refusal := s.desk.Approve(s.now, q)
	return orRefused(p, refusal)
}

func (s *standIn) Deny(_ context.Context, q *contractv1.DenyRequest) (*contractv1.Pending, error) {
	defer s.locked()()
	p, refusal := s.desk.Deny(s.now, q)
	return orRefused(p, refusal)
}

func (s *standIn) Take(_ context.Context, q *contractv1.TakeRequest) (*contractv1.TakeReply, error) {
	defer s.locked()()
	if s.takenBy != "" && s.takenBy != q.GetBy() {
		return nil, reject.New(reject.Busy, "another person has the robot: "+s.takenBy).By("taken")
	}
	s.epoch++
	r := &contractv1.TakeReply{TakenBy: q.GetBy(), Epoch: s.epoch, WasHeldBy: s.holder, EndedMission: s.mission}
	s.takenBy, s.holder, s.mission = q.GetBy(), "", ""
	return r, nil
}

func (s *standIn) GiveBack(_ context.Context, q *contractv1.GiveBackRequest) (*contractv1.TakeReply, error) {
	defer s.locked()()
	if s.takenBy == "" || q.GetEpoch() != s.epoch {
		return nil, reject.New(reject.Conflict, "this take has ended").In("epoch")
	}
	s.takenBy = ""
	return &contractv1.TakeReply{Epoch: s.epoch}, nil
}

func (s *standIn) Resolve(_ context.Context, q *contractv1.ResolveRequest) (*contractv1.Task, error) {
	defer s.locked()()
	if q.GetTaskId() != "task-7" {
		return nil, reject.New(reject.NotInEnum, "there is no such task").In("task_id")
	}
	s.resolved = append(s.resolved, q)
	return &contractv1.Task{
		TaskId: q.GetTaskId(), State: contractv1.TaskState_TASK_UNVERIFIED,
		Resolution: &contractv1.Resolution{By: q.GetBy(), Achieved: q.GetAchieved(), Note: q.GetNote()},
	}, nil
}

// ask lets a call wait, as the robot does.
func (s *standIn) ask(t *testing.T, name string) *contractv1.Pending {
	t.Helper()
	defer s.locked()()
	because := []*contractv1.Rejection{{Code: "NOT_LICENSED", Field: "name", Says: "the request does not allow it"}}
	a := &contractv1.Act{
		Robot: "so101", ContractHash: "c0ffee", Capability: "pick", ArgsJson: fmt.Appendf(nil, `{"name":%q}`, name), LeaseEpoch: 3, Principal: "chat", TaskId: "task-7",
	}
	a.Displayed = operator.Display(a, because, "")
	p, isNew, refusal := s.desk.Ask(s.now, a, because)
	if refusal != nil || !isNew {
		t.Fatal(isNew, refusal)
	}
	return p
}

// granted reports whether the call may pass.
func (s *standIn) granted(p *contractv1.Pending) bool {
	defer s.locked()()
	hash, ok := s.desk.Granted(s.now, p.GetAct())
	return ok && hash == p.GetHash()
}

// stands puts the robot on a socket, and its entry where commands look for it.
func stands(t *testing.T) (s *standIn, addr string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "il") //nolint:usetesting // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("XDG_RUNTIME_DIR", dir)
	addr = "unix:" + filepath.Join(dir, "p")
	enter(t, "so101", addr)
	s = &standIn{desk: operator.NewDesk(operator.Config{}), now: time.Hour}
	l, err := operator.Listen(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- operator.Serve(ctx, l, s) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s, addr
}

// enter writes a robot's entry.
func enter(t *testing.T, name, person string) {
	t.Helper()
	path, err := runtimeFile(name + entrySuffix)
	if err == nil {
		err = writeWhole(path, map[string]any{"name": name, "address": "127.0.0.1:1", "person": person})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// said decodes the lines of a command's JSON.
func said[T any](t *testing.T, out string) (all []T) {
	t.Helper()
	for l := range strings.Lines(out) {
		var v T
		d := json.NewDecoder(strings.NewReader(l))
		d.DisallowUnknownFields()
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%v in %q", err, l)
		}
		all = append(all, v)
	}
	return all
}

// Verifies: O20
func TestApproveListsAndDecides(t *testing.T) {
	s, _ := stands(t)
	if code, out, errOut := command(t, "approve"); code != exitFine || !strings.Contains(out, "nothing waits") {
		t.Errorf("nothing waits: exit %d, %q %q", code, out, errOut)
	}
	red, blue, green := s.ask(t, "red cube"), s.ask(t, "blue cube"), s.ask(t, "green cube")
	s.takenBy = "ada"
	_, out, _ := command(t, "approve", "so101", "--list")
	for _, part := range []string{red.GetHash()[:12], blue.GetHash()[:12], `    so101 is asked to pick`, `      name: "red cube"`, "5m0s left", "taken by ada"} {
		if !strings.Contains(out, part) {
			t.Errorf("the list has no %q:\n%s", part, out)
		}
	}
	code, out, _ := command(t, "approve", "--json")
	list := said[pendingSaid](t, out)
	if code != exitFine || len(list) != 3 || list[0].Hash != red.GetHash() || list[0].State != "waits" || string(list[0].Args) != `{"name":"red cube"}` ||
		list[0].Displayed != red.GetAct().GetDisplayed() || list[0].Because[0].Code != "NOT_LICENSED" || list[0].ExpiresInMS != 300_000 || list[0].Number != 1 {
		t.Errorf("exit %d, %+v", code, list)
	}
	code, out, errOut := command(t, "approve", "so101", red.GetHash()[:6], "--yes", "--json", "--by", "ada")
	if got := said[pendingSaid](t, out); code != exitFine || len(got) != 1 || got[0].State != "approved" || got[0].ExpiresInMS != 60_000 || !s.granted(red) || s.granted(blue) {
		t.Errorf("exit %d, %+v, %s", code, got, errOut)
	}
	code, out, errOut = command(t, "approve", strings.ToUpper(blue.GetHash()), "--yes", "--deny")
	if code != exitFine || !strings.Contains(out, "denied") || len(s.desk.List(s.now)) != 2 {
		t.Errorf("exit %d, %q %q", code, out, errOut)
	}
	code, _, errOut = command(t, "approve", red.GetHash()[:12], "--yes")
	if code != exitBadInput || !strings.Contains(errOut, "CONFLICT") {
		t.Errorf("approved twice: exit %d, %q", code, errOut)
	}
	s.now += time.Hour
	if code, _, errOut = command(t, "approve", green.GetHash()[:12], "--yes"); code != exitBadInput || s.granted(green) {
		t.Errorf("too late: exit %d, %q", code, errOut)
	}
}

// Verifies: O21
func TestApproveRefusesWhatIsUnclear(t *testing.T) {
	s, addr := stands(t)
	p := s.ask(t, "red cube")
	for name, c := range map[string]struct {
		line []string
		code int
		says string
	}{
		"no terminal":       {[]string{"approve", p.GetHash()}, exitPerson, "terminal"},
		"no terminal, deny": {[]string{"approve", p.GetHash(), "--deny"}, exitPerson, "terminal"},
		"no terminal, keys": {[]string{"approve", "--watch"}, exitPerson, "terminal"},
		"yes to what":       {[]string{"approve", "--yes"}, exitBadInput, "which call"},
		"deny what":         {[]string{"approve", "so101", "--deny"}, exitBadInput, "which call"},
		"watch and yes":     {[]string{"approve", "--watch", "--yes"}, exitBadInput, "which call"},
		"list and hash":     {[]string{"approve", p.GetHash(), "--list"}, exitBadInput, "exclude"},
		"list and watch":    {[]string{"approve", "--list", "--watch"}, exitBadInput, "exclude"},
		"too few digits":    {[]string{"approve", "so101", p.GetHash()[:5], "--yes"}, exitBadInput, "6 to 64"},
		"no digits":         {[]string{"approve", "so101", "please!", "--yes"}, exitBadInput, "6 to 64"},
		"another hash":      {[]string{"approve", "so101", strings.Repeat("0", 64), "--yes"}, exitBadInput, "nothing that waits"},
		"no such robot":     {[]string{"approve", "so102"}, exitBadInput, "so102"},
		"TCP":               {[]string{"approve", "--person", "127.0.0.1:1"}, exitBadInput, "unix:PATH"},
		"nobody there":      {[]string{"approve", "--person", addr + "x"}, exitError, "does not answer"},
		"three things":      {[]string{"approve", "a", "b", "c"}, exitBadInput, ""},
		"a hidden name":     {[]string{"approve", p.GetHash(), "--yes", "--by", "a\u202eda"}, exitBadInput, "MALFORMED"},
	} {
		if code, out, errOut := command(t, c.line...); code != c.code || !strings.Contains(errOut, c.says) {
			t.Errorf("%s: exit %d, %q %q; want %d and %q", name, code, out, errOut, c.code, c.says)
		}
	}
	enter(t, "older", "")
	if code, _, errOut := command(t, "approve", "older"); code != exitBadInput || !strings.Contains(errOut, "--person") {
		t.Errorf("a robot that does not say where: exit %d, %q", code, errOut)
	}
	if code, _, errOut := command(t, "approve"); code != exitBadInput || !strings.Contains(errOut, "older, so101") {
		t.Errorf("two robots: exit %d, %q", code, errOut)
	}
	if s.granted(p) || len(s.desk.List(s.now)) != 1 {
		t.Error("one of them decided something")
	}
	if code, _, errOut := command(t, "approve", "--person", addr, p.GetHash()[:8], "--yes"); code != exitFine || !s.granted(p) {
		t.Errorf("by the address alone: exit %d, %q", code, errOut)
	}
}

// A list that shows one call under the hash of another decides nothing.
//
// Verifies: O21, P34
func TestACallUnderAnotherHashIsNotDecided(t *testing.T) {
	s, _ := stands(t)
	p := s.ask(t, "red cube")
	s.ask(t, "blue cube")
	s.swap = true
	for _, line := range [][]string{{"approve"}, {"approve", p.GetHash(), "--yes"}, {"approve", p.GetHash(), "--yes", "--deny"}} {
		if code, out, errOut := command(t, line...); code != exitError || out != "" || !strings.Contains(errOut, "not its own") {
			t.Errorf("%v: exit %d, %q %q", line, code, out, errOut)
		}
	}
	if len(s.desk.List(s.now)) != 2 || s.granted(p) {
		t.Error("something was decided")
	}
}

// Verifies: O23
func TestTakeAndGiveBack(t *testing.T) {
	s, addr := stands(t)
	s.holder, s.mission = "chat", "m1"
	if code, _, errOut := command(t, "take", "--release"); code != exitBadInput || !strings.Contains(errOut, "nobody has taken") {
		t.Errorf("nothing to give back: exit %d, %q", code, errOut)
	}
	if code, _, errOut := command(t, "take", "--epoch", "3"); code != exitBadInput {
		t.Errorf("an epoch without a release: exit %d, %q", code, errOut)
	}
	code, out, errOut := command(t, "take", "so101", "--by", "ada")
	for _, part := range []string{"taken by ada (take 1)", "held by chat", "mission m1 was ended", "interlock take --release so101"} {
		if code != exitFine || !strings.Contains(out, part) {
			t.Errorf("exit %d, no %q in %q %q", code, part, out, errOut)
		}
	}
	if code, _, errOut := command(t, "take", "--by", "bob"); code != exitRefused || !strings.Contains(errOut, "BUSY") {
		t.Errorf("taken already: exit %d, %q", code, errOut)
	}
	code, out, errOut = command(t, "take", "--release", "--by", "ada", "--json")
	if got := said[takeSaid](t, out); code != exitFine || len(got) != 1 || got[0].TakenBy != "" || s.takenBy != "" {
		t.Errorf("given back: exit %d, %+v, %q", code, got, errOut)
	}
	if code, _, _ = command(t, "take", "--release"); code != exitBadInput {
		t.Errorf("given back twice: exit %d", code)
	}
	code, out, _ = command(t, "take", "--json", "--by", "ada", "--person", addr) // no name: remembered by the address
	if got := said[takeSaid](t, out); code != exitFine || got[0].TakenBy != "ada" || got[0].Epoch != 2 || got[0].WasHeldBy != "" || got[0].EndedMission != "" {
		t.Errorf("taken: exit %d, %+v", code, got)
	}
	if code, _, errOut = command(t, "take", "so101", "--release"); code != exitBadInput || !strings.Contains(errOut, "--epoch") {
		t.Errorf("taken elsewhere: exit %d, %q", code, errOut)
	}
	if code, _, errOut = command(t, "take", "so101", "--release", "--epoch", "1"); code != exitBadInput || !strings.Contains(errOut, "CONFLICT") {
		t.Errorf("another take: exit %d, %q", code, errOut)
	}
	if code, _, errOut = command(t, "take", "--person", addr, "--release"); code != exitFine || s.takenBy != "" {
		t.Errorf("given back: exit %d, %q", code, errOut)
	}
	// A robot that restarted has forgotten the take, and so does whoever tries to give it back.
	if code, _, _ = command(t, "take", "so101"); code != exitFine {
		t.Fatal(code)
	}
	s.takenBy, s.epoch = "", 0
	if code, _, errOut = command(t, "take", "so101", "--release"); code != exitBadInput || !strings.Contains(errOut, "CONFLICT") {
		t.Errorf("forgotten: exit %d, %q", code, errOut)
	}
	if code, _, errOut = command(t, "take", "so101", "--release"); code != exitBadInput || !strings.Contains(errOut, "nobody has taken") {
		t.Errorf("forgotten here too: exit %d, %q", code, errOut)
	}
}

// Verifies: O24
func TestResolveWritesAPersonsWordBesideTheVerdict(t *testing.T) {
	s, addr := stands(t)
	code, out, errOut := command(t, "resolve", "task-7", "achieved", "--by", "ada", "--note", "it lies in the tray")
	if code != exitFine || !strings.Contains(out, "the verdict stays unverified") {
		t.Errorf("exit %d, %q %q", code, out, errOut)
	}
	code, out, _ = command(t, "resolve", "task-7", "not_achieved", "--robot", "so101", "--by", "bob", "--json")
	got := said[resolveSaid](t, out)
	if code != exitFine || len(got) != 1 || got[0] != (resolveSaid{"so101", "task-7", "unverified", "bob", false, ""}) {
		t.Errorf("exit %d, %+v", code, got)
	}
	if len(s.resolved) != 2 || !s.resolved[0].GetAchieved() || s.resolved[0].GetNote() != "it lies in the tray" || s.resolved[1].GetAchieved() {
		t.Errorf("the robot heard %v", s.resolved)
	}
	for name, line := range map[string][]string{
		"another word": {"resolve", "task-7", "done"}, "no word": {"resolve", "task-7"}, "a prefix": {"resolve", "task-7", "achieve"}, "no task": {"resolve", "", "achieved", "--person", addr},
		"no such robot": {"resolve", "task-7", "achieved", "--robot", "so102"}, "a long note": {"resolve", "task-7", "achieved", "--note", strings.Repeat("x", 1025)},
	} {
		if code, _, errOut := command(t, line...); code != exitBadInput || errOut == "" {
			t.Errorf("%s: exit %d, %q", name, code, errOut)
		}
	}
	if code, _, _ := command(t, "resolve", "task-8", "achieved"); code != reject.ExitCode(reject.NotInEnum) || len(s.resolved) != 2 {
		t.Errorf("another task: exit %d, heard %v", code, s.resolved)
	}
}

// Verifies: O25
func TestPeoplesVerbsComplete(t *testing.T) {
	s, _ := stands(t)
	p := s.ask(t, "red cube")
	hash := p.GetHash()[:12]
	for name, c := range map[string]struct{ line, want []string }{
		"approve":         {[]string{"approve", ""}, []string{"so101", hash + "\tpick"}},
		"approve a robot": {[]string{"approve", "so101", ""}, []string{hash + "\tpick"}},
		"approve enough":  {[]string{"approve", "so101", hash, ""}, nil},
		"take":            {[]string{"take", ""}, []string{"so101"}},
		"take enough":     {[]string{"take", "so101", ""}, nil},
		"resolve":         {[]string{"resolve", "task-7", ""}, []string{"achieved", "not_achieved"}},
		"resolve a robot": {[]string{"resolve", "task-7", "achieved", "--robot", ""}, []string{"so101"}},
	} {
		_, out, _ := command(t, append([]string{"__complete"}, c.line...)...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if got := lines[:len(lines)-1]; !slices.Equal(got, c.want) && len(got)+len(c.want) > 0 {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Verifies: O21
func TestWhatARobotListsReachesNoTerminalRaw(t *testing.T) {
	l := &personLine{robot: "so101"}
	p := &contractv1.Pending{Act: &contractv1.Act{Displayed: "so101\x1b[2K\n\u202eab", Capability: "pi\x07ck", ArgsJson: []byte(`{"a":"` + "\u202e" + `"}`)}}
	p.Hash = operator.Hash(p.GetAct())
	for _, asJSON := range []bool{false, true} {
		var b bytes.Buffer
		f := approveFlags{personFlags: personFlags{asJSON: asJSON}}
		err := f.printAll(&b, l, &contractv1.PendingList{Pending: []*contractv1.Pending{p}, TakenBy: "\x1b[2K"})
		if err != nil || strings.IndexFunc(b.String(), func(r rune) bool { return r != '\n' && hidden(r) }) >= 0 {
			t.Errorf("%q, %v", b.String(), err)
		}
	}
	if err := l.status(reject.New(reject.Stopped, "stopped")); !errors.As(err, new(exitStatus)) {
		t.Errorf("%v has no exit code", err)
	}
}
