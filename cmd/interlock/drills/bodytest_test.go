package drills_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock/body/bodytest"
)

// bodytest runs `interlock bodytest` on the shipped driver, which it starts and ends itself.
func (h home) bodytest(t *testing.T, more ...string) (code int, said []checkSaid) {
	t.Helper()
	line := append([]string{"bodytest", "--json", "--driver", h.socket("driver"), "--operator", h.socket("operator")}, more...)
	line = append(line, "--", binary, "driver", "sim", "--contract", contractFile, "--listen", h.socket("driver"),
		"--operator", h.socket("operator"), "--latch-file", h.latch())
	cmd := exec.Command(binary, line...)
	var errors strings.Builder
	cmd.Stderr = &errors
	out, _ := cmd.Output() // the exit code is looked at below
	for text := range strings.Lines(string(out)) {
		var s checkSaid
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		said = append(said, s)
	}
	if cmd.ProcessState.ExitCode() < 0 {
		t.Fatalf("it did not end by itself: %s", &errors)
	}
	return cmd.ProcessState.ExitCode(), said
}

// checkSaid is a line of `interlock bodytest --json`.
type checkSaid struct{ Check, Result, Says string }

// The shipped driver passes the suite as a black box: a process that is started, spoken to as a robot, an onlooker and a
// person speak to it, and ended. What takes longest waits for the long form.
//
// Verifies: Q104, D20
func TestTheShippedDriverPassesAsABlackBox(t *testing.T) {
	t.Parallel()
	var only []string
	want := len(bodytest.ProcessChecks()) + len(bodytest.LatchChecks()) + len(bodytest.RestartChecks())
	if os.Getenv("INTERLOCK_DRILLS") == "" {
		for _, name := range []string{
			"follows setpoints", "halt ends a motion", "obeys only the holder of the lease", "refuses commands that come late",
			"resets nothing on the robot's line", "holds when the robot falls silent", "a stop ends a motion and latches",
			"only its own number resets a stop", "a reset starts nothing",
		} {
			only = append(only, "--only", name)
		}
		want = len(only) / 2
	}
	felt := feelLateness(t)
	code, said := newHome(t).bodytest(t, only...)
	for tries := 0; code != 0 && tries < 4 && (late(said) || felt.most() > lateCheck); tries++ {
		t.Logf("it is made again: exit %d, %+v", code, said)
		felt.begin()
		code, said = newHome(t).bodytest(t, only...)
	}
	if code != 0 || len(said) != want {
		t.Errorf("exit %d, %d of %d checks", code, len(said), want)
	}
	for _, s := range said {
		if s.Result != "ok" {
			t.Errorf("%s: %s: %s", s.Check, s.Result, s.Says)
		}
	}
}

// lateCheck is how long a process may wait for a core before a check of another process is not believed: its setpoints are good
// for 250 ms, of which it may need several.
const lateCheck = 50 * time.Millisecond

// late reports whether a check failed because the machine let a call wait too long, or the driver itself.
func late(said []checkSaid) bool {
	return slices.ContainsFunc(said, func(s checkSaid) bool {
		return s.Result != "ok" && slices.ContainsFunc([]string{"deadline_exceeded", "NO_LEASE", "OUT_OF_RANGE", "STALE_FACT"}, func(why string) bool { return strings.Contains(s.Says, why) })
	})
}

// A driver that is stopped when the suite begins is left alone: whoever knows why it stopped resets it. A command that
// ends by itself, and an address where nobody answers, are told and are no pass.
//
// Verifies: Q105
func TestTheSuiteAsksNothingOfAStoppedDriver(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	driver := h.driver(t)
	driver.line()
	person := operate(t, h)
	number, _, err := person.Stop(t.Context(), "a person")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		line []string
		code int
	}{
		"stopped":                  {[]string{"--driver", h.socket("driver"), "--operator", h.socket("operator")}, 7},
		"stopped, nobody to reset": {[]string{"--driver", h.socket("driver")}, 7},
		"its command ends":         {[]string{"--driver", h.socket("nobody"), "--", binary, "version"}, 1},
		"no such command":          {[]string{"--driver", h.socket("nobody"), "--", h.socket("nothing")}, 2},
		"no such check":            {[]string{"--driver", h.socket("driver"), "--only", "is nice"}, 2},
		"a latch check of a body":  {[]string{"--body", h.socket("driver"), "--only", "a reset starts nothing"}, 2},
		"neither driver nor body":  {nil, 2},
		"a body with a latch":      {[]string{"--body", h.socket("driver"), "--operator", h.socket("operator")}, 2},
		"a language nobody speaks": {[]string{"--driver", h.socket("driver"), "--speak", "xml"}, 2},
		"both a driver and a body": {[]string{"--driver", h.socket("driver"), "--body", h.socket("driver")}, 2},
	} {
		var out []byte
		got := -1
		for tries := 0; tries == 0 || got == 1 && c.code == 7 && tries < 4; tries++ { // a driver that is late gives no answer
			cmd := exec.Command(binary, append([]string{"bodytest"}, c.line...)...)
			out, _ = cmd.Output() // the exit code says it
			got = cmd.ProcessState.ExitCode()
		}
		if got != c.code || len(out) > 0 {
			t.Errorf("%s: exit %d, not %d: %s", name, got, c.code, out)
		}
	}
	if l := state(t, person); !l.Stopped || l.Number != number {
		t.Errorf("the latch says %+v", l)
	}
}
