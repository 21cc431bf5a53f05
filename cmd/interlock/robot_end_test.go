package main

import (
	"errors"
	"strings"
	"testing"

	"interlock/robot"
)

// A robot that was asked to end and whose driver did not answer its last calls says so and has ended as it was asked; one
// that did not see standstill after a motion fails, and so does one that never ran.
//
// Verifies: T63
func TestARobotThatEndsSaysWhatItsDriverDidNotAnswer(t *testing.T) {
	late := errors.New("deadline_exceeded: context deadline exceeded")
	for name, c := range map[string]struct {
		err  error
		told bool // on standard error, and no failure
	}{
		"all was done":           {nil, false},
		"it was not closed":      {&robot.EndError{Close: late}, true},
		"nothing was answered":   {&robot.EndError{Halt: late, Close: late}, true},
		"no standstill was seen": {&robot.EndError{NotStill: true, Close: late}, false},
		"it never ran":           {late, false},
	} {
		var says strings.Builder
		err := (&served{errOut: &says}).atEnd(c.err)
		if told := says.Len() > 0; told != c.told || (err != nil) != (c.err != nil && !c.told) {
			t.Errorf("%s: told %q, error %v", name, says.String(), err)
		}
	}
}
