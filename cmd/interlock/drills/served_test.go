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
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"interlock/body/remote"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
	"interlock/transport/connect"
)

// command runs a command line to its end.
func (h home) command(t testing.TB, input string, line ...string) (out string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
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
	again := func() *process {
		p := start(t, h.env(exec.Command(binary, append([]string{"robot", file}, more...)...)))
		p.line() // it listens
		return p
	}
	p := again()
	robots.Store(t, &robotOf{p, again})
	return p
}

// robotOf is the latest robot of a test, and what starts it again.
type robotOf struct {
	*process
	again func() *process
}

// robots are the latest robots of the tests that run: one whose driver did not answer its first question in time ends, and
// is started again before the test has begun with it.
var robots sync.Map

func revive(t testing.TB) {
	t.Helper()
	found, ok := robots.Load(t)
	if !ok {
		return
	}
	r := found.(*robotOf)
	select {
	case <-r.gone:
		if !r.ended { // not by the test
			t.Logf("the robot ended and is started again: %s", r.errors)
			r.kill()
			*r.process = *r.again()
		}
	default:
	}
}

// call is a brain's line to the home's robot.
func (h home) call(t testing.TB) transport.Client {
	t.Helper()
	return h.callWith(t, "")
}

// callAsPerson is a line that brings the robot's token, as the verbs for people do: who calls so is one caller.
func (h home) callAsPerson(t testing.TB) transport.Client {
	t.Helper()
	token, err := connect.ReadToken(filepath.Join(string(h), "interlock", "so101.token"))
	if err != nil {
		t.Fatal(err)
	}
	return h.callWith(t, token)
}

func (h home) callWith(t testing.TB, token string) transport.Client {
	t.Helper()
	client, closer, err := connect.Dial(h.socket("robot"), connect.DialOptions{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = closer.Close() })
	return client
}

// ready waits until the robot has its driver.
func ready(t testing.TB, c transport.Client) *contractv1.Manifest {
	t.Helper()
	var m *contractv1.Manifest
	waitFor(t, "the robot to be ready", func() bool {
		revive(t)
		var err error
		if m, err = c.Describe(t.Context()); err == nil {
			_, err = c.Observe(t.Context(), &contractv1.ObserveRequest{})
		}
		return err == nil
	})
	return m
}

// moves that are far apart, and slow enough to be interrupted.
const (
	toLeft  = `{"x_cm": 20, "y_cm": 14, "z_cm": 15}`
	toRight = `{"x_cm": 20, "y_cm": -14, "z_cm": 15}`
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
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for e, err := range c.Events(ctx, &contractv1.EventsRequest{MissionId: id, FromSeq: 1}) {
		if err != nil {
			t.Fatalf("mission %s: %v", id, err)
		}
		end = e
	}
	return end
}

// carry runs one move to its end. One that a busy machine spoiled is run again, under an id of its own.
func carry(t testing.TB, c transport.Client, id, args string) {
	t.Helper()
	for tries := 0; ; tries++ {
		name := again(id, tries)
		if accepted(t, c, name, args) {
			e := last(t, c, name)
			if e.GetKind() == contractv1.EventKind_VERIFIED {
				return
			}
			if !wasSpoiled(e) || tries == busyTries {
				t.Fatalf("mission %s ended %v: %v", name, e.GetKind(), e.GetReason())
			}
			t.Logf("mission %s was spoiled: %s", name, e.GetReason())
		}
		permitted(t)
	}
}

// carrySlowly starts a move that takes seconds, and returns its id once it moves the arm.
func carrySlowly(t testing.TB, c transport.Client, w *watcher, id string) string {
	t.Helper()
	for tries := range busyTries {
		if name := again(id, tries); accepted(t, c, name, slowly) {
			if _, ok := w.movesWithin(5 * time.Second); ok {
				return name
			}
			t.Logf("mission %s does not move the arm", name)
		}
		permitted(t)
	}
	t.Fatal("the arm does not move")
	return ""
}

func again(id string, tries int) string {
	if tries == 0 {
		return id
	}
	return fmt.Sprintf("%s-%d", id, tries)
}

// accepted starts a mission, and asks again while the robot's driver lets it wait.
func accepted(t testing.TB, c transport.Client, id, args string) bool {
	t.Helper()
	for range 20 {
		ack := begin(t, c, id, args)
		if ack.GetAccepted() {
			return true
		}
		r := ack.GetRejections()[0]
		if r.GetCode() == string(reject.Stopped) {
			return false
		}
		if r.GetCode() != string(reject.StaleFact) {
			t.Fatalf("mission %s was refused: %v", id, ack.GetRejections())
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false
}

// wasSpoiled reports whether a mission ended as it does on a machine that lets robot, driver or plant wait too long: one did not
// answer another in time, a setpoint came when it had expired, when the arm was behind it or when the driver had slept, the latch
// file took longer than a motion waits for its first setpoint, the readings were too old to tell how it came out, or it all
// took too long.
func wasSpoiled(e *contractv1.Event) bool {
	if e.GetKind() == contractv1.EventKind_VERIFIED {
		return false
	}
	return e.GetKind() == contractv1.EventKind_UNVERIFIED || slices.ContainsFunc([]string{
		"driver_lost", "bus_dead", "stale_reading", "timeout", "stop_unconfirmed", "lease_lost",
		string(reject.OutOfRange), string(reject.StaleFact), string(reject.NotPermitted),
	}, func(why string) bool { return strings.Contains(e.GetReason(), why) })
}

// permitted resets a stop that a spoiled mission left. A robot's own driver is at the place of its name.
func permitted(t testing.TB) {
	t.Helper()
	found, ok := homes.Load(t)
	if !ok {
		return
	}
	h := found.(home)
	addr := h.socket("operator")
	if _, err := os.Stat(strings.TrimPrefix(addr, "unix:")); err != nil {
		addr = h.socket("interlock/so101.operator.sock")
	}
	o := remote.DialOperator(addr)
	defer o.Close()
	if l, _, err := o.State(t.Context()); err == nil && l.Stopped {
		if err := o.Reset(t.Context(), l.Number); err != nil {
			t.Log(err) // it was stopped again
		}
	}
}

// until waits until lines with all the pieces were printed, in whatever order, and returns what was printed.
func (p *process) until(pieces ...string) (said string) {
	p.t.Helper()
	for begun := time.Now(); time.Since(begun) < 2*patience; {
		text := p.line()
		said += text + "\n"
		pieces = slices.DeleteFunc(pieces, func(piece string) bool { return strings.Contains(text, piece) })
		if len(pieces) == 0 {
			return said
		}
	}
	p.t.Fatalf("nobody said %q", pieces)
	return said
}

// answered reads what a conversation prints up to the verdict on a request, or to what went wrong with it.
func (p *process) answered() (said string) {
	for late := time.After(patience); ; {
		select {
		case l, ok := <-p.lines:
			said += l + "\n"
			if !ok || strings.Contains(l, `"event":"verdict"`) || strings.Contains(l, `"event":"error"`) {
				return said
			}
		case <-late:
			return said
		}
	}
}

// verified says the words until what they ask for is verified, and returns what was printed then.
func (p *process) verified(say func(string), words string) (said string) {
	p.t.Helper()
	for range busyTries {
		permitted(p.t)
		say(words)
		if said = p.answered(); strings.Contains(said, `"state":"verified"`) {
			return said
		}
		p.t.Logf("%q ended with %s", words, said)
	}
	p.t.Fatalf("%q is never verified", words)
	return said
}

// busyTries is how often a drill asks for a motion that a busy machine may spoil.
const busyTries = 20

// untilOne waits until a line with one of the pieces was printed, and returns it. It may be called from any goroutine.
func (p *process) untilOne(pieces ...string) string {
	for late := time.After(patience); ; {
		select {
		case l, ok := <-p.lines:
			if !ok {
				return "the end of the process"
			}
			if slices.ContainsFunc(pieces, func(piece string) bool { return strings.Contains(l, piece) }) {
				return l
			}
		case <-late:
			return "nothing of that"
		}
	}
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
	h.driver(t, "--plant", h.socket("plant")).line()
	h.plant(t)
	w := watch(t, h)
	ready(t, c)
	code := -1
	for tries := 0; !strings.Contains(out, `"state":"done"`) && tries < busyTries; tries++ { // a busy machine may spoil the mission
		permitted(t)
		out, code = h.command(t, "move to (20, 14, 15) cm\n", "chat", "--robot", "so101", "--json", "--goal", "at(point_cm(20.0, 14.0, 15.0))")
	}
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
	slow, person, number := carrySlowly(t, c, w, "slow"), operate(t, h), 0
	w.standsAfter("a stop", halting, func() {
		out, code := h.command(t, "", "stop", "so101", "--json")
		s := lines(t, out)
		if code != 0 || len(s) != 1 || s[0]["stopped"] != true {
			t.Fatalf("stop: %d, %s", code, out)
		}
		number = int(s[0]["number"].(float64)) // a busy machine may have stopped it before
	})
	kept(t, person)
	if e := last(t, c, slow); e.GetKind() != contractv1.EventKind_ABORTED || !strings.HasPrefix(e.GetReason(), "stop") {
		t.Errorf("the mission ended %v: %s", e.GetKind(), e.GetReason())
	}
	if ack := begin(t, c, "again", toLeft); ack.GetAccepted() || ack.GetRejections()[0].GetCode() != string(reject.Stopped) {
		t.Errorf("a start under the stop is answered by %v", ack)
	}
	if now := int(state(t, person).Number); now != number { // the robot found no standstill in time, on a busy machine
		t.Logf("stop %d became stop %d", number, now)
		number = now
	}
	if _, code := h.command(t, "", "reset", strconv.Itoa(number+1)); code != 2 {
		t.Errorf("a reset of another number exits with %d", code)
	}
	if _, code := h.command(t, "", "reset", strconv.Itoa(number), "so101"); code != 0 {
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
	slow := carrySlowly(t, c, w, "slow")
	w.standsAfter("the robot was killed", standstill, robot.kill)
	out, _ := h.command(t, "", "robots", "--json")
	if s := lines(t, out); len(s) != 1 || s[0]["state"] != "silent" {
		t.Errorf("robots says %s", out)
	}
	before := w.look()
	h.serve(t)
	ready(t, c) // over the same client
	if d := w.after(w.look(), 300*time.Millisecond).tip.Distance(before.tip); d > movingM {
		t.Errorf("the robot that was started again moved the tip by %v m", d)
	}
	if e := last(t, c, slow); e.GetKind() != contractv1.EventKind_INTERRUPTED || e.GetReason() != "restart" {
		t.Errorf("the mission of the dead robot ended %v: %s", e.GetKind(), e.GetReason())
	}
	if ack := begin(t, c, slow, slowly); !ack.GetAccepted() || !ack.GetDuplicate() {
		t.Errorf("its start again is answered by %v", ack)
	}
	w.still(400*time.Millisecond, "a repeated start")
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
	slow := carrySlowly(t, c, w, "slow")
	driver.kill()
	if e := last(t, c, slow); e.GetKind() != contractv1.EventKind_ABORTED {
		t.Errorf("the mission ended %v: %s", e.GetKind(), e.GetReason())
	}
	if ack := begin(t, c, "lost", toLeft); ack.GetAccepted() || ack.GetRejections()[0].GetField() != "driver" {
		t.Errorf("without a driver a start is answered by %v", ack)
	}
	before := w.after(w.look(), stillFor)
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
	if d := w.tip().Distance(before.tip); d > movingM {
		t.Errorf("a restart and a reset moved the tip by %v m", d)
	}
	carry(t, c, "new", toLeft)
	if ack := begin(t, c, "there", toLeft); !ack.GetDuplicate() {
		t.Errorf("a mission from before the driver died is started again: %v", ack)
	}
}

// Asked to end in the middle of a mission, the robot stands still first and tells the mission's last word; its own driver
// ends with it, within 5 s, its record verifies, and nothing is left behind.
//
// Verifies: F48, Z06
func TestEndOfARobotWithItsDriver(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.plant(t)
	w := watch(t, h)
	robot := h.serveFile(t, contractFile, "--plant", h.socket("plant"), "--listen", h.socket("robot"))
	c := h.call(t)
	ready(t, c)
	carry(t, c, "there", toLeft)
	slow := carrySlowly(t, c, w, "slow")
	begun, end := make(chan struct{}), make(chan *contractv1.Event, 1)
	go func() {
		var last *contractv1.Event
		for e, err := range c.Events(t.Context(), &contractv1.EventsRequest{MissionId: slow, FromSeq: 1}) {
			if err != nil {
				break
			}
			if last = e; e.GetSeq() == 1 {
				close(begun)
			}
		}
		end <- last
	}()
	<-begun
	late, asked := feelLateness(t), time.Now()
	robot.end()
	if took := time.Since(asked); took > 5*time.Second+4*late.most() {
		t.Errorf("it took %v to end", took)
	}
	w.still(300*time.Millisecond, "the end")
	if out, code := h.command(t, "", "audit", "verify", "so101"); code != 0 {
		t.Errorf("after the end the record does not verify: %d, %s", code, out)
	}
	if e := <-end; e.GetKind() != contractv1.EventKind_INTERRUPTED && !wasSpoiled(e) {
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
	carrySlowly(t, c, w, "slow")
	w.standsAfter("the robot was killed", standstill, robot.kill)
	socket := filepath.Join(string(h), "interlock", "so101.driver.sock")
	waitFor(t, "the driver to end with its robot", func() bool {
		_, err := os.Stat(socket)
		return errors.Is(err, os.ErrNotExist)
	})
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
	waitFor(t, "the token's bearer to be heard", func() bool {
		_, code = h.command(t, "", "describe", "so101", "--json")
		return code == 0
	})
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
	for tries := 0; ; tries++ { // the first must answer it in time
		if _, code = h.command(t, "", "robot", contractFile); code == 3 {
			break
		}
		if code == 0 || tries == 4 {
			t.Fatalf("a second robot of the name exits with %d", code)
		}
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
	out, code = h.command(t, "", "stop", "--json") // it ends by itself
	if s := lines(t, out); code != 1 || len(s) != 1 || s[0]["stopped"] != false {
		t.Errorf("the stop of a frozen driver: %d, %s", code, out)
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
	waitFor(t, "the robot to find another contract", func() bool { return strings.Contains(robot.errors.String(), "another contract") })
	if _, err := c.Describe(t.Context()); err == nil {
		t.Error("a driver with the limits of another contract was joined")
	}
	other.end()
	h.driverOf(t, blind)
	m := ready(t, c)
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
	c := h.callAsPerson(t)
	ready(t, c)
	carry(t, c, "one", toLeft)
	begin(t, c, "two", slowly)
	for e, err := range c.Events(t.Context(), &contractv1.EventsRequest{MissionId: "two", FromSeq: 1}) {
		if err != nil || e.GetSeq() == 2 {
			break
		}
	}
	out, code := h.command(t, "", "events", "two", "--json") // so far
	if s := lines(t, out); code != 0 || len(s) < 2 || s[0]["seq"] != 1.0 || s[len(s)-1]["final"] == true {
		t.Errorf("events: %d, %s", code, out)
	}
	if out, code = h.command(t, "", "cancel", "two", "--json"); code != 0 || lines(t, out)[0]["state"] != "cancelled" {
		t.Errorf("cancel: %d, %s", code, out)
	}
	if _, code = h.command(t, "", "cancel", "two"); code != 0 { // there is nothing left to end
		t.Errorf("a second cancel exits with %d", code)
	}
	if _, code = h.command(t, "", "cancel", "three"); code == 0 {
		t.Error("a cancel of no mission exits with 0")
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
	chat.verified(say, "go home")
	robot.kill()
	until("does not answer")
	say("stop")
	until(`"event":"stopped"`)
	say("go home")
	until(`"event":"error"`)
	say(fmt.Sprintf("reset %d", state(t, operate(t, h)).Number))
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
	chat.verified(say, "go home")
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	until(`"event":"bye"`)
}
