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

// These make the test binary be another process instead: a robot at the driver's address, a brain at the robot's.
const (
	robotEnv = "INTERLOCK_DRILL_ROBOT"
	brainEnv = "INTERLOCK_DRILL_BRAIN"
	shortEnv = "INTERLOCK_DRILL_SHORT" // the robot's setpoints expire as a real one's do
)

const contractFile = "../../../robots/so101-tabletop.yaml"

// binary is the command, built once.
var binary string

func TestMain(m *testing.M) {
	if addr := os.Getenv(robotEnv); addr != "" {
		os.Exit(beRobot(addr))
	}
	if addr := os.Getenv(brainEnv); addr != "" {
		os.Exit(beBrain(addr))
	}
	if dir := os.Getenv(runEnv); dir != "" {
		binary = filepath.Join(dir, "interlock")
		_ = flag.Set("test.parallel", "8") // the drills wait more than they work; the flag, if given, wins
		code := m.Run()
		if err := goleak.Find(); err != nil && code == 0 {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		os.Exit(code)
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
	code := runAll(dir)
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

// tell says what a drill found: in the test's log, and in the file that INTERLOCK_DRILLS_TELL names, from which the page of
// the last full run is made.
func tell(t testing.TB, format string, args ...any) {
	t.Helper()
	text := fmt.Sprintf(format, args...)
	t.Log(text)
	path := os.Getenv("INTERLOCK_DRILLS_TELL")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(f, "%s\t%s\n", t.Name(), text); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// process is one that a test started. It is killed at the test's end, if it still runs.
type process struct {
	t      testing.TB
	cmd    *exec.Cmd
	lines  chan string
	gone   chan struct{} // closed when it has no standard output any more
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
	p := &process{t: t, cmd: cmd, lines: make(chan string, 4096), gone: make(chan struct{}), errors: &said{}}
	cmd.Stderr = p.errors
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.gone)
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
	case <-time.After(patience):
		p.t.Fatalf("%v says nothing; on its standard error: %s", p.cmd.Args, p.errors)
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

// home is a folder for sockets, whose paths must be short, and for what processes keep. It is in memory where the system
// has such a folder: what was written outlives a killed process there too, and a disk that others keep busy is a drill of
// its own.
type home string

const inMemory = "/dev/shm"

func newHome(t testing.TB) home {
	t.Helper()
	dir, err := os.MkdirTemp(inMemory, "il")
	if err != nil {
		dir, err = os.MkdirTemp("", "il")
	}
	if err != nil {
		t.Fatal(err)
	}
	homes.Store(t, home(dir))
	t.Cleanup(func() { homes.Delete(t); _ = os.RemoveAll(dir) })
	return home(dir)
}

// homes are the homes of the tests that run, so that what a test does at its robot can be made again after a busy machine
// spoiled it.
var homes sync.Map

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

// robot is a robot that only swings; see beRobot.
func (h home) robot(t testing.TB, more ...string) *process {
	t.Helper()
	cmd := h.self(t, robotEnv+"="+h.socket("driver"))
	cmd.Env = append(cmd.Env, more...)
	return start(t, cmd)
}

// brain is a brain at the home's robot; see beBrain.
func (h home) brain(t testing.TB) *process {
	t.Helper()
	return start(t, h.self(t, brainEnv+"="+h.socket("robot")))
}

// self is the test binary as another process.
func (h home) self(t testing.TB, env string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := h.env(exec.Command(self))
	cmd.Env = append(cmd.Env, env)
	return cmd
}

// env gives the processes of a home folders of their own.
func (h home) env(cmd *exec.Cmd) *exec.Cmd {
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+string(h), "XDG_STATE_HOME="+string(h), "TMPDIR="+string(h))
	return cmd
}
