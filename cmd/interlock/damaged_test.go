package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// spoiled makes the entry of a robot one that cannot be read.
func spoiled(t *testing.T, name string) (path string) {
	t.Helper()
	path, err := runtimeFile(name + entrySuffix)
	if err == nil {
		err = os.WriteFile(path, []byte(`{"name":"`+name+`","addr`), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A conversation for which nobody named a robot is with the only one that runs, and tells of a damaged entry beside it. Where none
// is known to run that entry may be the one that does: then nothing is begun, least of all a simulator. What was asked for by name
// is done.
//
// Verifies: U181
func TestADamagedEntryKeepsNobodyFromChat(t *testing.T) {
	folderOf(t)
	path := spoiled(t, "carol")
	for _, running := range []string{"", "ada", "bob"} {
		if running != "" {
			known(t, running, "127.0.0.1:0", os.Getpid(), true)
		}
		f := chatFlags{}
		err := f.choose(t.Context(), false)
		if running == "ada" {
			if err != nil || f.robot != "ada" || f.alone {
				t.Errorf("beside ada: %+v, %v", f, err)
			}
			continue
		}
		if err == nil || f.robot != "" || f.alone {
			t.Errorf("with %q: %+v, %v", running, f, err)
		}
		refusedAsInput(t, []string{"chat"}, "which robot", "carol", path, "--folded", running)
	}
	for _, f := range []chatFlags{{folded: true}, {robot: "bob"}} {
		if err := f.choose(t.Context(), false); err != nil {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

// A conversation that goes on beside a damaged entry says so, once, with the file and what to do, whether the entry was there first
// or not, and whether the robot runs elsewhere or is a simulated one.
//
// Verifies: U181
func TestChatTellsOfADamagedEntry(t *testing.T) {
	for _, robot := range []string{"", "ada"} {
		folderOf(t)
		if robot != "" {
			known(t, robot, "127.0.0.1:0", os.Getpid(), true)
			spoiled(t, "bob")
		}
		person := newTypist(t)
		chat := began(t, person, "chat", "--json")
		h := &house{t: t, driver: chat, robot: chat}
		h.until("it began", func() bool { return chat.told(t, func(e chatEvent) bool { return e.Event == evHello }) == 1 })
		path := spoiled(t, "carol")
		h.until("it is told of carol", func() bool { return chat.told(t, warnsOf("carol")) == 1 })
		known(t, "dan", "127.0.0.1:0", os.Getpid(), true)
		h.until("it is told of dan", func() bool { return chat.told(t, warnsOf("dan")) == 1 }) // it has looked once more
		_ = person.keys.Close()
		h.until("it ends", func() bool { return chat.told(t, func(e chatEvent) bool { return e.Event == evBye }) == 1 })
		for _, name := range []string{"bob", "carol"} {
			if n := chat.told(t, warnsOf(name)); name == "bob" && robot == "" && n != 0 || (name == "carol" || robot != "") && n != 1 {
				t.Errorf("with %q it is told of %s %d times\n%s", robot, name, n, &chat.out)
			}
		}
		if chat.told(t, func(e chatEvent) bool {
			return warnsOf("carol")(e) && strings.Contains(e.Says, path) && strings.Contains(e.Says, "delete the file")
		}) != 1 {
			t.Errorf("it does not say what is to be done\n%s", &chat.out)
		}
	}
}

// Beside a damaged entry every verb does for a robot that is named what it does without that entry. Without a name it goes on with
// the only robot that can be read, and warns; what is said by a number that every robot has is asked whom for; a stop of all robots
// stops the others, and is no success.
//
// Verifies: U182
func TestADamagedEntryKeepsNobodyFromTheOthers(t *testing.T) {
	h := inhabited(t, "robots/so101-tabletop.yaml")
	h.carry("m1", "home", "{}")
	alike := [][]string{
		{"describe"}, {"describe", "--json"}, {"missions"}, {"events", "m1"}, {"events", "m1", "--json"}, {"cancel", "m1"}, {"audit", "show", "--kind", "intent"}, {"approve"}, {"approve", "--json"},
	}
	want := map[string]string{}
	for _, line := range alike {
		_, want[strings.Join(line, " ")], _ = command(t, append(slices.Clone(line), "so101")...)
	}
	path := spoiled(t, "carol")
	for _, line := range alike {
		for _, name := range []string{"so101", ""} {
			code, out, errOut := command(t, append(slices.Clone(line), name)...)
			if code != exitFine || out != want[strings.Join(line, " ")] || strings.Contains(errOut, path) != (name == "") {
				t.Errorf("%q of %q: exit %d, %q %q", line, name, code, out, errOut)
			}
		}
	}
	for _, line := range [][]string{{"take"}, {"take", "--release"}} {
		if code, out, errOut := command(t, line...); code != exitFine || !strings.Contains(out, "so101") || !strings.Contains(errOut, path) {
			t.Errorf("%q: exit %d, %q %q", line, code, out, errOut)
		}
	}
	for _, line := range [][]string{{"reset", "1"}, {"resolve", "task-1", "achieved"}} {
		refusedAsInput(t, line, "which robot", "carol", path)
	}
	code, out, errOut := command(t, "stop", "--json")
	said := said[stopSaid](t, out)
	if code != exitError || len(said) != 2 || !strings.HasPrefix(errOut, "interlock: NOT STOPPED: the driver of carol") {
		t.Fatalf("stop: exit %d, %q %q", code, out, errOut)
	}
	if so101, carol := said[0], said[1]; !so101.Stopped || so101.Number != 1 || carol.Robot != "carol" || carol.Stopped || !strings.Contains(carol.Says, path) {
		t.Errorf("stop: %q", out)
	}
	if code, out, errOut := command(t, "reset", "1", "so101"); code != exitFine {
		t.Errorf("reset: exit %d, %q %q", code, out, errOut)
	}
}

// A robot whose entry is damaged is listed as that, with the file and what to do; it is refused to whoever names it, and its name is
// free for a robot that is started.
//
// Verifies: U182
func TestADamagedEntryIsShown(t *testing.T) {
	folderOf(t)
	path := spoiled(t, "carol")
	for _, line := range [][]string{{"robots", "--json"}, {"robots", "carol", "--json"}} {
		code, out, errOut := command(t, line...)
		if s := said[robotState](t, out); code != exitFine || len(s) != 1 || s[0].Name != "carol" || s[0].State != stateDamaged || !strings.Contains(s[0].Says, path) {
			t.Errorf("%q: exit %d, %q %q", line, code, out, errOut)
		}
	}
	if _, out, _ := command(t, "robots"); !strings.HasPrefix(out, "carol  damaged\n") || !strings.Contains(out, path) || !strings.Contains(out, "delete the file") {
		t.Errorf("robots: %q", out)
	}
	for _, c := range robotVerbs() {
		line := lineOf(c)
		if line[0] == "chat" || line[0] == "robots" || line[0] == "audit" { // it may come; it is shown; it has no record
			continue
		}
		refusedAsInput(t, append(append(line, fillers(c)...), "carol"), path, "delete the file")
		if line[0] != "stop" {
			refusedAsInput(t, append(line, fillers(c)...), path)
		}
	}
	for _, name := range []string{"carol", "ada"} {
		if err := nobodyCalled(context.Background(), name); err != nil {
			t.Errorf("%s cannot be started: %v", name, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil { // a folder is no entry either
		t.Fatal(err)
	}
	if _, out, _ := command(t, "robots"); !strings.HasPrefix(out, "carol  damaged\n") || !strings.Contains(out, filepath.Base(path)) {
		t.Errorf("robots: %q", out)
	}
}
