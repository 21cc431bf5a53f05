package operator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	contractv1 "interlock/contract/v1"
)

// Bounds of what a person is shown, in bytes. They are ours: a page that can be read before it is decided on.
const (
	MaxDisplayed = 16 << 10 // of the whole text
	maxShownAct  = 8 << 10  // of the call itself, which is never cut
	maxReason    = 256      // of one reason
	maxReasons   = 10       // that are shown
	maxSays      = 1 << 10  // of what the robot adds
)

// Display is the text that a person decides on: the call with each argument, why it needs a person, who asks and for
// which task. says is what the robot adds in words of its own (its contract's), quoted like everything from outside; empty:
// nothing. act.displayed and act.number are not looked at.
//
// Reasons and says are cut where they are too long, and the text says so. The call is never cut: one that does not fit
// has no text, and Ask refuses it. The text is as constant as the reasons are: a reason with a reading in its words is
// another text with the next reading, and an approval of the one does not fit the other.
func Display(act *contractv1.Act, because []*contractv1.Rejection, says string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is asked to %s\n", named(act.GetRobot()), named(act.GetCapability()))
	writeArguments(&b, act.GetArgsJson())
	fmt.Fprintf(&b, "asked by %s, %s\n", orNone(act.GetPrincipal(), "nobody with a name"), forTask(act.GetTaskId()))
	fmt.Fprintf(&b, "lease %s, contract %s\n", leaseOf(act.GetLeaseEpoch()), orNone(act.GetContractHash(), "unknown"))
	if b.Len() > maxShownAct {
		return ""
	}
	writeReasons(&b, because)
	if says != "" {
		fmt.Fprintf(&b, "the robot adds: %s\n", cutTo(maxSays, says))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func orNone(name, none string) string {
	if name == "" {
		return none
	}
	return named(name)
}

func forTask(id string) string {
	if id == "" {
		return "for no task"
	}
	return "for task " + named(id)
}

func leaseOf(epoch uint64) string {
	if epoch == 0 {
		return "none"
	}
	return fmt.Sprint(epoch)
}

// writeArguments writes one argument a line. What is no JSON object is written whole, in quotes.
func writeArguments(b *strings.Builder, args []byte) {
	lines, err := arguments(args)
	switch {
	case err != nil:
		fmt.Fprintf(b, "  arguments that are no JSON object: %s\n", quoted(string(args)))
	case len(lines) == 0:
		b.WriteString("  (no arguments)\n")
	}
	for _, l := range lines {
		b.WriteString(l)
	}
}

// arguments reads the object member by member, in its own order, and leaves each value as it is written.
func arguments(args []byte) (lines []string, err error) {
	d := json.NewDecoder(bytes.NewReader(args))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.Join(errors.New("no object"), err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		lines = append(lines, fmt.Sprintf("  %s: %s%s\n", named(fmt.Sprint(name)), escaped(string(value)), foreign(string(value))))
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than an object")
	}
	return lines, nil
}

func writeReasons(b *strings.Builder, because []*contractv1.Rejection) {
	if len(because) == 0 {
		b.WriteString("it needs a person\n")
		return
	}
	b.WriteString("it needs a person because\n")
	for i, r := range because {
		if i == maxReasons {
			fmt.Fprintf(b, "  and for %d more reasons\n", len(because)-i)
			break
		}
		fmt.Fprintf(b, "  %s", cutName(r.GetCode()))
		if r.GetRule() != "" {
			fmt.Fprintf(b, " by %s", cutName(r.GetRule()))
		}
		if r.GetField() != "" {
			fmt.Fprintf(b, " in %s", cutName(r.GetField()))
		}
		fmt.Fprintf(b, ": %s\n", cutTo(maxReason, r.GetSays()))
	}
}

// cutName is named for what is not part of the act.
func cutName(s string) string {
	if len(s) > 64 {
		return cutTo(64, s)
	}
	return named(s)
}
