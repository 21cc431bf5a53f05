package drills_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"interlock/body"
	"interlock/body/bodytest"
	"interlock/body/plant"
	"interlock/body/remote"
	"interlock/body/sim"
)

// A driver process, its line and its guard pass the conformance suite of drivers as one in this process does, with all
// times the plant's.
//
// Verifies: B01, D20
func TestDriverProcessPassesTheSuite(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	driver := h.driver(t, "--lab-socket", h.socket("lab"))
	driver.line()
	lab := plant.DialLab(h.socket("lab"))
	defer lab.Close()
	bodytest.Run(t, func(t *testing.T) body.Stepper {
		if err := lab.SetUp(sim.DefaultConfig(), "", true); err != nil {
			t.Fatal(err)
		}
		d, err := remote.Dial(t.Context(), h.socket("driver"), remote.Options{CallTimeout: patience})
		if err != nil {
			t.Fatal(err)
		}
		return plant.Stepped{Driver: d, Lab: lab}
	})
	driver.end()
}

// The example body in Python, behind a driver process, passes the suite as a black box; so does the simulator.
//
// Verifies: D20
func TestAnyProcessPassesTheSuite(t *testing.T) {
	if os.Getenv("INTERLOCK_DRILLS") == "" {
		t.Skip("ten seconds of real time each; INTERLOCK_DRILLS=1 runs it")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	h := newHome(t)
	example := start(t, exec.Command(python, "../../../body/remote/example/driver.py", "0"))
	_, port, _ := strings.Cut(example.line(), "on ")
	for name, body := range map[string][]string{"remote": {"remote", "--plant", "127.0.0.1:" + port}, "sim": {"sim"}} {
		line := []string{"bodytest", "--driver", h.socket(name), "--", binary, "driver"}
		line = append(append(line, body...), "--contract", contractFile, "--listen", h.socket(name), "--operator", h.socket(name+"op"), "--latch-file", h.latch()+name)
		if out, err := exec.Command(binary, line...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
