package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"interlock/body"
	"interlock/body/remote"
)

// mute is a socket that accepts and never answers, as that of a process that is frozen.
func mute(t *testing.T, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var held []net.Conn
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			held = append(held, c)
			mu.Unlock()
		}
	})
	t.Cleanup(func() {
		err := l.Close()
		accepting.Wait()
		for _, c := range held {
			err = errors.Join(err, c.Close())
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// deserted is the socket of a process that died.
func deserted(t *testing.T, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// driven is a driver whose operator line is where nobody looks for it, so that a test can tell how its latch stands.
type driven struct {
	*ongoing
	t        *testing.T
	operator string // address of that line
}

// drives starts a driver that robots reach at the socket of this name.
func drives(t *testing.T, dir, listen string) *driven {
	t.Helper()
	d := &driven{t: t, operator: "unix:" + filepath.Join(dir, "true")}
	d.ongoing = began(t, nil, "driver", "sim", "--contract", "robots/so101-tabletop.yaml", "--listen", "unix:"+filepath.Join(dir, listen), "--operator", d.operator)
	h := &house{t: t, driver: d.ongoing, robot: d.ongoing}
	h.until("the driver is there", func() bool { return strings.Contains(d.out.String(), "stop and reset: ") })
	return d
}

func (d *driven) latch() (l body.Latch) {
	d.t.Helper()
	o := remote.DialOperator(d.operator)
	defer o.Close()
	l, _, err := o.State(context.Background())
	if err != nil {
		d.t.Fatal(err)
	}
	return l
}

// A stop whose operator line is frozen, died or is gone is confirmed where robots reach the driver, which lies beside that line or
// where the robot's entry says, with the number that its reset takes.
//
// Verifies: U183
func TestAStopReachesTheDriverWhereRobotsDo(t *testing.T) {
	dir := folderOf(t)
	d := drives(t, dir, "frozen.driver.sock")
	for _, twin := range []string{"died.driver.sock", "gone.driver.sock"} {
		if err := os.Symlink("frozen.driver.sock", filepath.Join(dir, twin)); err != nil {
			t.Fatal(err)
		}
	}
	mute(t, filepath.Join(dir, "frozen.operator.sock"))
	deserted(t, filepath.Join(dir, "died.operator.sock"))
	mute(t, filepath.Join(dir, "elsewhere"))
	e := entry{Name: "ada", Address: "127.0.0.1:1", Operator: "unix:" + filepath.Join(dir, "elsewhere"), Driver: "unix:" + filepath.Join(dir, "frozen.driver.sock")}
	if err := e.write(); err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, driver: d.ongoing, robot: d.ongoing}
	last := uint64(0)
	for _, line := range [][]string{
		{"--operator", "unix:" + filepath.Join(dir, "frozen.operator.sock")}, {"--operator", "unix:" + filepath.Join(dir, "died.operator.sock")},
		{"--operator", "unix:" + filepath.Join(dir, "gone.operator.sock")}, {"ada"},
	} {
		var s []stopSaid
		h.until("a stop is confirmed by "+strings.Join(line, " "), func() bool { // a driver without a core confirms the next
			code, out, _ := command(t, append([]string{"stop", "--json"}, line...)...)
			s = said[stopSaid](t, out)
			return code == exitFine && len(s) == 1
		})
		if l := d.latch(); !s[0].Stopped || !l.Stopped || s[0].Number != l.Number || l.Number <= last {
			t.Errorf("%q: %+v; the latch: %+v", line, s, l)
		}
		last = s[0].Number
	}
}

// Where neither line answers, a stop is said not to be one.
//
// Verifies: U184
func TestAStopThatNobodyConfirmsIsSaid(t *testing.T) {
	dir := folderOf(t)
	mute(t, filepath.Join(dir, "frozen.operator.sock"))
	mute(t, filepath.Join(dir, "frozen.driver.sock"))
	for _, name := range []string{"frozen", "gone"} {
		addr := "unix:" + filepath.Join(dir, name+".operator.sock")
		code, out, errOut := command(t, "stop", "--json", "--operator", addr)
		if s := said[stopSaid](t, out); code != exitError || len(s) != 1 || s[0].Stopped || s[0].Number != 0 || s[0].Says == "" || !strings.Contains(errOut, "NOT STOPPED") || !strings.Contains(errOut, "switch") {
			t.Errorf("%s: exit %d, %q %q", name, code, out, errOut)
		}
	}
}

// A stop that is typed in chat does the same: it is confirmed where robots reach the driver while the operator line is frozen or gone;
// where neither line answers chat says that nothing is stopped and what to do, and the same word stops once the driver is there.
//
// Verifies: U183, U184
func TestATypedStopReachesTheDriverWhereRobotsDo(t *testing.T) {
	stopped := func(e chatEvent) bool { return e.Event == evStopped }
	failed := func(e chatEvent) bool {
		return e.Event == evError && e.Code == "STOP_NOT_CONFIRMED" && strings.HasPrefix(e.Says, "NOT STOPPED") && strings.Contains(e.Says, "switch")
	}
	for name, spoil := range map[string]func(*testing.T, string){"frozen": mute, "gone": func(*testing.T, string) {}} {
		t.Run(name, func(t *testing.T) {
			dir := folderOf(t)
			spoil(t, filepath.Join(dir, "x.operator.sock"))
			person := newTypist(t)
			chat := began(t, person, "chat", "so101", "--json", "--operator", "unix:"+filepath.Join(dir, "x.operator.sock"))
			h := &house{t: t, driver: chat, robot: chat}
			person.types(t, "stop") // there is no driver
			h.until("it says that nothing is stopped", func() bool { return chat.told(t, failed) == 1 })
			if chat.told(t, stopped) > 0 || chat.told(t, func(e chatEvent) bool { return e.Event == evCancel }) > 0 {
				t.Errorf("it says that it stopped\n%s", &chat.out)
			}
			d := drives(t, dir, "x.driver.sock")
			said := 0
			h.until("it says that it stopped", func() bool {
				if n := chat.told(t, failed); n > said { // also where a driver without a core did not confirm it
					said = n
					person.types(t, "stop")
				}
				return chat.told(t, stopped) == 1
			})
			l := d.latch()
			if chat.told(t, func(e chatEvent) bool { return stopped(e) && e.Number == l.Number }) != 1 || !l.Stopped || !strings.Contains(l.Reason, "typed in chat: stop") {
				t.Errorf("the latch: %+v\n%s", l, &chat.out)
			}
			_ = person.keys.Close()
			h.until("it ends", func() bool { return chat.told(t, func(e chatEvent) bool { return e.Event == evBye }) == 1 })
		})
	}
}

// A conversation that ends with a stop that nobody confirmed says so last, and is no success.
//
// Verifies: U184
func TestAConversationThatEndsUnstoppedSaysSo(t *testing.T) {
	dir := folderOf(t)
	person := newTypist(t)
	chat := began(t, person, "chat", "so101", "--json", "--operator", "unix:"+filepath.Join(dir, "gone"))
	person.types(t, "stop")
	_ = person.keys.Close()
	h := &house{t: t, driver: chat, robot: chat}
	h.until("it ends", func() bool {
		return chat.told(t, func(e chatEvent) bool { return e.Event == evBye && strings.Contains(e.Says, "NOT STOPPED") }) == 1
	})
	if code := <-chat.ended; code == exitFine {
		t.Errorf("exit %d\n%s", code, &chat.out)
	}
	chat.ended <- exitError // for who ends it
}

// A robot that ended in order leaves no entry behind; a stop that is typed to it still goes to its driver, wherever that is stopped.
//
// Verifies: U185
func TestATypedStopOutlivesTheRobotsEntry(t *testing.T) {
	h := inhabited(t, "robots/so101-tabletop.yaml") // its driver is stopped at no usual place
	person := newTypist(t)
	chat := began(t, person, "chat", "--json")
	h.until("the robot is there", func() bool { return strings.Contains(chat.out.String(), "the robot so101 is there") })
	h.robot.end()
	if _, err := entryOf("so101"); err == nil {
		t.Fatal("it left its entry behind: nothing is tested")
	}
	person.types(t, "stop")
	h.until("the stop is told", func() bool {
		return chat.told(t, func(e chatEvent) bool { return e.Event == evStopped && e.Number == 1 }) == 1
	})
	o := remote.DialOperator(h.socket("o"))
	defer o.Close()
	if l, _, err := o.State(t.Context()); err != nil || !l.Stopped {
		t.Errorf("%+v, %v", l, err)
	}
	_ = person.keys.Close()
	h.until("it ends", func() bool { return chat.told(t, func(e chatEvent) bool { return e.Event == evBye }) == 1 })
}

// Of two robots with one operator line the one that runs says where robots reach the driver.
//
// Verifies: U183
func TestTheRobotThatRunsIsAsked(t *testing.T) {
	folderOf(t)
	for _, e := range []entry{
		{Name: "ada", Address: "127.0.0.1:1", Operator: "127.0.0.1:9", Driver: "127.0.0.1:7001", PID: 1 << 30},
		{Name: "bob", Address: "127.0.0.1:2", Operator: "127.0.0.1:9", Driver: "127.0.0.1:7002", PID: os.Getpid()},
	} {
		if err := e.write(); err != nil {
			t.Fatal(err)
		}
	}
	if got := robotsLine("127.0.0.1:9"); got != "127.0.0.1:7002" {
		t.Errorf("the driver is reached at %q", got)
	}
}

// A reset says every cause of the stop that it ends, also what the robot found after the number was told.
//
// Verifies: U188
func TestAResetTellsEveryCause(t *testing.T) {
	dir := folderOf(t)
	d := drives(t, dir, "driver")
	number, _, err := stopDriver(t.Context(), d.operator, "a person")
	if err != nil {
		t.Fatal(err)
	}
	r, err := remote.Dial(t.Context(), "unix:"+filepath.Join(dir, "driver"), remote.Options{Holder: "robot"})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Open(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if n := r.Stop("stop_unconfirmed"); n != number {
		t.Fatalf("the robot's stop is %d, not %d", n, number)
	}
	var out, errOut strings.Builder
	if code := run(t.Context(), []string{"reset", strconv.FormatUint(number, 10), "--operator", d.operator}, &out, &errOut); code != 0 || !strings.Contains(out.String(), "a person; then stop_unconfirmed") {
		t.Errorf("%d: %s%s", code, &out, &errOut)
	}
}
