package transporttest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
)

// errNone stands for no error where two are told.
var errNone = errors.New("no error")

// How much the comparison is at least: calls, those that only look apart; missions that ran; and such under a lease.
const (
	leastCalls    = 150
	leastMissions = 20
	leastLeased   = 5
)

// sameVerdicts: two robots at equal tables get the same calls, one through the line and one directly, and give the same
// answers, the same refusals and the same events, times and measured values included.
func sameVerdicts(ctx context.Context, t *testing.T, l *line) error {
	through, direct, err := pairs(t, l)
	if err != nil {
		return err
	}
	var seen tally
	for x := range conversation() {
		want, errWant := x.call(ctx, direct[x.by])
		got, errGot := x.call(ctx, through[x.by])
		if err := same(want, got, errWant, errGot); err != nil {
			return fmt.Errorf("call %d, %s: %w", seen.calls+seen.looks+1, x.name, err)
		}
		seen.add(x, want, errWant)
	}
	t.Logf("%d calls, %d of them missions that ran, %d of those under a lease, and %d looks; refused by %d codes and rules",
		seen.calls, seen.missions, seen.leased, seen.looks, len(seen.refusals))
	return seen.enough(l.two != nil)
}

// pairs are two callers of a robot through the line, and two of an equal one without a line. Where the line knows one
// caller only, both are the same.
func pairs(t *testing.T, l *line) (through, direct [2]transport.Server, err error) {
	one, errOne := running(t)
	other, errOther := running(t)
	if err := errors.Join(errOne, errOther); err != nil {
		return through, direct, err
	}
	if l.two == nil {
		client := l.open(t, one.robot)
		return [2]transport.Server{client, client}, [2]transport.Server{other.robot, other.robot}, nil
	}
	through[0], through[1] = l.two(t, one.robot)
	return through, [2]transport.Server{asked(other.robot, "one"), asked(other.robot, "another")}, nil
}

// same says how what came through the line is not what the robot says.
func same(want, got []proto.Message, errWant, errGot error) error {
	var refusals, through reject.List
	isWant, isGot := errors.As(errWant, &refusals), errors.As(errGot, &through)
	if (errWant == nil) != (errGot == nil) || isWant != isGot || !slices.Equal(refusals, through) {
		return fmt.Errorf("the robot's error is %w, and the line's %w", cmp.Or(errWant, errNone), cmp.Or(errGot, errNone))
	}
	if len(want) != len(got) {
		return fmt.Errorf("the robot gives %d messages, the line %d", len(want), len(got))
	}
	for i := range want {
		if !proto.Equal(want[i], got[i]) {
			return fmt.Errorf("the robot says\n%v\nand the line\n%v", want[i], got[i])
		}
	}
	return nil
}

// tally is what was said so far.
type tally struct {
	calls, looks, missions, leased int
	refusals                       map[verdict]bool
	words                          map[string]bool // how missions ended, and what tasks came to
}

// verdict is what a refusal is known by.
type verdict struct {
	code reject.Code
	rule string
}

func (s *tally) add(x said, replies []proto.Message, err error) {
	if x.looks {
		s.looks++
	} else {
		s.calls++
	}
	if len(replies) > 1 {
		s.missions++
		if x.leased {
			s.leased++
		}
	}
	if s.refusals == nil {
		s.refusals, s.words = map[verdict]bool{}, map[string]bool{}
	}
	var l reject.List
	_ = errors.As(err, &l)
	for _, r := range l {
		s.refusals[verdict{r.Code, r.Rule}] = true
	}
	for _, m := range replies {
		for _, r := range refusalsIn(m) {
			s.refusals[verdict{reject.Code(r.GetCode()), r.GetRule()}] = true
		}
		switch m := m.(type) {
		case *contractv1.Event:
			s.words[m.GetKind().String()] = true
		case *contractv1.Task:
			s.words[m.GetState().String()] = true
		}
	}
}

func refusalsIn(m proto.Message) []*contractv1.Rejection {
	switch m := m.(type) {
	case *contractv1.MissionAck:
		return m.GetRejections()
	case *contractv1.CancelAck:
		return m.GetRejections()
	case *contractv1.Task:
		return m.GetRefusals()
	case *contractv1.LeaseReply:
		return m.GetRejections()
	}
	return nil
}

// enough reports what the conversation did not come to: a comparison of nothing finds no difference.
func (s *tally) enough(two bool) error {
	if s.calls < leastCalls || s.missions < leastMissions || s.leased < leastLeased {
		return fmt.Errorf("only %d calls and %d missions, %d of them under a lease, were compared", s.calls, s.missions, s.leased)
	}
	must := []verdict{
		{reject.NoLease, "resource"}, {reject.NoLease, "lapsed"}, {reject.NoLease, "epoch"}, {reject.NoLease, "holder"}, {reject.NoLease, "sequence"},
		{reject.Busy, "lease"}, {reject.Busy, ""}, {reject.Conflict, ""}, {reject.Condition, "above_table"}, {reject.NotLicensed, ""},
		{reject.Budget, "max_missions"}, {reject.NotPermitted, "task_open"}, {reject.NotPermitted, "open"}, {reject.UnknownCapability, ""},
		{reject.MissingArgument, ""}, {reject.UnknownArgument, ""}, {reject.WrongType, ""}, {reject.DuplicateKey, ""}, {reject.Malformed, ""},
		{reject.OutOfRange, ""}, {reject.NotInEnum, ""}, {reject.NotFinite, ""}, {reject.TooLarge, ""}, {reject.NoSuchObject, ""},
	}
	if two {
		must = append(must, verdict{reject.NoLease, "principal"}, verdict{reject.NotPermitted, "principal"})
	}
	for _, v := range must {
		if !s.refusals[v] {
			return fmt.Errorf("nothing was refused as %s by %q, of %v", v.code, v.rule, s.refusals)
		}
	}
	for _, w := range []string{"VERIFIED", "FAILED", "INTERRUPTED", "DONE", "SUPERSEDED", "OVER_BUDGET"} {
		if !s.words[w] {
			return fmt.Errorf("nothing came to be %s, of %v", w, s.words)
		}
	}
	return nil
}
