package drills_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
	"interlock/transport/connect"
)

// env gives the processes of a home folders of their own.
func (h home) env(cmd *exec.Cmd) *exec.Cmd {
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+string(h), "XDG_STATE_HOME="+string(h))
	return cmd
}

// command runs a command line to its end.
func (h home) command(t testing.TB, input string, line ...string) (out string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	cmd := h.env(exec.CommandContext(ctx, binary, line...))
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("%v: %v, %s", line, err, stderr.String())
	}
	if cmd.ProcessState.ExitCode() != 0 {
		t.Logf("interlock %s: %s", strings.Join(line, " "), strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), cmd.ProcessState.ExitCode()
}

// serve starts a robot process that joins the home's driver.
func (h home) serve(t testing.TB, more ...string) *process {
	t.Helper()
	return h.serveFile(t, contractFile, append([]string{"--driver", h.socket("driver"), "--operator", h.socket("operator"), "--listen", h.socket("robot")}, more...)...)
}

func (h home) serveFile(t testing.TB, file string, more ...string) *process {
	t.Helper()
	p := start(t, h.env(exec.Command(binary, append([]string{"robot", file}, more...)...)))
	p.line() // it listens
	return p
}

// call is a brain's line to the home's robot.
func (h home) call(t testing.TB) transport.Client {
	t.Helper()
	client, closer, err := connect.Dial(h.socket("robot"), connect.DialOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = closer.Close() })
	return client
}

// ready waits until the robot has its driver.
func ready(t testing.TB, c transport.Client) *contractv1.Manifest {
	t.Helper()
	var err error
	for range 200 {
		var m *contractv1.Manifest
		if m, err = c.Describe(t.Context()); err == nil {
			if _, err = c.Observe(t.Context(), &contractv1.ObserveRequest{}); err == nil {
				return m
			}
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("the robot is not ready: %v", err)
	return nil
}

// moves that are far apart, and slow enough to be interrupted.
const (
	toLeft  = `{"x_cm": 20, "y_cm": 14, "z_cm": 15}`
	slowly  = `{"x_cm": 20, "y_cm": -14, "z_cm": 15, "speed_mps": 0.1}`
	leftCM  = 14.0
	startOf = "move_to"
)

func begin(t testing.TB, c transport.Client, id, args string) *contractv1.MissionAck {
	t.Helper()
	ack, err := c.Start(t.Context(), &contractv1.StartRequest{MissionId: id, Capability: startOf, ArgsJson: []byte(args)})
	if err != nil {
		t.Fatal(err)
	}
	return ack
}

// last follows a mission to its end.
func last(t testing.TB, c transport.Client, id string) (end *contractv1.Event) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
	defer cancel()
	for e, err := range c.Events(ctx, &contractv1.EventsRequest{MissionId: id, FromSeq: 1}) {
		if err != nil {
			t.Fatalf("mission %s: %v", id, err)
		}
		end = e
	}
	return end
}

// carry runs one move to its end.
func carry(t testing.TB, c transport.Client, id, args string) {
	t.Helper()
	if ack := begin(t, c, id, args); !ack.GetAccepted() {
		t.Fatalf("mission %s was refused: %v", id, ack.GetRejections())
	}
	if e := last(t, c, id); e.GetKind() != contractv1.EventKind_VERIFIED {
		t.Fatalf("mission %s ended %v: %v", id, e.GetKind(), e.GetReason())
	}
}

func (w *watcher) still(long time.Duration, after string) {
	w.t.Helper()
	before := w.tip()
	time.Sleep(long)
	if d := w.tip().Distance(before); d > movingM {
		w.t.Errorf("after %s the tip moved by %v m", after, d)
	}
}

// until waits until lines with all the pieces were printed, in whatever order.
func (p *process) until(pieces ...string) {
	p.t.Helper()
	for range 60 {
		text := p.line()
		pieces = slices.DeleteFunc(pieces, func(piece string) bool { return strings.Contains(text, piece) })
		if len(pieces) == 0 {
			return
		}
	}
	p.t.Fatalf("nobody said %q", pieces)
}

type line map[string]any

// lines reads one JSON object per line.
func lines(t testing.TB, out string) (list []line) {
	t.Helper()
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var l line
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		list = append(list, l)
	}
}

// Four processes, started robot first, then driver, then plant: the robot says what it waits for, and once all are there
// a request that is typed in a fifth is carried out, measured, and done by the plant's truth.
//
// Verifies: Z01, Z02
func TestAnyOrderOfStarting(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	robot := h.serve(t)
	c := h.call(t)
	var l reject.List
	if _, err := c.Describe(t.Context()); !errors.As(err, &l) || l[0].Code != reject.StaleFact || l[0].Field != "driver" {
		t.Errorf("without a driver, describe is answered by %v", err)
	}
	if ack, err := c.Start(t.Context(), &contractv1.StartRequest{MissionId: "early", Capability: startOf, ArgsJson: []byte(toLeft)}); err != nil || ack.GetAccepted() {
		t.Errorf("without a driver, a start is answered by %v, %v", ack, err)
	}
	out, _ := h.command(t, "", "robots", "--json")
	if s := lines(t, out); len(s) != 1 || s[0]["state"] != "waiting" {
		t.Errorf("robots says %s", out)
	}
	h.driver(t, "--plant", h.socket("plant"))
	time.Sleep(200 * time.Millisecond)
	h.plant(t)
	w := watch(t, h)
	ready(t, c)
	out, code := h.command(t, "move to (20, 14, 15) cm\n", "chat", "--robot", "so101", "--json", "--goal", "at(point_cm(20.0, 14.0, 15.0))")
	if code != 0 || !strings.Contains(out, `"event":"verdict"`) || !strings.Contains(out, `"state":"done"`) {
		t.Errorf("the conversation: %s", out)
	}
	if tip := w.tip(); tip[1]*100 < leftCM-1 || tip[1]*100 > leftCM+1 {
		t.Errorf("done, and the tip is at %v m", tip)
	}
	robot.end()
}

// A person's stop from a command of its own, in the middle of a mission: the arm stands by the plant's truth, the mission
// is aborted, whatever follows is refused; the reset of that number permits, and moves nothing.
//
// Verifies: Z03, P04
func TestStopAcrossProcesses(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.plant(t)
	h.driver(t, "--plant", h.socket("plant"))
	w := watch(t, h)
	h.serve(t)
	c := h.call(t)
	ready(t, c)
	carry(t, c, "there", toLeft)
	begin(t, c, "slow", slowly)
	w.waitMoving()
	begun := time.Now()
	out, code := h.command(t, "", "stop", "so101", "--json")
	if s := lines(t, out); code != 0 || len(s) != 1 || s[0]["stopped"] != true || s[0]["number"] != 1.0 || s[0]["durable"] != true {
		t.Fatalf("stop: %d, %s", code, out)
	}
	if took := w.untilStill(begun); took > standstill+slack {
		t.Errorf("the arm moved for %v", took)
	}
	if e := last(t, c, "slow"); e.GetKind() != contractv1.EventKind_ABORTED || !strings.HasPrefix(e.GetReason(), "stop") {
		t.Errorf("the mission ended %v: %s", e.GetKind(), e.GetReason())
	}
	if ack := begin(t, c, "again", toLeft); ack.GetAccepted() || ack.GetRejections()[0].GetCode() != string(reject.Stopped) {
		t.Errorf("a start under the stop is answered by %v", ack)
	}
	if _, code := h.command(t, "", "reset", "2"); code != 2 {
		t.Errorf("a reset of another number exits with %d", code)
	}
	if _, code := h.command(t, "", "reset", "1", "so101"); code != 0 {
		t.Errorf("the reset exits with %d", code)
	}
	w.still(400*time.Millisecond, "the reset")
	carry(t, c, "new", toLeft)
}

// A robot that is killed in the middle of a mission leaves a still arm; started anew it moves nothing by itself, waits for
// the lease of the dead one to lapse, and works.
//
// Verifies: Z04, P06
func TestRobotKilledAndStartedAgain(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.plant(t)
	h.driver(t, "--plant", h.socket("plant"))
	w := watch(t, h)
	robot := h.serve(t)
	c := h.call(t)
	ready(t, c)
	carry(t, c, "there", toLeft)
	begin(t, c, "slow", slowly)
	w.waitMoving()
	begun := time.Now()
	robot.kill()
	if took := w.untilStill(begun); took > standstill+slack {
		t.Errorf("the arm moved for %v after the robot was killed", took)
	}
	out, _ := h.command(t, "", "robots", "--json")
	if s := lines(t, out); len(s) != 1 || s[0]["state"] != "silent" {
		t.Errorf("robots says %s", out)
	}
	before := w.tip()
	h.serve(t)
	ready(t, c) // over the same client
	time.Sleep(300 * time.Millisecond)
	if d := w.tip().Distance(before); d > movingM {
		t.Errorf("the robot that was started again moved the tip by %v m", d)
	}
	for _, err := range c.Events(t.Context(), &contractv1.EventsRequest{MissionId: "slow", FromSeq: 1}) {
		var l reject.List
		if !errors.As(err, &l) {
			t.Errorf("the mission of the dead robot is answered by %v", err)
		}
	}
	carry(t, c, "new", toLeft)
}

// A driver that is killed in the middle of a mission is a fault that the robot survives: the mission ends aborted, nothing
// is accepted, and the same robot works with the driver that comes up, stopped, and is reset. Missions stay known.
//
// Verifies: Z05, D03
func TestRobotSurvivesItsDriver(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.plant(t)
	driver := h.driver(t, "--plant", h.socket("plant"))
	w := watch(t, h)
	h.serve(t)
	c := h.call(t)
	ready(t, c)
	carry(t, c, "there", toLeft)
	begin(t, c, "slow", slowly)
	w.waitMoving()
	driver.kill()
	if e := last(t, c, "slow"); e.GetKind() != contractv1.EventKind_ABORTED {
		t.Errorf("the mission ended %v: %s", e.GetKind(), e.GetReason())
	}
	if ack := begin(t, c, "lost", toLeft); ack.GetAccepted() || ack.GetRejections()[0].GetField() != "driver" {
		t.Errorf("without a driver a start is answered by %v", ack)
	}
	time.Sleep(300 * time.Millisecond)
	before := w.tip()
	h.driver(t, "--plant", h.socket("plant"))
	ready(t, c)
	if ack := begin(t, c, "stopped", toLeft); ack.GetAccepted() || ack.GetRejections()[0].GetCode() != string(reject.Stopped) {
		t.Errorf("a driver that died in a motion lets a start be answered by %v", ack)
	}
	o, err := c.Observe(t.Context(), &contractv1.ObserveRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, code := h.command(t, "", "reset", fmt.Sprint(o.GetStopNumber())); code != 0 {
		t.Errorf("the reset exits with %d", code)
	}
	if d := w.tip().Distance(before); d > movingM {
		t.Errorf("a restart and a reset moved the tip by %v m", d)
	}
	carry(t, c, "new", toLeft)
	if ack := begin(t, c, "there", toLeft); !ack.GetDuplicate() {
		t.Errorf("a mission from before the driver died is started again: %v", ack)
	}
}

// Asked to end in the middle of a mission, the robot stands still first and tells the mission's last word; its own driver
// ends with it, and nothing is left behind.
//
// Verifies: Z06
func TestEndOfARobotWithItsDriver(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.plant(t)
	w := watch(t, h)
	robot := h.serveFile(t, contractFile, "--plant", h.socket("plant"), "--listen", h.socket("robot"))
	c := h.call(t)
	ready(t, c)
	carry(t, c, "there", toLeft)
	begin(t, c, "slow", slowly)
	w.waitMoving()
	end := make(chan *contractv1.Event, 1)
	go func() { end <- last(t, c, "slow") }()
	time.Sleep(100 * time.Millisecond)
	begun := time.Now()
	robot.end()
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	w.still(300*time.Millisecond, "the end")
	if e := <-end; e.GetKind() != contractv1.EventKind_INTERRUPTED {
		t.Errorf("the mission ended %v: %s", e.GetKind(), e.GetReason())
	}
	left, err := filepath.Glob(filepath.Join(string(h), "interlock", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		if strings.HasSuffix(f, ".sock") || strings.HasSuffix(f, ".robot.json") {
			t.Errorf("%s was left behind", f)
		}
	}
}

// A robot that is killed takes its own driver with it: that one brings the arm to rest and ends by itself. The next robot
// starts another, which comes up ready because it ended in order; nothing moves by that, and it works.
//
// Verifies: Z07
func TestOwnedDriverEndsWithAKilledRobot(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.plant(t)
	w := watch(t, h)
	line := []string{"--plant", h.socket("plant"), "--listen", h.socket("robot")}
	robot := h.serveFile(t, contractFile, line...)
	c := h.call(t)
	ready(t, c)
	carry(t, c, "there", toLeft)
	begin(t, c, "slow", slowly)
	w.waitMoving()
	begun := time.Now()
	robot.kill()
	if took := w.untilStill(begun); took > standstill+slack {
		t.Errorf("the arm moved for %v", took)
	}
	socket := filepath.Join(string(h), "interlock", "so101.driver.sock")
	for tries := 0; ; tries++ {
		if _, err := os.Stat(socket); errors.Is(err, os.ErrNotExist) {
			break
		}
		if tries == 100 {
			t.Fatal("the driver goes on without its robot")
		}
		time.Sleep(20 * time.Millisecond)
	}
	h.serveFile(t, contractFile, line...)
	ready(t, c)
	w.still(300*time.Millisecond, "a new start")
	carry(t, c, "new", toLeft)
}

// Over TCP only the token's bearer is heard, and only by the loopback's name; a second robot of the name is refused.
//
// Verifies: Z08
func TestTokenIsAskedFor(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.serveFile(t, contractFile)
	out, code := h.command(t, "", "robots", "--json")
	s := lines(t, out)
	if code != 0 || len(s) != 1 {
		t.Fatalf("robots: %s", out)
	}
	addr := s[0]["address"].(string)
	for range 100 {
		if _, code = h.command(t, "", "describe", "so101", "--json"); code == 0 {
			break
		}
	}
	if code != 0 {
		t.Error("the token's bearer is not heard")
	}
	wrong := filepath.Join(string(h), "wrong")
	if err := os.WriteFile(wrong, []byte(strings.Repeat("ab", 16)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, code := h.command(t, "", "describe", addr, "--token-file", wrong); code != 3 {
		t.Errorf("a wrong token exits with %d", code)
	}
	client, closer, err := connect.Dial(addr, connect.DialOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = closer.Close() }()
	var l reject.List
	if _, err := client.Describe(t.Context()); !errors.As(err, &l) || l[0].Code != reject.NotPermitted || l[0].Rule != "token" {
		t.Errorf("without a token: %v", err)
	}
	if _, code := h.command(t, "", "robot", contractFile); code != 3 {
		t.Errorf("a second robot of the name exits with %d", code)
	}
}

// A stop needs the driver and nothing else: no robot, no plant, no name.
//
// Verifies: Z09
func TestStopNeedsOnlyTheDriver(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	driver := start(t, h.env(exec.Command(binary, "driver", "sim", "--contract", contractFile, "--plant", h.socket("nobody"))))
	driver.line()
	out, code := h.command(t, "", "stop", "--json")
	if s := lines(t, out); code != 0 || len(s) != 1 || s[0]["stopped"] != true || s[0]["robot"] != "so101" {
		t.Errorf("stop: %d, %s", code, out)
	}
	if _, code := h.command(t, "", "reset", "1"); code != 0 {
		t.Errorf("the reset exits with %d", code)
	}
	driver.signal(syscall.SIGSTOP)
	begun := time.Now()
	out, code = h.command(t, "", "stop", "--json")
	if s := lines(t, out); code != 1 || len(s) != 1 || s[0]["stopped"] != false {
		t.Errorf("the stop of a frozen driver: %d, %s", code, out)
	}
	if took := time.Since(begun); took > 3*time.Second {
		t.Errorf("the stop of a frozen driver took %v", took)
	}
}

// What no sensor of the driver fills is withdrawn, visibly: in the manifest, in the text for people, and when it is called.
//
// Verifies: Z10
func TestWithdrawnAcrossProcesses(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	text, err := os.ReadFile(contractFile)
	if err != nil {
		t.Fatal(err)
	}
	blind := filepath.Join(string(h), "blind.yaml")
	if err := os.WriteFile(blind, bytes.Replace(text, []byte("witness: camera"), []byte("witness: lidar"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	other := h.driver(t) // with the limits of another contract
	robot := h.serveFile(t, blind, "--driver", h.socket("driver"), "--operator", h.socket("operator"), "--listen", h.socket("robot"))
	c := h.call(t)
	time.Sleep(400 * time.Millisecond)
	if _, err := c.Describe(t.Context()); err == nil {
		t.Error("a driver with the limits of another contract was joined")
	}
	other.end()
	h.driverOf(t, blind)
	m := ready(t, c)
	if !strings.Contains(robot.errors.String(), "another contract") {
		t.Errorf("the robot says %s", robot.errors)
	}
	gone := map[string]string{}
	for _, w := range m.GetWithdrawn() {
		gone[w.GetCapability()] = w.GetWhy()
	}
	if !strings.Contains(gone["pick"], "lidar") || gone["move_to"] != "" {
		t.Errorf("withdrawn: %v", gone)
	}
	ack, err := c.Start(t.Context(), &contractv1.StartRequest{MissionId: "p", Capability: "pick", ArgsJson: []byte(`{"name": "red cube"}`)})
	if err != nil || ack.GetAccepted() || ack.GetRejections()[0].GetCode() != string(reject.NotPermitted) {
		t.Errorf("pick is answered by %v, %v", ack, err)
	}
	if out, _ := h.command(t, "", "describe"); !strings.Contains(out, "withdrawn") || !strings.Contains(out, "lidar") {
		t.Errorf("describe says %s", out)
	}
	carry(t, c, "m", toLeft)
}

// The verbs for people: missions, events and cancel, by name, as JSON, with the exit codes that documents promise.
//
// Verifies: Z11
func TestVerbsForPeople(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.driver(t)
	h.serve(t)
	c := h.call(t)
	ready(t, c)
	carry(t, c, "one", toLeft)
	begin(t, c, "two", slowly)
	time.Sleep(300 * time.Millisecond)
	out, code := h.command(t, "", "events", "two", "--json") // so far
	if s := lines(t, out); code != 0 || len(s) < 2 || s[0]["seq"] != 1.0 || s[len(s)-1]["final"] == true {
		t.Errorf("events: %d, %s", code, out)
	}
	if out, code = h.command(t, "", "cancel", "two", "--json"); code != 0 || lines(t, out)[0]["state"] != "cancelled" {
		t.Errorf("cancel: %d, %s", code, out)
	}
	if _, code = h.command(t, "", "cancel", "two"); code != 3 && code != 2 {
		t.Errorf("a second cancel exits with %d", code)
	}
	if _, code = h.command(t, "", "events", "-f", "one"); code != 0 {
		t.Errorf("events -f of a verified mission exits with %d", code)
	}
	if _, code = h.command(t, "", "events", "-f", "two"); code != 4 {
		t.Errorf("events -f of a cancelled mission exits with %d", code)
	}
	if _, code = h.command(t, "", "events", "three"); code == 0 {
		t.Error("events of no mission exits with 0")
	}
	out, _ = h.command(t, "", "missions", "--json")
	if s := lines(t, out); len(s) != 2 || s[0]["mission"] != "one" || s[0]["state"] != "verified" || s[1]["state"] != "cancelled" || s[1]["final"] != true {
		t.Errorf("missions: %s", out)
	}
	for _, line := range [][]string{{"describe", "nobody"}, {"describe", "No!"}, {"reset", "x"}, {"robot", contractFile, "--name", "a/b"}, {"robot", contractFile, "--name", "other", "--listen", "0.0.0.0:0"}} {
		if _, code := h.command(t, "", line...); code != 2 {
			t.Errorf("%v exits with %d", line, code)
		}
	}
}

// A conversation that began before its robot: told that it does not answer, then that it is there; a typed stop goes to
// the driver though the robot is dead; a robot that comes back with other verbs is told, and serves the next request.
//
// Verifies: Z12
func TestConversationOutlivesTheRobot(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	driver := h.driver(t)
	cmd := h.env(exec.Command(binary, "chat", "--robot", "so101", "--json"))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	chat := start(t, cmd)
	say := func(words string) {
		if _, err := io.WriteString(in, words+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	until := func(pieces ...string) { t.Helper(); chat.until(pieces...) }
	until("does not answer")
	robot := h.serve(t)
	until("the robot so101 is there")
	say("go home")
	until(`"state":"verified"`)
	until(`"event":"verdict"`)
	robot.kill()
	until("does not answer")
	say("stop")
	until(`"event":"stopped"`)
	say("go home")
	until(`"event":"error"`)
	say("reset 1")
	until(`"event":"reset"`)
	text, err := os.ReadFile(contractFile)
	if err != nil {
		t.Fatal(err)
	}
	blind := filepath.Join(string(h), "blind.yaml")
	if err := os.WriteFile(blind, bytes.Replace(text, []byte("witness: camera"), []byte("witness: lidar"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	driver.end()
	h.driverOf(t, blind)
	h.serveFile(t, blind, "--driver", h.socket("driver"), "--operator", h.socket("operator"), "--listen", h.socket("robot2"))
	until("the robot so101 is there")
	say("go home")
	until(`"state":"verified"`)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	until(`"event":"bye"`)
}
