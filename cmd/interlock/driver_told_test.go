package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"interlock/body"
	"interlock/body/plant"
	"interlock/body/remote"
	"interlock/body/sim"
)

// hardware is a plant that says that it is none.
type hardware struct {
	*plant.Plant

	mu   sync.Mutex
	lost bool // it forgets every lease
}

func (h *hardware) Describe() body.Description {
	d := h.Plant.Describe()
	d.Mode = body.ModeHardware
	return d
}

var errBroken = errors.New("its bus is broken")

func (h *hardware) Watch(epoch uint64) (body.Observation, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost {
		return body.Observation{}, errBroken
	}
	return h.Plant.Watch(epoch)
}

// A driver says that its body is there once it is, and how the latch stands then, with the command that resets it; and again for each
// stop that is its own. A stop that somebody asked for is told to whoever asked.
//
// Verifies: F06, D126
func TestADriverSaysThatItCameUpStopped(t *testing.T) {
	dir, err := os.MkdirTemp("", "il") //nolint:usetesting // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := func(name string) string { return "unix:" + filepath.Join(dir, name) }
	p, err := plant.New(sim.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	h := &hardware{Plant: p}
	l, err := remote.Listen(socket("b"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var beside sync.WaitGroup
	beside.Go(func() { _ = remote.Serve(ctx, l, remote.DriverHandler(h)) })
	beside.Go(func() { _ = p.Run(ctx) })
	t.Cleanup(func() { cancel(); beside.Wait() })

	d := began(t, nil, "driver", "remote", "--contract", "robots/so101-tabletop.yaml", "--plant", socket("b"),
		"--listen", socket("d"), "--operator", socket("o"), "--latch-file", filepath.Join(dir, "latch"))
	house := &house{t: t, driver: d, robot: d}
	resets := func(number string) {
		t.Helper()
		house.until("stop "+number+" is told", func() bool { return strings.Contains(d.out.String(), "stopped, number "+number+" (") })
		_, told, _ := strings.Cut(d.out.String(), "stopped, number "+number+" (")
		if code, out, errOut := command(t, pasted(t, told, "to permit motion: ")...); code != exitFine {
			t.Errorf("exit %d: %s %s", code, out, errOut)
		}
	}
	resets("1")
	lines := strings.Split(d.out.String(), "\n")
	if len(lines) < 2 || !strings.HasSuffix(lines[0], "; ready") || !strings.HasPrefix(lines[1], "driver remote: the body is there; stopped, number 1 (hardware comes up stopped)") {
		t.Errorf("it says %q", lines)
	}
	h.mu.Lock()
	h.lost = true
	h.mu.Unlock()
	house.until("the loss is told", func() bool { return strings.Contains(d.out.String(), "stopped, number 2 (driver_lost: ") })
	h.mu.Lock()
	h.lost = false
	h.mu.Unlock()
	o := remote.DialOperator(socket("o"))
	defer o.Close()
	if _, _, err := o.Stop(t.Context(), "a person"); err != nil {
		t.Fatal(err)
	}
	if text := d.out.String(); strings.Contains(text, "a person") || strings.Count(text, "stopped, number") != 2 {
		t.Errorf("it says %s", text)
	}
}
