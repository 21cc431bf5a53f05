package drills_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// runEnv is set in the process that runs the drills: the folder with the command that was built for them.
const runEnv = "INTERLOCK_DRILL_RUN"

// Drills that failed are made again if the machine let this process, which does nothing, wait for a core so long meanwhile:
// then it did the same to robots and drivers, which have some tens of milliseconds for what they promise. On a machine with
// cores to spare a drill that fails has failed.
const (
	lateBy     = 30 * time.Millisecond
	mostAgain  = 2
	mostSpoilt = 8 // of all the drills: more is no accident
)

// runAll runs the drills in a process of their own, and those that a busy machine spoilt again, without the others. The full
// run makes nothing again.
func runAll(dir string) (code int) {
	runtime.LockOSThread() // the processes below die with the thread that started them
	begun, late := time.Now(), feelTheMachine()
	defer late.end()
	args := os.Args[1:]
	for n := 0; ; n++ {
		late.begin()
		out, err := runOnce(dir, args)
		if err == nil {
			return 0
		}
		names := failed(out)
		if worst := late.most(); os.Getenv("INTERLOCK_DRILLS") != "" || n == mostAgain || worst < lateBy || len(names) == 0 || len(names) > mostSpoilt {
			return 1
		} else if _, err := fmt.Fprintf(os.Stderr, "drills: made again, since this machine let a process wait %v for a core: %s\n",
			worst.Round(time.Millisecond), strings.Join(names, " ")); err != nil {
			return 1
		}
		args = argumentsOf(os.Args[1:], names, time.Since(begun))
	}
}

// runOnce runs the drills that the arguments name and returns what they printed.
func runOnce(dir string, args []string) (out string, err error) {
	var said bytes.Buffer
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), runEnv+"="+dir)
	cmd.Stdout, cmd.Stderr = io.MultiWriter(os.Stdout, &said), os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)
	defer signal.Stop(signals)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = cmd.Process.Signal(s) // it may have ended already
		case err := <-ended:
			return said.String(), err
		}
	}
}

var (
	failure = regexp.MustCompile(`(?m)^\x16?--- FAIL: (Test\w+) `)
	// A busy machine is no excuse for these.
	grave = regexp.MustCompile(`(?m)^(panic: |fatal error: |WARNING: DATA RACE)|found unexpected goroutines`)
)

// failed lists the drills that may be made again by what was printed; none where something graver was.
func failed(out string) (names []string) {
	if grave.MatchString(out) {
		return nil
	}
	for _, m := range failure.FindAllStringSubmatch(out, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

// argumentsOf is the test binary's arguments for these drills alone, with what is left of the time.
func argumentsOf(args, names []string, took time.Duration) (list []string) {
	for _, a := range args {
		name, value, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		switch name {
		case "test.run", "test.testlogfile":
			continue
		case "test.timeout":
			if d, err := time.ParseDuration(value); err == nil && d > 0 {
				a = fmt.Sprintf("-test.timeout=%v", max(time.Second, d-took))
			}
		}
		list = append(list, a)
	}
	return append(list, "-test.run=^("+strings.Join(names, "|")+")$")
}

// Only drills that failed are made again, under the flags they ran under and in the time that is left; none after a race, a
// panic or a leak.
//
// Verifies: U150
func TestWhatIsMadeAgain(t *testing.T) {
	t.Parallel()
	out := "--- PASS: TestA (0.10s)\n--- FAIL: TestB (1.00s)\n    --- FAIL: TestB/c (0.00s)\n        b_test.go:1: --- FAIL: TestD (\n\x16--- FAIL: TestE (2.00s)\nFAIL\n"
	if names := failed(out); !slices.Equal(names, []string{"TestB", "TestE"}) {
		t.Errorf("made again: %v", names)
	}
	for _, worse := range []string{"panic: it\n", "==================\nWARNING: DATA RACE\n", "fatal error: all goroutines are asleep\n"} {
		if names := failed(out + worse); names != nil {
			t.Errorf("after %q: %v", worse, names)
		}
	}
	got := argumentsOf([]string{"-test.v=true", "-test.run=Test", "-test.timeout=10m0s", "-test.testlogfile=/x", "-test.parallel=3"}, []string{"TestB", "TestE"}, time.Minute)
	if want := []string{"-test.v=true", "-test.timeout=9m0s", "-test.parallel=3", "-test.run=^(TestB|TestE)$"}; !slices.Equal(got, want) {
		t.Errorf("the arguments are %q, not %q", got, want)
	}
}
