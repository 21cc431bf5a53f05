package drills_test

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"interlock/body"
	"interlock/body/remote"
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

// A driver that is killed in a mission prints the command that resets it, and that command stays right, though the robot, which could
// not tell the dead driver to halt, stops the new one too: that is a further cause of the same stop.
//
// Verifies: F06, D125
func TestTheResetThatWasPrintedStaysRight(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.plant(t)
	driver := h.driver(t, "--plant", h.socket("plant"))
	w := watch(t, h)
	h.serve(t)
	c := h.call(t)
	ready(t, c)
	carry(t, c, "there", toLeft)
	slow := carrySlowly(t, c, w, "slow")
	driver.kill()
	last(t, c, slow) // the robot has given it up, and owes a stop
	driver = h.driver(t, "--plant", h.socket("plant"))
	says := driver.line()
	l := causes(t, operate(t, h), "; then ")
	if printed := fmt.Sprintf("stopped, number %d (%s); to permit motion: interlock reset %d ", l.Number, before(l.Reason, "; then "), l.Number); !strings.Contains(says, printed) {
		t.Errorf("the driver came up with %q, and the latch is %+v", says, l)
	}
	if _, code := h.command(t, "", "reset", fmt.Sprint(l.Number)); code != 0 {
		t.Errorf("the reset exits with %d", code)
	}
	carry(t, c, "new", toLeft)
}

// A body that is frozen in a mission is found by its driver, which says so by the number that the stop has from the beginning, whoever
// was the first to stop it.
//
// Verifies: F33, D127
func TestADriverFindsItsBodyFrozen(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	plant := h.plant(t)
	driver := h.driver(t, "--plant", h.socket("plant"))
	w := watch(t, h)
	h.serve(t)
	c := h.call(t)
	ready(t, c)
	carry(t, c, "there", toLeft)
	slow := carrySlowly(t, c, w, "slow")
	person := operate(t, h)
	number := state(t, person).Number
	plant.signal(syscall.SIGSTOP)
	l := causes(t, person, "driver_lost: ")
	last(t, c, slow)
	after := state(t, person)
	plant.signal(syscall.SIGCONT)
	if l.Number != number+1 || after.Number != l.Number || !strings.HasPrefix(after.Reason, l.Reason) {
		t.Errorf("before it was stop %d; it was found as %+v, and is %+v", number, l, after)
	}
	for says := driver.line(); !strings.Contains(says, fmt.Sprintf("stopped, number %d (", l.Number)); says = driver.line() { // the last of what it says
	}
}

// causes waits until the latch tells of a cause.
func causes(t *testing.T, person *remote.Operator, cause string) (l body.Latch) {
	t.Helper()
	waitFor(t, cause, func() bool {
		var err error
		l, _, err = person.State(t.Context())
		return err == nil && strings.Contains(l.Reason, cause)
	})
	return l
}

func before(s, part string) string { b, _, _ := strings.Cut(s, part); return b }

func exitCodeOf(err error) int {
	if e, is := err.(*exec.ExitError); is { //nolint:errorlint // what exec returns
		return e.ExitCode()
	}
	return 0
}
