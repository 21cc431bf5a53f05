package drills_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"interlock/reject"
)

// wallEnv makes a process of steppedBinary see its wall clock jump: "NANOSECONDS,SECONDS" is how long after its start, and by
// how much.
const wallEnv = "INTERLOCK_DRILL_WALL"

// steppedBinary builds the command over a standard library whose time.Now tells a wall clock that can jump; the monotonic clock
// is the system's own. Nobody can set the clock of one process otherwise, and that of the machine is not a test's to set.
func steppedBinary(t *testing.T) (path string) {
	t.Helper()
	const now, jumped = "	sec, nsec, mono := runtimeNow()\n", "	sec, nsec, mono := runtimeNow()\n	sec += drillStep(mono - startNano)\n"
	const step = `package time

import "syscall"

var drillAfter, drillBy = drillSteps()

func drillSteps() (after, by int) {
	text, _ := syscall.Getenv("` + wallEnv + `")
	for i := range len(text) {
		if text[i] == ',' {
			after, _ = atoi(text[:i])
			by, _ = atoi(text[i+1:])
		}
	}
	return after, by
}

func drillStep(mono int64) int64 {
	if drillBy != 0 && mono > int64(drillAfter) {
		return int64(drillBy)
	}
	return 0
}
`
	root, err := exec.Command("go", "env", "GOROOT").Output()
	check(t, err)
	source := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	text, err := os.ReadFile(filepath.Join(source, "time.go"))
	check(t, err)
	head, tail, found := bytes.Cut(text, []byte("\nfunc Now() Time {\n"))
	if !found || !bytes.HasPrefix(tail, []byte(now)) {
		t.Fatalf("%s has another time.Now than this drill knows", runtime.Version())
	}
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		check(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(source, "time.go"):       put("time.go", string(head)+"\nfunc Now() Time {\n"+jumped+string(tail[len(now):])),
		filepath.Join(source, "drill_step.go"): put("step.go", step),
	}})
	check(t, err)
	path = filepath.Join(dir, "interlock")
	out, err := exec.Command("go", "build", "-overlay", put("overlay.json", string(overlay)), "-o", path, "interlock/cmd/interlock").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// A wall clock of robot and driver that jumps in the middle of missions, by an hour on and back, to 1970 and to 2038: no lease
// lapses, no setpoint expires and no mission ends by it; a brain that dies, a stop and its reset are what they were before. The
// record tells the jump, and verifies.
//
// Verifies: F20, P08, U148
func TestWallClockJumps(t *testing.T) {
	if inShort() {
		t.Skip("at length only: it builds the standard library anew; body/guard has the rule and the steps")
	}
	stepped := steppedBinary(t)
	const after = 6 * time.Second
	today := time.Now()
	for name, by := range map[string]time.Duration{
		"an hour on": time.Hour, "an hour back": -time.Hour, "a second back": -time.Second,
		"to 1970": time.Unix(0, 0).Sub(today), "to 2038": time.Unix(1<<31, 0).Sub(today),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			begun := time.Now()
			process := func(line ...string) *process {
				cmd := h.env(exec.Command(stepped, line...))
				cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d,%d", wallEnv, after, by/time.Second))
				p := start(t, cmd)
				p.line()
				return p
			}
			process("driver", "sim", "--contract", contractFile, "--listen", h.socket("driver"), "--operator", h.socket("operator"), "--latch-file", h.latch(), "--lab-socket", h.socket("lab"))
			process("robot", contractFile, "--driver", h.socket("driver"), "--operator", h.socket("operator"), "--listen", h.socket("robot"))
			l := &lane{home: h, t: t, w: watch(t, h), late: feelLateness(t), person: operate(t, h)}
			c := h.call(t)
			ready(t, c)
			brain := l.thinking()
			if time.Since(begun) > after {
				t.Log("the machine is so slow that the clock jumped before anything moved")
			}
			for time.Since(begun) < after+3*time.Second {
				switch says := brain.untilOne("ended", "refused", "the end of"); {
				case strings.Contains(says, "VERIFIED"):
				case strings.Contains(says, "driver_lost"), strings.Contains(says, "STOPPED"): // a machine that is busy
					l.opened()
				default:
					t.Fatalf("over a jump %s a brain says %q, and on its standard error: %s", name, says, brain.errors)
				}
			}
			waitFor(t, "the arm to move", func() bool { l.opened(); moves, _ := l.w.moves(); return moves })
			l.late.begin()
			took := l.w.untilStill(l.w.look().killed(brain))
			l.w.within(took, lapsed, l.late, "a brain that was killed after a jump "+name)
			tell(t, "a wall clock that jumped %s: standstill %v after its brain was killed", name, took)
			l.stops("a wall clock that jumped " + name)
			if ack := begin(t, c, "stopped", toLeft); ack.GetAccepted() || ack.GetRejections()[0].GetCode() != string(reject.Stopped) {
				t.Errorf("a start under the stop is answered by %v", ack)
			}
			l.opened()
			carry(t, c, "new", toLeft)
			recorded(t, h, by)
		})
	}
}

// killed is the look before a process is killed.
func (s sample) killed(p *process) sample { p.kill(); return s }

// recorded asks that the record tells a jump, and verifies all the same.
func recorded(t *testing.T, h home, by time.Duration) {
	t.Helper()
	out, code := h.command(t, "", "audit", "show", "so101", "--json")
	if code != 0 {
		t.Fatalf("audit show exits with %d", code)
	}
	var last, widest int64
	for _, l := range lines(t, out) {
		text, _ := l["record"].(map[string]any)["wall_ms"].(string)
		now, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatalf("a record without a wall clock: %v", l)
		}
		if last != 0 && max(now-last, last-now) > max(widest, -widest) {
			widest = now - last
		}
		last = now
	}
	if off := time.Duration(widest)*time.Millisecond - by; by.Abs() > time.Minute && off.Abs() > 30*time.Second {
		t.Errorf("a jump by %v is on record as one by %v", by, time.Duration(widest)*time.Millisecond)
	}
	if out, code := h.command(t, "", "audit", "verify", "so101"); code != 0 {
		t.Errorf("after a jump by %v the record does not verify: %d, %s", by, code, out)
	}
}
