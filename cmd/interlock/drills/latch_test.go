package drills_test

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// A driver that was killed at rest comes up stopped, says so with the command that resets it, and is ready after that; one that was
// ended in good order, by whatever signal does, comes up ready.
//
// Verifies: F06, D124
func TestADriverKilledAtRestComesUpStopped(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	driver := h.driver(t)
	comesUp := func(word string) {
		t.Helper()
		if says := driver.line(); !strings.Contains(says, word) {
			t.Fatalf("the driver comes up with %q, not %q", says, word)
		}
	}
	comesUp("; ready")
	driver.kill() // as soon as it is ready
	driver = h.driver(t)
	comesUp("stopped, number 1 (driver_lost: ")
	person := operate(t, h)
	if err := person.Reset(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for _, ends := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		driver.signal(ends)
		for range driver.lines {
		}
		driver.ended = true
		if err := driver.cmd.Wait(); err != nil {
			t.Fatalf("after %v: %v: %s", ends, err, driver.errors)
		}
		driver = h.driver(t)
		comesUp("; ready")
	}
	driver.kill()
	driver = h.driver(t, "--plant", h.socket("nobody")) // no body will ever come
	comesUp("stopped, number 2 (driver_lost: ")
	person = operate(t, h)
	if err := person.Reset(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	driver.end()
	driver = h.driver(t)
	comesUp("; ready")
}

// Two drivers do not keep one latch file: the second is refused with the file's name, whatever its addresses are, and the stop of the
// first outlives it. A driver that was killed holds nothing any more.
//
// Verifies: P04, D122
func TestTwoDriversDoNotKeepOneLatch(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	first := h.driver(t)
	first.line()
	person := operate(t, h)
	number, _, err := person.Stop(t.Context(), "a person")
	if err != nil {
		t.Fatal(err)
	}
	kept(t, person)
	second := []string{
		"driver", "sim", "--contract", contractFile, "--listen", h.socket("driver2"), "--operator", h.socket("operator2"), "--latch-file", h.latch(),
	}
	out, err := exec.Command(binary, second...).CombinedOutput()
	if code := exitCodeOf(err); code != 2 || !strings.Contains(string(out), "--latch-file "+h.latch()) {
		t.Errorf("the second driver ends with %d: %s", code, out)
	}
	first.kill()
	if says := start(t, exec.Command(binary, second...)).line(); !strings.Contains(says, "stopped, number 1 (a person)") || number != 1 {
		t.Errorf("after stop %d the next driver comes up with %q", number, says)
	}
}

func exitCodeOf(err error) int {
	if e, is := err.(*exec.ExitError); is { //nolint:errorlint // what exec returns
		return e.ExitCode()
	}
	return 0
}
