package main

import (
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"interlock/eval"
)

// What is printed as a command to run is one, whole: pasted as it is it does what it says, where one robot is known and where
// more are, by name and by address.
//
// Verifies: U124
func TestPrintedCommandsCanBePasted(t *testing.T) {
	h := inhabited(t, soft(t))
	enter(t, "another", "") // so that a robot must be named
	runs := func(code int, line ...string) string {
		t.Helper()
		got, out, errOut := command(t, line...)
		if got != code {
			t.Errorf("%q: exit %d, want %d: %q %q", line, got, code, out, errOut)
		}
		return out + errOut
	}
	out := runs(exitFine, "stop", "so101")
	runs(exitFine, pasted(t, out, "To permit motion again: ")...)
	out = runs(exitFine, "stop", "--operator", h.socket("o"))
	runs(exitFine, pasted(t, out, "To permit motion again: ")...)
	out = runs(exitFine, "stop", "nickname", "--operator", h.socket("o")) // a name that leads nowhere
	runs(exitFine, pasted(t, out, "To permit motion again: ")...)
	out = runs(exitFine, "take", "so101", "--by", "ada")
	runs(exitFine, append(pasted(t, out, "to give it back: "), "--by", "ada")...)
	e, err := entryOf("so101")
	if err != nil {
		t.Fatal(err)
	}
	out = runs(exitFine, "take", "--by", "ada", "--person", e.Person)
	runs(exitFine, append(pasted(t, out, "to give it back: "), "--by", "ada")...)
	h.pasteApprovals(t)

	runs(exitFine, "stop", "so101")
	h.driver.end() // it comes up stopped
	h.driver = began(t, nil, "driver", "sim", "--contract", soft(t), "--listen", h.socket("d2"), "--operator", h.socket("o"))
	h.until("the driver is there again", func() bool { return strings.Contains(h.driver.out.String(), "to permit motion: ") })
	runs(exitFine, pasted(t, h.driver.out.String(), "to permit motion: ")...)

	blank := filepath.Join(t.TempDir(), "an arm's.yaml")
	out = runs(exitFine, "init", blank)
	if !strings.Contains(out, "interlock check '"+strings.ReplaceAll(blank, "'", `'\''`)+"'\n") {
		t.Errorf("a file with a blank and a quote is shown as %q", out)
	}
}

// The page about a run shows commands that can be pasted, whatever the run's folder is called.
//
// Verifies: U170
func TestTheReportsCommandsCanBePasted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ada's run")
	for _, line := range [][]string{{"demo", "--agents", "overclaimer", "--out", dir}, {"report", dir}} {
		if code, _, errOut := command(t, line...); code != exitFine {
			t.Fatalf("%q: exit %d, %s", line, code, errOut)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, eval.PageFile))
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "<code>interlock replay ")
	shown, _, found := strings.Cut(shown, "</code>")
	id, whole := strings.CutPrefix(html.UnescapeString(shown), word(dir)+" ")
	if code, out, errOut := command(t, "replay", dir, id); !found || !whole || code != exitFine {
		t.Errorf("the page shows %q: exit %d, %q %q", shown, code, out, errOut)
	}
}

// pasteApprovals lets a call wait in chat, and runs what chat, the refusal and the list print, which let it pass.
func (h *house) pasteApprovals(t *testing.T) {
	t.Helper()
	person := newTypist(t)
	chat := began(t, person, "chat", "so101")
	for i, words := range []string{"move to 20 5 3 cm", "move to 20 5 4 cm"} {
		person.types(t, words)
		h.until("the call waits", func() bool { return strings.Count(chat.out.String(), "waiting for a person") == i+1 })
		_, text, _ := strings.Cut(chat.out.String(), words)
		lists := pasted(t, text, "in another terminal: ")
		_, list, _ := command(t, lists...)
		decides := pasted(t, text, "a person may allow it: ") // by its hash alone, at whichever robot
		if i == 1 {
			_, rest, _ := strings.Cut(list, "\n    interlock approve ")
			decides = append([]string{"approve"}, strings.Fields(rest)[:2]...)
		}
		if code, out, errOut := command(t, append(slices.Clone(decides), "--yes")...); code != exitFine {
			t.Errorf("%q: exit %d, %q %q", decides, code, out, errOut)
		}
		h.until("the motion ends, and its brain says how", func() bool { return strings.Count(chat.out.String(), "(claims ") == i+1 })
		h.permitted()
	}
	_ = person.keys.Close()
	h.until("chat ends", func() bool { return strings.HasSuffix(chat.out.String(), "bye\n") })
}

// A HASH alone leads to the robot at which it waits; one that waits nowhere, or at two, is refused.
//
// Verifies: U124
func TestAHashLeadsToItsRobot(t *testing.T) {
	s, addr := stands(t)
	p := s.ask(t, "red cube")
	enter(t, "another", "unix:"+filepath.Join(t.TempDir(), "nobody"))
	if code, _, errOut := command(t, "approve", strings.Repeat("ab", 32), "--yes"); code != exitBadInput || !strings.Contains(errOut, "another, so101") {
		t.Errorf("a hash of nowhere: exit %d, %q", code, errOut)
	}
	enter(t, "twin", addr)
	if code, _, errOut := command(t, "approve", p.GetHash(), "--yes"); code != exitBadInput || !strings.Contains(errOut, "so101, twin") {
		t.Errorf("at two robots: exit %d, %q", code, errOut)
	}
	enter(t, "twin", "")
	if code, out, errOut := command(t, "approve", p.GetHash()[:8], "--yes"); code != exitFine || !strings.HasPrefix(out, "so101: ") || !s.granted(p) {
		t.Errorf("by its hash alone: exit %d, %q %q", code, out, errOut)
	}
	q := s.ask(t, "blue cube")
	enter(t, q.GetHash()[:8], "") // a robot that is called like the beginning of a hash
	for _, line := range [][]string{{"approve", q.GetHash()[:8], "so101", "--yes"}, {"approve", "so101", q.GetHash()[:8], "--yes", "--deny"}} {
		if code, out, errOut := command(t, line...); code != exitFine || !strings.HasPrefix(out, "so101: ") {
			t.Errorf("%q: exit %d, %q %q", line, code, out, errOut)
		}
	}
}
