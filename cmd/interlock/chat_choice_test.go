package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	contractv1 "interlock/contract/v1"
)

// folderOf is a runtime folder of the test's own, short enough for sockets.
func folderOf(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "il") //nolint:usetesting // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Setenv("XDG_STATE_HOME", dir)
	return dir
}

// known makes a robot known, and lets somebody listen at its address.
func known(t *testing.T, name, addr string, pid int, listens bool) {
	t.Helper()
	if listens {
		network, where, unix := "tcp", addr, false
		if where, unix = strings.CutPrefix(addr, "unix:"); unix {
			network = "unix"
		}
		l, err := net.Listen(network, where)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		if !unix {
			addr = l.Addr().String()
		}
	}
	e := entry{Name: name, Address: addr, PID: pid}
	if err := e.write(); err != nil {
		t.Fatal(err)
	}
}

// A conversation for which nobody named a robot is with the one of this user that runs; where several do it is refused with
// their names, and where none does, or the folded one is asked for, it brings its own. One that died does not count, nor does
// the process that has its number or its address now.
//
// Verifies: U165
func TestWhomAConversationIsWith(t *testing.T) {
	dir := folderOf(t)
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	with := func(f chatFlags, own bool, robot string) {
		t.Helper()
		if err := f.choose(t.Context(), own); err != nil || f.robot != robot {
			t.Errorf("%+v is with %q, %v; want %q", f, f.robot, err, robot)
		}
	}
	with(chatFlags{}, false, "")
	known(t, "dead", "unix:"+filepath.Join(dir, "nobody"), os.Getpid(), false)
	known(t, "killed", "127.0.0.1:0", gone.Process.Pid, true)
	known(t, "never", "127.0.0.1:1", 0, false)
	with(chatFlags{}, false, "")
	known(t, "ada", "127.0.0.1:0", os.Getpid(), true)
	with(chatFlags{}, false, "ada")
	with(chatFlags{folded: true}, false, "")
	with(chatFlags{}, true, "")
	with(chatFlags{robot: "carol"}, false, "carol") // it may come
	known(t, "bob", "unix:"+filepath.Join(dir, "b"), os.Getpid(), true)
	refusedAsInput(t, []string{"chat"}, "ada, bob", "ROBOT", "--folded")
	refusedAsInput(t, []string{"chat", "ada", "--folded"}, "--folded")
	refusedAsInput(t, []string{"chat", "ada", "--contract", "robots/so101-tabletop.yaml"}, "--contract")
	refusedAsInput(t, []string{"chat", "--operator", "unix:o"}, "--operator")
	with(chatFlags{folded: true}, false, "")
}

// "interlock robot FILE" in one terminal and "interlock chat" in another: the conversation says whom it is with, a wave is
// that robot's, and a typed stop stops it there.
//
// Verifies: U164
func TestPlainChatTalksToTheRobotThatRuns(t *testing.T) {
	h := inhabited(t, "robots/so101-tabletop.yaml")
	person := newTypist(t)
	chat := began(t, person, "chat", "--json")
	h.until("it says whom it is with", func() bool {
		return strings.Contains(chat.out.String(), "so101 runs") && strings.Contains(chat.out.String(), "interlock chat --folded")
	})
	h.until("the robot is there", func() bool { return strings.Contains(chat.out.String(), "the robot so101 is there") })
	person.types(t, "wave at me")
	h.until("it waves, or has ended on a machine that is too busy", func() bool {
		return strings.Contains(chat.out.String(), `"phase":"wave"`) || strings.Contains(chat.out.String(), `"event":"verdict"`)
	})
	person.types(t, "stop")
	h.until("the stop is told", func() bool { return strings.Contains(chat.out.String(), `"event":"stopped"`) })
	_ = person.keys.Close()
	h.until("chat ends", func() bool { return strings.Contains(chat.out.String(), `"event":"bye"`) })
	_, out, _ := command(t, "audit", "show", "--kind", "latch")
	if !strings.Contains(out, "stopped, number 1") || !strings.Contains(out, "typed in chat: stop") {
		t.Errorf("the robot's record has no stop of this conversation: %s\n%s", out, &chat.out)
	}
	_, out, _ = command(t, "missions", "--json")
	if s := said[missionState](t, out); len(s) != 1 || s[0].Capability != "wave" || !s[0].Final {
		t.Errorf("the robot's missions are %s", out)
	}
}

// A robot that begins to run while a conversation is with a folded one, which nobody asked for, is warned of: a stop that is
// typed there does not reach it.
//
// Verifies: U165
func TestARobotThatComesLaterIsWarnedOf(t *testing.T) {
	folderOf(t)
	person, asked := newTypist(t), newTypist(t)
	chat, folded := began(t, person, "chat"), began(t, asked, "chat", "--folded")
	h := &house{t: t, driver: chat, robot: folded}
	h.until("both began", func() bool {
		return strings.Contains(chat.out.String(), "in this process") && strings.Contains(folded.out.String(), "in this process")
	})
	known(t, "ada", "127.0.0.1:0", os.Getpid(), true)
	h.until("it is warned of", func() bool { return strings.Contains(chat.out.String(), "ada runs now") })
	_, _ = person.keys.Close(), asked.keys.Close()
	h.until("both end", func() bool {
		return strings.HasSuffix(chat.out.String(), "bye\n") && strings.HasSuffix(folded.out.String(), "bye\n")
	})
	if !strings.Contains(chat.out.String(), "interlock chat ada") || strings.Contains(folded.out.String(), "ada") {
		t.Errorf("%s\n%s", &chat.out, &folded.out)
	}
}

// A folded conversation does not touch the robot that runs.
//
// Verifies: U165
func TestAFoldedConversationIsApart(t *testing.T) {
	h := inhabited(t, "robots/so101-tabletop.yaml")
	person := newTypist(t)
	chat := began(t, person, "chat", "--folded")
	h.until("it says where its robot is", func() bool { return strings.Contains(chat.out.String(), "in this process") })
	person.types(t, "stop")
	h.until("the stop is told", func() bool { return strings.Contains(chat.out.String(), "STOPPED") })
	_ = person.keys.Close()
	h.until("chat ends", func() bool { return strings.HasSuffix(chat.out.String(), "stopped\n") })
	l := newNamedLine("so101", "")
	defer l.end()
	if o, err := l.Observe(t.Context(), &contractv1.ObserveRequest{}); err != nil || o.GetStopped() || o.GetStopNumber() != 0 {
		t.Errorf("%v %v", o, err)
	}
}

// told counts what a chat --json has told.
func (o *ongoing) told(t *testing.T, is func(chatEvent) bool) (n int) {
	t.Helper()
	whole := o.out.String()
	for _, e := range said[chatEvent](t, whole[:strings.LastIndexByte(whole, '\n')+1]) {
		if is(e) {
			n++
		}
	}
	return n
}

func warnsOf(robot string) func(chatEvent) bool {
	return func(e chatEvent) bool { return e.Event == evWarning && e.Robot == robot }
}

// A conversation that joined the one robot there was tells of each robot that begins to run later, in one line and once, also
// where it ends and comes again, and how that one is talked to. One that is with a robot by name is not told: it was chosen.
//
// Verifies: U180
func TestAConversationThatJoinedIsToldOfOthers(t *testing.T) {
	dir := folderOf(t)
	known(t, "ada", "127.0.0.1:0", os.Getpid(), true)
	person, second, third := newTypist(t), newTypist(t), newTypist(t)
	joined, plain, named := began(t, person, "chat", "--json"), began(t, second, "chat"), began(t, third, "chat", "ada")
	h := &house{t: t, driver: joined, robot: plain}
	h.until("all began", func() bool {
		return joined.told(t, func(e chatEvent) bool { return e.Event == evHello && e.Robot == "ada" }) == 1 &&
			strings.Contains(plain.out.String(), "ada runs, so") && strings.Contains(named.out.String(), "robot ada")
	})
	toldOf := func(robot string) {
		t.Helper()
		h.until("it is told of "+robot, func() bool {
			return joined.told(t, warnsOf(robot)) > 0 && strings.Contains(plain.out.String(), "\n  "+robot+" runs beside ada")
		})
	}
	known(t, "bob", "127.0.0.1:0", os.Getpid(), true)
	toldOf("bob")
	path, err := runtimeFile("bob" + entrySuffix)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	known(t, "carol", "unix:"+filepath.Join(dir, "c"), os.Getpid(), true)
	toldOf("carol") // so bob's absence was seen
	known(t, "bob", "127.0.0.1:0", os.Getpid(), true)
	known(t, "dan", "127.0.0.1:0", os.Getpid(), true)
	toldOf("dan")
	_, _, _ = person.keys.Close(), second.keys.Close(), third.keys.Close()
	h.until("all end", func() bool {
		return joined.told(t, func(e chatEvent) bool { return e.Event == evBye }) == 1 && strings.HasSuffix(plain.out.String(), "bye\n") && strings.HasSuffix(named.out.String(), "bye\n")
	})
	for _, robot := range []string{"bob", "carol", "dan"} {
		if n, lines := joined.told(t, warnsOf(robot)), strings.Count(plain.out.String(), robot+" runs"); n != 1 || lines != 1 || !strings.Contains(plain.out.String(), "interlock chat "+robot+" ") {
			t.Errorf("%s is told of %d and %d times\n%s\n%s", robot, n, lines, &joined.out, &plain.out)
		}
		if strings.Contains(named.out.String(), robot) {
			t.Errorf("a conversation with ada is told of %s\n%s", robot, &named.out)
		}
	}
	if n := joined.told(t, warnsOf("ada")); n > 0 {
		t.Errorf("it is told of its own robot\n%s", &joined.out)
	}
}
