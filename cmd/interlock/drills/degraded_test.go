package drills_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"interlock/body/remote"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/units"
)

// degraded is one state in which a stop must work all the same: what it brings about, and the stop in the middle of it.
type degraded struct {
	name  string
	drill func(l *lane)
}

// A stop in every state that a robot can be brought into: it is confirmed, it is latched, the arm stands by the plant's
// truth, and what is sent afterwards is refused.
//
// Verifies: P04, F17, F22, F28, F42, U103
func TestStopInDegradedStates(t *testing.T) {
	t.Parallel()
	states := []degraded{
		{"the disk takes nothing", stopOnAFullDisk},
		{"the folder of the latch file is gone", stopWithoutAFolder},
		{"no robot", stopWithoutARobot},
		{"a frozen robot", stopUnderAFrozenRobot},
		{"a dead brain", stopAfterTheBrain},
		{"a frozen plant", stopOverAFrozenPlant},
		{"a dead plant", stopOverADeadPlant},
		{"a flood at the driver's line", stopInAFloodAtTheDriver},
		{"512 clients at the robot", stopInAFloodAtTheRobot},
		{"stuck readers", stopAmongStuckReaders},
		{"a driver that was paused", stopAfterAPause},
		{"bring-up", stopInBringUp},
		{"stopped already", stopTwice},
		{"a mission that is being cancelled", stopInACancel},
		{"somebody else's lease", stopUnderAnothersLease},
		{"garbage at the operator's socket", stopAmongGarbage},
		{"no descriptors left", stopWithoutDescriptors},
		{"the robot's disk takes nothing", stopOnTheRobotsFullDisk},
		{"a reset at the same time", stopAgainstResets},
	}
	for _, s := range states {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.drill(newLane(t, 0, false))
		})
	}
}

// stops stops the arm as a person does, over a line of their own, and asks that it is latched and that the arm stands.
func (l *lane) stops(what string) (number uint64, durable bool) {
	l.t.Helper()
	took := l.w.standsAfter("a stop under "+what, halting, func() { number, durable = l.stop() })
	l.latched(number)
	tell(l.t, "stop under %s: confirmed, durable %v, the arm stood %v after it was asked for", what, durable, took.Round(time.Millisecond))
	return number, durable
}

// swingsOn waits until the robot moves the arm, or lets another do so where the driver stopped meanwhile.
func (l *lane) swingsOn(robot *process) *process {
	l.t.Helper()
	if _, ok := l.w.movesWithin(10 * time.Second); ok {
		return robot
	}
	robot.kill()
	l.opened()
	return l.swinging()
}

func (l *lane) stop() (number uint64, durable bool) {
	l.t.Helper()
	o := remote.DialOperator(l.socket("operator"))
	defer o.Close()
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	number, durable, err := o.Stop(ctx, "drill")
	if err != nil || number == 0 {
		l.t.Fatalf("stop %d: %v", number, err)
	}
	return number, durable
}

// kept waits until the latch file holds the stop. The disk has its own time: a stop in force is not on it at once.
func (l *lane) kept(number uint64) {
	l.t.Helper()
	l.latched(number)
	kept(l.t, l.person)
}

func (l *lane) latched(number uint64) {
	l.t.Helper()
	if s := state(l.t, l.person); !s.Stopped || s.Number < number { // a robot that loses its driver stops it too
		l.t.Errorf("after stop %d the latch is %+v", number, s)
	}
}

// refuses asks that a setpoint under the stop's number, under the latest and under an older one, is refused and moves
// nothing.
func (l *lane) refuses(number uint64) {
	l.t.Helper()
	d := l.opens("after the stop")
	defer func() { _ = d.Close() }()
	for _, knows := range []uint64{number, number - 1, state(l.t, l.person).Number} {
		if err := answerTo(l.t, d, knows); !rejected(err, reject.Stopped) {
			l.t.Errorf("a setpoint under stop %d was answered by %v", knows, err)
		}
	}
	l.w.still(stillFor, "a setpoint under a stop")
}

// served starts the home's robot with a mission that moves the arm.
func (l *lane) served() (robot *process, mission string) {
	l.t.Helper()
	robot = l.serve(l.t)
	c := l.call(l.t)
	ready(l.t, c)
	return robot, l.carrying(c)
}

// limit bounds a resource of a process and returns what takes the bound away.
func limit(t testing.TB, p *process, resource int, most uint64) (lift func()) {
	t.Helper()
	set := func(now *syscall.Rlimit, was *syscall.Rlimit) {
		t.Helper()
		_, _, errno := syscall.Syscall6(syscall.SYS_PRLIMIT64, uintptr(p.cmd.Process.Pid), uintptr(resource),
			uintptr(unsafe.Pointer(now)), uintptr(unsafe.Pointer(was)), 0, 0)
		if errno != 0 {
			t.Fatalf("prlimit of %v: %v; it says %s", p.cmd.Args, errno, p.errors)
		}
	}
	var was syscall.Rlimit
	set(nil, &was)
	set(&syscall.Rlimit{Cur: most, Max: was.Max}, nil)
	return func() { set(&was, nil) }
}

const rlimitNoFile = 7 // RLIMIT_NOFILE of Linux, which package syscall does not name

func stopOnAFullDisk(l *lane) {
	robot := l.swinging()
	lift := limit(l.t, l.driver, syscall.RLIMIT_FSIZE, 0)
	number, durable := l.stops("a full disk")
	if durable {
		l.t.Error("the stop is told to be durable, and nothing can be written")
	}
	robot.kill()
	l.refuses(number)
	lift()
	waitFor(l.t, "the stop to become durable", func() bool {
		text, err := os.ReadFile(l.latch())
		return err == nil && strings.Contains(string(text), fmt.Sprintf(`"number":%d`, number))
	})
	l.driver.kill()
	if l.driver = l.home.driver(l.t, "--plant", l.socket("plant")); !strings.Contains(l.driver.line(), "stopped") {
		l.t.Error("started anew it is not stopped")
	}
}

func stopWithoutAFolder(l *lane) {
	l.driver.end()
	folder := filepath.Join(string(l.home), "kept")
	if err := os.Mkdir(folder, 0o700); err != nil {
		l.t.Fatal(err)
	}
	l.driver = l.home.driver(l.t, "--plant", l.socket("plant"), "--latch-file", filepath.Join(folder, "latch"))
	robot := l.swinging()
	if err := os.RemoveAll(folder); err != nil {
		l.t.Fatal(err)
	}
	number, durable := l.stops("a folder that is gone")
	if durable {
		l.t.Error("the stop is told to be durable, and there is no folder")
	}
	robot.kill()
	l.refuses(number)
	l.opened()
	l.w.after(l.w.look(), 1200*time.Millisecond) // what is noted as moving is at rest
	d := l.opens("after the reset")
	defer func() { _ = d.Close() }()
	var r reject.Rejection
	if err := answerTo(l.t, d, state(l.t, l.person).Number); !errors.As(err, &r) || r.Rule != "latch_file" {
		l.t.Errorf("a motion that could not be noted was answered by %v", err)
	}
	l.w.still(stillFor, "a motion that could not be noted")
}

func stopWithoutARobot(l *lane) {
	l.swinging().kill()
	number, _ := l.stops("no robot")
	l.kept(number)
	l.refuses(number)
}

func stopUnderAFrozenRobot(l *lane) {
	robot, _ := l.served()
	robot.signal(syscall.SIGSTOP)
	number, _ := l.stops("a frozen robot")
	robot.signal(syscall.SIGCONT)
	l.w.still(stillFor, "a stopped robot was thawed")
	robot.kill()
	l.refuses(number)
}

func stopAfterTheBrain(l *lane) {
	robot := l.serve(l.t)
	ready(l.t, l.call(l.t))
	l.thinking().kill()
	number, _ := l.stops("a dead brain")
	l.w.still(units.LeaseTTL, "the brain's lease lapsed")
	robot.kill()
	l.refuses(number)
}

func stopOverAFrozenPlant(l *lane) {
	robot := l.swinging()
	l.plantProcess.signal(syscall.SIGSTOP)
	number, _ := l.stop()
	l.plantProcess.signal(syscall.SIGCONT)
	l.w.standsAfter("a plant was thawed", halting, func() {})
	l.latched(number)
	robot.kill()
	l.refuses(number)
}

func stopOverADeadPlant(l *lane) {
	robot := l.swinging()
	l.plantProcess.kill()
	number, _ := l.stop()
	l.kept(number)
	robot.kill()
	l.plantProcess = l.plant(l.t)
	l.w = watch(l.t, l.home)
	l.w.still(stillFor, "the plant is back")
	l.refuses(number)
}

// flood calls until it is told to end, from so many clients, each with a line of its own, and tells how many calls it made.
func flood(t testing.TB, clients int, addr, path string, body []byte) (end func() (calls int)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	var mu sync.Mutex
	calls := 0
	for range clients {
		all.Go(func() {
			c := socketClient(t, addr, true)
			n := 0
			for ctx.Err() == nil {
				q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+path, bytes.NewReader(body))
				if err != nil {
					break
				}
				q.Header.Set("Content-Type", "application/json")
				if reply, err := c.Do(q); err == nil {
					_, _ = io.Copy(io.Discard, reply.Body)
					_ = reply.Body.Close()
					n++
				}
			}
			c.CloseIdleConnections()
			mu.Lock()
			defer mu.Unlock()
			calls += n
		})
	}
	return func() int { cancel(); all.Wait(); return calls }
}

func stopInAFloodAtTheDriver(l *lane) {
	robot := l.swinging()
	end := flood(l.t, 64, l.socket("driver"), "/interlock.driver.v1.Driver/Observe", []byte(`{}`))
	defer end()
	robot = l.swingsOn(robot)
	number, _ := l.stops("a flood at the driver")
	robot.kill()
	l.t.Logf("%d calls", end())
	l.refuses(number)
}

func stopInAFloodAtTheRobot(l *lane) {
	robot, _ := l.served()
	end := flood(l.t, 512, l.socket("robot"), "/interlock.v1.Robot/Observe", []byte(`{}`))
	defer end()
	number, _ := l.stops("512 clients")
	l.t.Logf("%d calls", end())
	robot.kill()
	l.refuses(number)
}

func stopAfterAPause(l *lane) {
	robot := l.swinging()
	l.driver.signal(syscall.SIGSTOP)
	l.w.after(l.w.look(), time.Second) // the driver's clock will have gone on by as much, between two of its turns
	l.driver.signal(syscall.SIGCONT)
	number, _ := l.stops("a pause of the driver")
	robot.kill()
	l.refuses(number)
}

func stopInBringUp(l *lane) {
	l.driver.end()
	l.plantProcess.kill()
	l.driver = l.home.driver(l.t, "--plant", l.socket("plant"))
	l.person = operate(l.t, l.home)
	number, _ := l.stop()
	l.kept(number)
	l.driver.kill()
	l.driver = l.home.driver(l.t, "--plant", l.socket("plant"))
	l.person = operate(l.t, l.home)
	l.latched(number)
	l.plantProcess = l.plant(l.t)
	l.w = watch(l.t, l.home)
	l.refuses(number)
	l.latched(number)
}

func stopTwice(l *lane) {
	robot := l.swinging()
	first, _ := l.stop()
	second, _ := l.stops("a stop")
	if second <= first {
		l.t.Errorf("stop %d came after stop %d", second, first)
	}
	if err := l.person.Reset(l.t.Context(), first); !rejected(err, reject.Conflict) {
		l.t.Errorf("the reset of the first stop was answered by %v", err)
	}
	robot.kill()
	l.refuses(second)
}

func stopInACancel(l *lane) {
	_, mission := l.served()
	c := l.call(l.t)
	ack, err := c.Cancel(l.t.Context(), &contractv1.CancelRequest{MissionId: mission})
	if err != nil || !ack.GetAccepted() {
		l.t.Logf("the cancel was answered by %v, %v", ack, err)
	}
	number, _ := l.stops("a cancel")
	switch e := last(l.t, c, mission); e.GetKind() {
	case contractv1.EventKind_ABORTED, contractv1.EventKind_CANCELLED:
	default:
		l.t.Errorf("the mission ended %v: %s", e.GetKind(), e.GetReason())
	}
	l.w.still(stillFor, "a stop in a cancel")
	l.latched(number)
}

func stopUnderAnothersLease(l *lane) {
	robot := l.swinging()
	bystander, err := remote.Dial(l.t.Context(), l.socket("driver"), remote.Options{CallTimeout: patience})
	if err != nil {
		l.t.Fatal(err)
	}
	defer func() { _ = bystander.Close() }()
	var number uint64
	l.w.standsAfter("a stop by whoever holds no lease", halting, func() { number = bystander.Stop("bystander") })
	if number == 0 {
		l.t.Error("it was not confirmed")
	}
	l.latched(number)
	robot.kill()
	l.refuses(number)
}

func stopAmongGarbage(l *lane) {
	robot := l.swinging()
	path := strings.TrimPrefix(l.socket("operator"), "unix:")
	for i := range 200 {
		c, err := new(net.Dialer).DialContext(l.t.Context(), "unix", path)
		if err != nil {
			l.t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		garbage := []string{
			"POST /interlock.driver.v1.Operator/Stop HTTP/1.1\r\nHost: localhost\r\n",
			"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + strings.Repeat("\xff", 64),
			strings.Repeat("A", 4096),
			"POST /interlock.driver.v1.Operator/Reset HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n{",
			"", "\x00\x01\x02", "GET / HTTP/1.1\r\n\r\n",
		}[i%7]
		_, _ = io.WriteString(c, garbage) // the driver may have closed it already
	}
	for _, body := range []string{`{`, `{"reason": 1}`, `{"number": 1}`, `{"reason": "` + strings.Repeat("x", 1<<20) + `"}`, `null`, ``} {
		_ = postTo(l.t, l.socket("operator"), "/interlock.driver.v1.Operator/Stop", body)
	}
	l.opened() // some of that is a stop all the same
	robot = l.swingsOn(robot)
	number, _ := l.stops("garbage")
	robot.kill()
	l.refuses(number)
}

func postTo(t testing.TB, addr, path, body string) (status int) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	reply, err := socketClient(t, addr, false).Do(q)
	if err != nil {
		return 0
	}
	_ = reply.Body.Close()
	return reply.StatusCode
}

func stopOnTheRobotsFullDisk(l *lane) {
	robot, mission := l.served()
	limit(l.t, robot, syscall.RLIMIT_FSIZE, 0)
	number, _ := l.stops("the robot's full disk")
	l.kept(number) // the driver's disk is its own
	if e := last(l.t, l.call(l.t), mission); e.GetKind() != contractv1.EventKind_ABORTED {
		l.t.Errorf("the mission ended %v: %s", e.GetKind(), e.GetReason())
	}
	robot.kill()
	l.refuses(number)
}

// stopAgainstResets lets stops and resets race: whichever way they come, a stop is never lost, and its number is new.
func stopAgainstResets(l *lane) {
	number, _ := l.stop()
	for range 100 {
		var both sync.WaitGroup
		var later uint64
		both.Go(func() { later, _ = l.stop() })
		both.Go(func() { _ = l.person.Reset(l.t.Context(), number) })
		both.Wait()
		if later <= number {
			l.t.Fatalf("stop %d came after stop %d", later, number)
		}
		l.latched(later)
		number = later
	}
	l.refuses(number)
}

func stopAmongStuckReaders(l *lane) {
	robot, mission := l.served()
	_, end := stuckReaders(l.t, 200, perLine, l.socket("robot"), mission)
	defer end()
	number, _ := l.stops("stuck readers")
	robot.kill()
	l.refuses(number)
}

// stopWithoutDescriptors opens connections to the driver's line until it has no descriptor left, and keeps them.
func stopWithoutDescriptors(l *lane) {
	robot := l.swinging()
	limit(l.t, l.driver, rlimitNoFile, uint64(openFiles(l.t, l.driver)+400))
	for range 1000 {
		c, err := new(net.Dialer).DialContext(l.t.Context(), "unix", strings.TrimPrefix(l.socket("driver"), "unix:"))
		if err != nil {
			break
		}
		defer func() { _ = c.Close() }()
		_, _ = io.WriteString(c, "POST /interlock.driver.v1.Driver/Describe HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
	}
	number, _ := l.stops("no descriptors")
	l.kept(number) // something was left for the latch file
	robot.kill()
	l.refuses(number)
}
