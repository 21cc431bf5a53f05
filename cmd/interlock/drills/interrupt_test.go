package drills_test

import (
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// A real Ctrl-C at a conversation that reads from a pipe: the first stops the robot and the conversation goes on, a second
// one behind it quits. They may come so late after each other on a busy machine that each is a first one.
//
// Verifies: U151
func TestInterruptStopsFirst(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.driver(t)
	h.serve(t)
	ready(t, h.call(t))
	cmd := h.env(exec.Command(binary, "chat", "--robot", "so101", "--json"))
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	chat := start(t, cmd)
	chat.until(`"event":"hello"`)
	chat.signal(syscall.SIGINT)
	chat.until(`"event":"stopped"`)
	if state(t, operate(t, h)).Number == 0 {
		t.Error("nothing was stopped")
	}
	said, quit := "", false
	for range busyTries {
		_ = cmd.Process.Signal(syscall.SIGINT) // it may have ended meanwhile
		if said = chat.untilOne(`"event":"stopped"`, `"event":"bye"`); strings.Contains(said, "bye") {
			quit = true
			break
		}
	}
	if !quit {
		t.Fatalf("it does not end; it said last: %s", said)
	}
	for range chat.lines {
	}
	chat.ended = true
	var status *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &status) || status.ExitCode() != 7 {
		t.Errorf("it ended with %v: %s", err, chat.errors)
	}
}
