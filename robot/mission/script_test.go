package mission

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"interlock/internal/golden"
	"interlock/reject"
	"interlock/units"
)

// TestScripts replays testdata/*.txt: unindented lines are events, indented ones what they cause, exactly.
//
// Verifies: P10
// Verifies: P22
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 8 {
		t.Fatalf("found %d scripts: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, filepath.Base(file), []byte(play(t, string(src))))
		})
	}
}

// play runs the events of a script and returns it with the effects written anew.
func play(t *testing.T, src string) string {
	var s State
	var b strings.Builder
	for line := range strings.Lines(src) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "  ") {
			continue
		}
		b.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		ev, err := parse(line)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		next, effects := Step(s, ev)
		checkStep(t, s, ev, next, effects)
		s = next
		for _, e := range effects {
			b.WriteString("  " + show(e) + "\n")
		}
		b.WriteString("  = " + s.Word() + "\n")
	}
	return b.String()
}

// words are the arguments of one line of a script.
type words map[string]string

func (w words) ms(name string) units.Instant {
	n, _ := strconv.Atoi(w[name])
	return units.Instant(0).Add(time.Duration(n) * time.Millisecond)
}

func (w words) number(name string) uint64 {
	n, _ := strconv.ParseUint(w[name], 10, 64)
	return n
}

func (w words) has(name string) bool { _, ok := w[name]; return ok }

func parse(line string) (Event, error) {
	fields := strings.Fields(line)
	w := words{}
	for _, f := range fields[1:] {
		name, value, _ := strings.Cut(f, "=")
		w[name] = value
	}
	at := w.ms("at")
	switch fields[0] {
	case "start":
		p := goodPolicy()
		p.StopNumber, p.Interruptible = w.number("stop_number"), !w.has("uninterruptible")
		if w.has("timeout") {
			p.Timeout = time.Duration(w.ms("timeout"))
		}
		if w.has("return") {
			p.OnCancel = ReturnToOrigin
		}
		if w.has("finish") {
			p.OnDisconnect = FinishMotion
		}
		return Start{at, p}, nil
	case "started":
		return Started{at}, nil
	case "phase":
		return Phase{at, w["name"]}, nil
	case "ended":
		return MotionEnded{at}, nil
	case "tick":
		e := Tick{At: at, ObservedAt: at, Standstill: w.has("still"), Latch: Mirror{Stopped: w.has("stopped"), Number: w.number("latch")}}
		if w.has("observed") {
			e.ObservedAt = w.ms("observed")
		}
		return e, nil
	case "verdict":
		return Verdict{at, map[string]Status{"succeeded": Succeeded, "failed": Failed, "unverified": Unverified}[w["outcome"]]}, nil
	case "cancel":
		return Cancel{at}, nil
	case "stop":
		return Stop{at, w.number("latch")}, nil
	case "fault":
		return Fault{At: at, Code: w["code"], Detail: w["detail"]}, nil
	case "invariant":
		return InvariantViolated{at, w["rule"], OnViolation(w["do"])}, nil
	case "refused":
		return SetpointRefused{at, reject.Code(w["code"])}, nil
	case "lease_lost":
		return LeaseLost{at}, nil
	case "disconnected":
		return Disconnected{at}, nil
	case "restarted":
		return Restarted{at}, nil
	case "alien":
		return alien{}, nil
	}
	return nil, fmt.Errorf("no such event")
}

// alien is an event the machine does not know.
type alien struct{}

func (alien) when() units.Instant { return 0 }

func goodPolicy() Policy {
	return Policy{
		Timeout: 10 * time.Second, StopUnconfirmedAfter: units.StopUnconfirmed, Interruptible: true,
		OnCancel: HoldPosition, OnDisconnect: StopMotion,
	}
}

func show(e Effect) string {
	switch e := e.(type) {
	case Halt:
		return "halt"
	case Latch:
		return "latch " + e.Reason
	case Record:
		out := fmt.Sprintf("record %d %s", e.Seq, e.Kind)
		for _, part := range []string{string(e.Reason), e.Detail, e.Phase} {
			if part != "" {
				out += " [" + part + "]"
			}
		}
		if e.Final {
			out += " final"
		}
		return out + fmt.Sprintf(" at %d ms", e.At.Millis())
	case Play:
		return "play"
	case PlayBack:
		return "play back"
	case Verify:
		return "verify"
	case Wake:
		return fmt.Sprintf("wake by %d ms", e.At.Millis())
	case Reply:
		if len(e.Rejections) == 0 {
			return "reply taken"
		}
		return fmt.Sprintf("reply refused %s %s", e.Rejections[0].Code, e.Rejections[0].Rule)
	}
	return fmt.Sprintf("unknown effect %T", e)
}
