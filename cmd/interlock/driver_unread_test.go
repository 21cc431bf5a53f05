package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"interlock/body/guard"
	"interlock/body/plant"
	"interlock/body/remote"
	"interlock/body/sim"
)

// unread is a command whose outputs are one pipe, which takes nothing while nobody reads.
func unread(t *testing.T, line ...string) (o *ongoing, out *bufio.Reader) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	o = &ongoing{cancel: cancel, ended: make(chan int, 1)}
	go func() {
		root := newRoot()
		root.SetArgs(line)
		root.SetOut(w)
		root.SetErr(w)
		code := exitFine
		if err := root.ExecuteContext(ctx); err != nil {
			code = exitError
		}
		o.ended <- code
	}()
	t.Cleanup(func() { cancel(); _ = r.Close(); o.end() })
	return o, bufio.NewReader(r)
}

// A driver that nobody reads any more, from its first line on or later, moves its time, latches the loss of its body, and ends when it
// is told to, with its latch file free for another.
//
// Verifies: P04, D140
func TestADriverThatNobodyReadsRunsAndEnds(t *testing.T) {
	for name, lines := range map[string]int{"not its first line": 0, "its first line only": 1, "until its body is there": 2} {
		t.Run(name, func(t *testing.T) {
			dir := folderOf(t)
			socket := func(name string) string { return "unix:" + filepath.Join(dir, name) }
			h := serves(t, socket("b"))
			latch := filepath.Join(dir, "latch")
			d, out := unread(t, "driver", "remote", "--contract", "robots/so101-tabletop.yaml", "--plant", socket("b"),
				"--listen", socket("d"), "--operator", socket("o"), "--latch-file", latch)
			for range lines {
				if _, err := out.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			house := &house{t: t, driver: d, robot: d}
			if lines == 0 { // nothing runs before that
				house.until("its line is there", func() bool { _, err := os.Stat(filepath.Join(dir, "o")); return err == nil })
			} else {
				resetsItself(t, house, socket("o"), h)
			}
			d.cancel()
			select {
			case code := <-d.ended:
				d.ended <- code
			case <-time.After(time.Minute): // it ends never, or soon
				t.Fatal("it does not end")
			}
			if code := d.end(); code != exitFine {
				t.Errorf("exit %d", code)
			}
			_, unlock, err := guard.LockLatch(latch)
			if err != nil {
				t.Fatal(err)
			}
			_ = unlock()
		})
	}
}

// serves is a body that a driver reaches at the address.
func serves(t *testing.T, addr string) *hardware {
	t.Helper()
	p, err := plant.New(sim.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	h := &hardware{Plant: p}
	l, err := remote.Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var beside sync.WaitGroup
	beside.Go(func() { _ = remote.Serve(ctx, l, remote.DriverHandler(h)) })
	beside.Go(func() { _ = p.Run(ctx) })
	t.Cleanup(func() { cancel(); beside.Wait() })
	return h
}

// resetsItself resets the stop that hardware comes up with, loses the body, and waits for the stop that is the driver's own.
func resetsItself(t *testing.T, house *house, operator string, h *hardware) {
	t.Helper()
	o := remote.DialOperator(operator)
	defer o.Close()
	stopped := func(number uint64) func() bool {
		return func() bool {
			l, _, err := o.State(t.Context())
			return err == nil && l.Stopped && l.Number == number
		}
	}
	house.until("hardware comes up stopped", stopped(1))
	house.until("it is reset", func() bool { return o.Reset(t.Context(), 1) == nil })
	h.mu.Lock()
	h.lost = true
	h.mu.Unlock()
	house.until("the loss is latched", stopped(2))
}

// What nobody reads is left out from the oldest on, and how much is said; at the end what is left is said, or given up.
//
// Verifies: D140
func TestWhatNobodyReadsIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		teller, silent := newTeller(w), newTeller(io.Discard)
		says := func(text string) { _, _ = io.WriteString(teller, text+"\n") }
		says("first")
		synctest.Wait() // it is being written
		for range mostTold {
			says("old")
		}
		for range mostTold {
			says("new")
		}
		lines := bufio.NewScanner(r)
		for i := range mostTold + 2 {
			if !lines.Scan() {
				t.Fatal(lines.Err())
			}
			switch text := lines.Text(); {
			case i == 0 && text == "first", i > 1 && text == "new":
			case i == 1 && strings.Contains(text, "64 lines are left out"):
			default:
				t.Errorf("line %d is %q", i, text)
			}
		}
		says("never read")
		begun := time.Now()
		endTelling(silent, teller)
		if took := time.Since(begun); took != lastWithin {
			t.Errorf("the end took %v", took)
		}
		says("after the end")
		_ = r.Close()
		<-teller.idle

		var out page
		teller = newTeller(&out)
		begun = time.Now()
		says("last")
		endTelling(teller)
		if took := time.Since(begun); out.String() != "last\n" || took != 0 {
			t.Errorf("it says %q, and the end took %v", out.String(), took)
		}
	})
}

// A driver that hangs in its end is killed by a later signal.
//
// Verifies: D141
func TestALaterSignalKillsADriverThatHangs(t *testing.T) {
	const child = "INTERLOCK_TEST_HANGS"
	if os.Getenv(child) != "" {
		outer, stop := untilSignal(t.Context())
		defer stop()
		ctx, inner := untilSignal(outer) // another one listens too
		defer inner()
		_, _ = os.Stdout.WriteString("up\n")
		<-ctx.Done()
		_, _ = os.Stdout.WriteString("ending\n")
		time.Sleep(time.Hour)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		cmd := exec.Command(self, "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), child+"=1")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for _, want := range []string{"up", "ending"} {
			if !lines.Scan() || lines.Text() != want {
				t.Errorf("%v: it says %q, not %q", s, lines.Text(), want)
			}
			_ = cmd.Process.Signal(s)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		again := time.NewTicker(50 * time.Millisecond)
		for range 1200 {
			select {
			case err = <-ended:
			case <-again.C:
				_ = cmd.Process.Signal(s)
				continue
			}
			break
		}
		again.Stop()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != s {
			_ = cmd.Process.Kill()
			t.Errorf("%v: it ends by %v", s, err)
		}
	}
}

// A driver that a robot started waits for the one before it to end; one that a person started says at once what is in the way.
//
// Verifies: D144
func TestAnOwnedDriverWaitsForTheOneBefore(t *testing.T) {
	for name, c := range map[string]struct {
		owned bool
		held  time.Duration
		taken time.Duration // until it has the file; less than 0: it is refused
	}{
		"free":                   {true, 0, 0},
		"owned":                  {true, 490 * time.Millisecond, 500 * time.Millisecond},
		"owned, and held longer": {true, time.Hour, -lockWithin},
		"by a person":            {false, 490 * time.Millisecond, -1},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "latch")
			synctest.Test(t, func(t *testing.T) {
				if c.held > 0 {
					_, unlock, err := guard.LockLatch(path)
					if err != nil {
						t.Fatal(err)
					}
					time.AfterFunc(c.held, func() { _ = unlock() })
				}
				o, begun := driverOptions{latchFile: path, owned: c.owned}, time.Now()
				unlock, err := o.lockLatch(t.Context())
				switch took := time.Since(begun); {
				case c.taken >= 0 && err == nil && took == c.taken:
					_ = unlock()
				case c.taken < 0 && errors.Is(err, guard.ErrLatchTaken) && (took == -c.taken || !c.owned && took == 0):
				default:
					t.Errorf("after %v: %v", took, err)
				}
				time.Sleep(c.held) // the file is free again
			})
		})
	}
	t.Run("until it is ended", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "latch")
		_, unlock, err := guard.LockLatch(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = unlock() }()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		o := driverOptions{latchFile: path, owned: true}
		if _, err := o.lockLatch(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// A driver keeps the file that a link leads to, and leaves the link; of a place that is none it says what is missing, and the flag.
//
// Verifies: D143, D145
func TestADriverKeepsWhatALinkLeadsTo(t *testing.T) {
	dir := folderOf(t)
	latch, link := filepath.Join(dir, "latch"), filepath.Join(dir, "link")
	died := `{"format":1,"stopped":false,"number":0,"moving":false,"running":true,"epoch":3}`
	if err := errors.Join(os.WriteFile(latch, []byte(died), 0o600), os.Symlink("latch", link)); err != nil {
		t.Fatal(err)
	}
	line := func(file, operator string) []string {
		return []string{"driver", "sim", "--contract", "robots/so101-tabletop.yaml", "--listen", "unix:" + filepath.Join(dir, operator+"d"),
			"--operator", "unix:" + filepath.Join(dir, operator), "--latch-file", file}
	}
	d := began(t, nil, line(link, "o")...)
	h := &house{t: t, driver: d, robot: d}
	h.until("it is there", func() bool { return strings.Contains(d.out.String(), "stopped, number 1 (driver_lost: ") })
	if to, err := os.Readlink(link); err != nil || to != "latch" { // else another driver would not be refused
		t.Fatalf("the link leads to %q: %v", to, err)
	}
	for _, other := range []string{latch, link} {
		if code, _, errOut := command(t, line(other, "p")...); code != exitBadInput || !strings.Contains(errOut, "--latch-file "+other) {
			t.Errorf("another driver at %s: exit %d, %s", other, code, errOut)
		}
	}
	d.end()
	to, err := os.Readlink(link)
	src, readErr := os.ReadFile(latch)
	if err != nil || readErr != nil || to != "latch" || !strings.Contains(string(src), `"stopped":true,"number":1`) {
		t.Errorf("the link leads to %q, and there is %s: %v", to, src, errors.Join(err, readErr))
	}
	nowhere := filepath.Join(dir, "no", "such")
	if code, _, errOut := command(t, line(filepath.Join(nowhere, "latch"), "p")...); code != exitBadInput || !strings.Contains(errOut, "no folder "+nowhere) || strings.Count(errOut, "--latch-file") != 2 {
		t.Errorf("exit %d: %s", code, errOut)
	}
}

// The stop that a driver comes up with is said in its first line, and not again.
//
// Verifies: D146
func TestTheStopOfAStartIsSaidOnce(t *testing.T) {
	dir := folderOf(t)
	latch := file(t, "latch", `{"format":1,"stopped":false,"number":0,"moving":false,"running":true,"epoch":3}`)
	robots := "unix:" + filepath.Join(dir, "d")
	d := began(t, nil, "driver", "sim", "--contract", "robots/so101-tabletop.yaml", "--listen", robots, "--operator", "unix:"+filepath.Join(dir, "o"), "--latch-file", latch)
	h := &house{t: t, driver: d, robot: d}
	h.until("its time moves", func() bool {
		r, err := remote.Dial(t.Context(), robots, remote.Options{Holder: "looks"})
		if err != nil {
			return false
		}
		defer func() { _ = r.Close() }()
		o, err := r.Watch()
		return err == nil && o.At > 0
	})
	d.end()
	if text := d.out.String(); strings.Count(text, "stopped, number 1 (driver_lost: ") != 1 || strings.Count(text, "\n") != 1 {
		t.Errorf("it says %s", text)
	}
}
