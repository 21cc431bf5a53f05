package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"interlock/robots"
	"interlock/transport"
	"interlock/transport/connect"
)

// benchSite is a folder with the sockets of the processes that a benchmark starts: this program, as a user starts it.
type benchSite struct {
	dir     string
	running []*benchProcess
}

// benchProcess is one of them.
type benchProcess struct {
	name  string
	cmd   *exec.Cmd
	in    io.WriteCloser // its end is a process's that is owned
	words words
	lines chan string
	began time.Time // just before exec
}

// benchAnswers is how long a process may take to say that it is there.
const benchAnswers = time.Minute

func newBenchSite() (*benchSite, error) {
	dir, err := os.MkdirTemp("", "ilb")
	if err != nil {
		return nil, err
	}
	s := &benchSite{dir: dir}
	text, err := robots.Files.ReadFile(benchContract)
	if err == nil {
		err = os.WriteFile(s.contract(), text, 0o600)
	}
	if err != nil {
		return nil, errors.Join(err, s.end())
	}
	return s, nil
}

// benchContract is the robot that is measured.
const benchContract = "so101-tabletop.yaml"

func (s *benchSite) contract() string          { return filepath.Join(s.dir, "robot.yaml") }
func (s *benchSite) socket(name string) string { return "unix:" + filepath.Join(s.dir, name) }

// start starts this program with another command line and waits for the first line that it prints.
func (s *benchSite) start(ctx context.Context, name string, line ...string) (*benchProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &benchProcess{name: name, cmd: exec.Command(self, line...), lines: make(chan string, 64)}
	p.cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+s.dir, "XDG_STATE_HOME="+s.dir)
	p.cmd.Stderr = &p.words
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.began = time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	s.running = append(s.running, p)
	go func() {
		defer close(p.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.lines <- lines.Text()
		}
	}()
	_, err = p.line(ctx)
	return p, err
}

// line waits for the next line that it prints.
func (p *benchProcess) line(ctx context.Context) (string, error) {
	within, done := context.WithTimeout(ctx, benchAnswers)
	defer done()
	select {
	case l, ok := <-p.lines:
		if !ok {
			return "", fmt.Errorf("the %s's process ended: %s", p.name, p.words.String())
		}
		return l, nil
	case <-within.Done():
		return "", errors.Join(fmt.Errorf("the %s's process says nothing", p.name), ctx.Err())
	}
}

// end asks the process to end, and waits. How it ends is not measured here; one that does not is killed, and told.
func (p *benchProcess) end() (err error) {
	_ = p.in.Close()
	_ = p.cmd.Process.Signal(os.Interrupt)
	late := time.AfterFunc(benchEnds, func() { _ = p.cmd.Process.Kill() })
	for range p.lines { // until its end is read
	}
	if !late.Stop() {
		err = fmt.Errorf("the %s's process did not end when it was asked: %s", p.name, p.words.String())
	}
	_ = p.cmd.Wait()
	return err
}

const benchEnds = 20 * time.Second // a robot that is asked to end may take 5, and its disk more

// stop ends one of the site's processes.
func (s *benchSite) stop(p *benchProcess) error {
	for i, other := range s.running {
		if other == p {
			s.running = append(s.running[:i], s.running[i+1:]...)
			return p.end()
		}
	}
	return nil
}

// end ends the processes, the latest first, and takes the folder away.
func (s *benchSite) end() (err error) {
	for i := len(s.running) - 1; i >= 0; i-- {
		err = errors.Join(err, s.running[i].end())
	}
	s.running = nil
	return errors.Join(err, os.RemoveAll(s.dir))
}

// plant, driver and robot are started as a user starts them, each on a socket of its name.
func (s *benchSite) plant(ctx context.Context) (*benchProcess, error) {
	return s.start(ctx, "plant", "plant", "--contract", s.contract(), "--listen", s.socket("plant"), "--lab-socket", s.socket("lab"))
}

func (s *benchSite) driver(ctx context.Context, more ...string) (*benchProcess, error) {
	line := []string{"driver", "sim", "--contract", s.contract(), "--listen", s.socket("driver"), "--operator", s.socket("operator"), "--latch-file", filepath.Join(s.dir, "latch")}
	return s.start(ctx, "driver", append(line, more...)...)
}

func (s *benchSite) robot(ctx context.Context) (*benchProcess, error) {
	return s.start(ctx, "robot", "robot", s.contract(), "--driver", s.socket("driver"), "--operator", s.socket("operator"), "--listen", s.socket("robot"))
}

// brain is a line to the site's robot; it is given back with the benchmark.
func (s *benchSite) brain() (transport.Client, io.Closer, error) {
	return connect.Dial(s.socket("robot"), connect.DialOptions{})
}

// residentMiB is how much memory of the process is in RAM, in MiB; where the system does not tell, it is an error.
func (p *benchProcess) residentMiB() (float64, error) {
	f, err := os.Open(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "status"))
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, is := strings.CutPrefix(lines.Text(), "VmRSS:"); is {
			kib, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(rest, "kB")))
			return float64(kib) / 1024, err
		}
	}
	return 0, errors.New("the system does not tell how much memory a process has")
}

// eventually tries until it works; what is tried ends by itself.
func eventually(ctx context.Context, what string, try func() error) error {
	for begun := time.Now(); ; {
		err := try()
		switch {
		case err == nil:
			return nil
		case time.Since(begun) > benchAnswers:
			return fmt.Errorf("%s: %w", what, err)
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
