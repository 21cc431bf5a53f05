package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// robotVerbs are all commands that are about a robot of this user.
func robotVerbs() (list []*cobra.Command) {
	for _, c := range commands() {
		if strings.Contains(c.Use, "ROBOT") {
			list = append(list, c)
		}
	}
	return list
}

// fillers are arguments of a verb before its ROBOT.
func fillers(c *cobra.Command) (words []string) {
	for _, w := range strings.Fields(c.Use)[1:] {
		switch w {
		case "N":
			words = append(words, "1")
		case "achieved|not_achieved":
			words = append(words, wordAchieved)
		case "[HASH]":
			words = append(words, strings.Repeat("0a", 32))
		case "[ROBOT]", "[ROBOT":
			return words
		default:
			words = append(words, "thing-1")
		}
	}
	return words
}

// One rule names a robot in every verb of a person's: it is the last argument, or --robot; both may not contradict each
// other; both complete; help says so.
//
// Verifies: U122
func TestEveryVerbNamesItsRobotAlike(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, name := range []string{"ada", "bob"} {
		e := entry{Name: name, Address: "127.0.0.1:1", Operator: "unix:" + filepath.Join(t.TempDir(), "o"), Audit: t.TempDir()}
		if err := e.write(); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, c := range robotVerbs() {
		line := lineOf(c)
		names = append(names, strings.Join(line, " "))
		if use := strings.Fields(c.Use); use[len(use)-1] != "[ROBOT]" && !strings.HasSuffix(c.Use, "[ROBOT | DIR]") {
			t.Errorf("%s: ROBOT is not its last argument", c.Use)
		}
		if c.Flags().Lookup("robot") == nil {
			t.Errorf("%s has no --robot", c.CommandPath())
			continue
		}
		for _, asked := range [][]string{append(append(line, fillers(c)...), ""), append(line, "--robot", "")} {
			if _, out, _ := command(t, append([]string{"__complete"}, asked...)...); !strings.HasPrefix(out, "ada\nbob\n") {
				t.Errorf("%q completes %q", asked, out)
			}
		}
		if _, out, _ := command(t, append([]string{"__complete"}, append(append(line, fillers(c)...), "ada", "")...)...); strings.Contains(out, "bob") {
			t.Errorf("%q completes a second robot", line)
		}
		refusedAsInput(t, append(append(line, fillers(c)...), "ada", "--robot", "bob"), "which robot", `"ada"`, `"bob"`)
		if line[0] == "chat" {
			continue // one that is not there may come
		}
		for _, asked := range [][]string{append(append(line, fillers(c)...), "carol"), append(append(line, fillers(c)...), "--robot", "carol"), append(append(line, fillers(c)...), "--robot", "carol", "carol")} {
			refusedAsInput(t, asked, `"carol"`)
		}
	}
	slices.Sort(names)
	if want := "approve,audit show,audit verify,cancel,chat,describe,events,missions,reset,resolve,robots,stop,take"; strings.Join(names, ",") != want {
		t.Errorf("the verbs with a ROBOT are %q, not %q", names, want)
	}
	_, help, _ := command(t, "--help")
	if !strings.Contains(help, "--robot ROBOT") || !strings.Contains(help, "last argument") {
		t.Errorf("help does not say how a robot is named:\n%s", help)
	}
}

// The argument, the flag, the address and nothing at all lead to the same robot.
//
// Verifies: U122
func TestEveryWayToNameARobotLeadsToIt(t *testing.T) {
	h := inhabited(t, "robots/so101-tabletop.yaml")
	h.carry("m1", "home", "{}")
	l := newNamedLine("so101", "")
	defer l.end()
	if _, err := l.now(); err != nil {
		t.Fatal(err)
	}
	enter(t, "another", "") // so that the robot must be named
	for _, verb := range [][]string{{"describe"}, {"missions"}, {"robots"}, {"events", "m1"}, {"cancel", "m1"}, {"audit", "show", "--kind", "intent"}} {
		want := ""
		for i, name := range [][]string{{"so101"}, {"--robot", "so101"}, {"--robot=so101", "so101"}, {l.at.Address}} {
			if verb[0] == "audit" && i == 3 {
				continue // a record is named, or is a folder
			}
			code, out, errOut := command(t, append(verb, name...)...)
			if i == 0 {
				want = out
			}
			if code != exitFine || out != want || out == "" {
				t.Errorf("%q %q: exit %d, %q %q, want %q", verb, name, code, out, errOut, want)
			}
		}
		if verb[0] != "robots" && verb[0] != "audit" {
			refusedAsInput(t, verb, "another, so101")
		}
	}
	stops := h.permitted()
	first, second := fmt.Sprint(stops+1), fmt.Sprint(stops+2)
	for _, line := range [][]string{{"take", "so101"}, {"take", "--release", "--robot", "so101"}, {"stop", "--robot", "so101"}, {"reset", first, "--robot", "so101"}, {"stop", "so101"}, {"reset", second, "so101"}} {
		if code, out, errOut := command(t, line...); code != exitFine || out == "" {
			t.Errorf("%q: exit %d, %q %q", line, code, out, errOut)
		}
	}
}
