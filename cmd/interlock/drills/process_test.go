package drills_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// helperEnv makes the test binary be a robot instead: the value is the driver's address.
const helperEnv = "INTERLOCK_DRILL_ROBOT"

const contractFile = "../../../robots/so101-tabletop.yaml"

// binary is the command, built once.
var binary string

func TestMain(m *testing.M) {
	if addr := os.Getenv(helperEnv); addr != "" {
		os.Exit(beRobot(addr))
	}
	dir, err := os.MkdirTemp("", "drill")
	if err == nil {
		binary = filepath.Join(dir, "interlock")
		err = build()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_ = flag.Set("test.parallel", "4") // the drills wait more than they work; the flag, if given, wins
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := os.RemoveAll(dir); err != nil {
		code = 1
	}
	os.Exit(code)
}

func build() error {
	out, err := exec.Command("go", "build", "-o", binary, "interlock/cmd/interlock").CombinedOutput()
	if err != nil {
		return fmt.Errorf("build: %w: %s", err, out)
	}
	return nil
}

// kills is how many times a drill kills.
func kills(t *testing.T, short int) int {
	t.Helper()
	text := os.Getenv("INTERLOCK_DRILLS")
	if text == "" {
		return short
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("INTERLOCK_DRILLS is %q", text)
	}
	return n
}

// process is one that a test started. It is killed at the test's end, if it still runs.
type process struct {
	t      testing.TB
	cmd    *exec.Cmd
	lines  chan string
	errors *said
	ended  bool
}

// said is what a process says on its standard error.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func start(t testing.TB, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, lines: make(chan string, 256), errors: &said{}}
	cmd.Stderr = p.errors
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			select {
			case p.lines <- s.Text():
			default:
			}
		}
	}()
	t.Cleanup(p.kill)
	return p
}

// line waits for the next line that the process prints.
func (p *process) line() string {
	p.t.Helper()
	select {
	case l, ok := <-p.lines:
		if !ok {
			p.t.Fatalf("the process ended: %s", p.errors)
		}
		return l
	case <-time.After(10 * time.Second):
		p.t.Fatal("the process says nothing")
		return ""
	}
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// kill ends the process with SIGKILL and waits for it.
func (p *process) kill() {
	if p.ended {
		return
	}
	p.ended = true
	_ = p.cmd.Process.Kill()
	for range p.lines { // until its end is read
	}
	_ = p.cmd.Wait()
}

// end asks the process to end and waits; its exit status must be 0.
func (p *process) end() {
	p.t.Helper()
	p.ended = true
	p.signal(syscall.SIGTERM)
	for range p.lines {
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("after SIGTERM: %v: %s", err, p.errors)
	}
}

// home is a folder for sockets, whose paths must be short.
type home string

func newHome(t testing.TB) home {
	t.Helper()
	dir, err := os.MkdirTemp("", "il")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return home(dir)
}

func (h home) socket(name string) string { return "unix:" + filepath.Join(string(h), name) }
func (h home) latch() string             { return filepath.Join(string(h), "latch.json") }

func (h home) plant(t testing.TB) *process {
	t.Helper()
	return start(t, exec.Command(binary, "plant", "--contract", contractFile, "--listen", h.socket("plant"), "--lab-socket", h.socket("lab")))
}

func (h home) driver(t testing.TB, more ...string) *process {
	t.Helper()
	return h.driverOf(t, contractFile, more...)
}

func (h home) driverOf(t testing.TB, contract string, more ...string) *process {
	t.Helper()
	line := append([]string{
		"driver", "sim", "--contract", contract, "--listen", h.socket("driver"),
		"--operator", h.socket("operator"), "--latch-file", h.latch(),
	}, more...)
	return start(t, exec.Command(binary, line...))
}

func (h home) robot(t testing.TB) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), helperEnv+"="+h.socket("driver"))
	return start(t, cmd)
}
