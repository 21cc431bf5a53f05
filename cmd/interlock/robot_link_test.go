package main

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"interlock/body"
	"interlock/body/guard"
	"interlock/body/remote"
	"interlock/body/sim"
	"interlock/eval/lab"
	"interlock/reject"
	"interlock/units"
)

// stood is a driver on a socket, with a clock that begins at zero.
type stood struct {
	*guard.Guard
	end func()
}

func standAt(t *testing.T, addr string) *stood {
	t.Helper()
	k, _, err := loadContract("robots/so101-tabletop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	plant, err := sim.New(sim.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	cfg := lab.GuardConfig(k)
	cfg.Leased = true
	g := guard.New(plant, cfg)
	if err := g.Open(); err != nil {
		t.Fatal(err)
	}
	l, err := remote.Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { _ = g.Run(ctx) })
	all.Go(func() { _ = remote.Serve(ctx, l, remote.DriverHandler(g)) })
	s := &stood{g, sync.OnceFunc(func() { cancel(); all.Wait() })}
	t.Cleanup(s.end)
	return s
}

// linked is a link that is kept until the test ends.
func linked(t *testing.T, addr string) *link {
	t.Helper()
	l := newLink(addr, "test", "", func(says string) { t.Log(says) })
	same := func(body.Description) error { return nil }
	if err := l.join(t.Context(), same); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var keeper sync.WaitGroup
	keeper.Go(func() { l.keep(ctx, same) })
	t.Cleanup(func() { cancel(); keeper.Wait(); _ = l.Close() })
	return l
}

func (l *link) awaited(t *testing.T) body.Observation {
	t.Helper()
	for range 2400 {
		if o, err := l.Observe(); err == nil {
			return o
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatal("the driver does not come back")
	return body.Observation{}
}

// The robot's clock goes on over a driver that is started anew, at least as far as real time did, and setpoints are still
// in that driver's time.
//
// Verifies: Z17
func TestLinkKeepsTheClockOverADriver(t *testing.T) {
	const tries, near = 10, 100 * time.Millisecond // either driver tells a time as old as its loop is late, on a machine that is busy
	for i := range tries {
		passed, truly := clockOverADriver(t)
		if passed >= truly-near && passed <= truly+near {
			return
		}
		if i == tries-1 {
			t.Errorf("%v passed for the robot, %v in truth", passed, truly)
		}
	}
}

// clockOverADriver lets a driver die and another come, and returns how long that took by the robot's clock and in truth.
func clockOverADriver(t *testing.T) (passed, truly time.Duration) {
	t.Helper()
	addr := "unix:" + filepath.Join(t.TempDir(), "d")
	first := standAt(t, addr)
	l := linked(t, addr)
	time.Sleep(300 * time.Millisecond)
	before, at := l.awaited(t), time.Now()
	first.end()
	if _, err := l.Observe(); err == nil {
		t.Fatal("a dead driver is observed")
	}
	standAt(t, addr)
	after := l.awaited(t)
	passed, truly = after.At.Sub(before.At), time.Since(at)
	for _, g := range after.Readings {
		if g.At.Before(before.At) {
			t.Errorf("the reading %s is from before the driver died", g.Fact)
		}
	}
	var err error
	for range 20 { // one that the machine let wait has expired
		_, err = l.Send(body.Setpoint{PositionsRad: after.GoalRad, Over: units.RobotTick, Expires: after.At.Add(units.SetpointExpiry), Stop: after.Latch.Number})
		if err == nil {
			break
		}
		after = l.awaited(t)
	}
	if err != nil {
		t.Errorf("a setpoint in time is refused: %v", err)
	}
	return passed, truly
}

// A stop that no driver confirmed is owed to the next one: it is latched before anything is read of it.
//
// Verifies: Z18
func TestLinkOwesAStop(t *testing.T) {
	addr := "unix:" + filepath.Join(t.TempDir(), "d")
	first := standAt(t, addr)
	l := linked(t, addr)
	first.end()
	if n := l.Stop("owed"); n != 0 {
		t.Fatalf("a dead driver confirmed stop %d", n)
	}
	if _, err := l.Observe(); err == nil {
		t.Fatal("a dead driver is observed")
	}
	standAt(t, addr)
	if o := l.awaited(t); !o.Latch.Stopped || o.Latch.Reason != "owed" {
		t.Errorf("the next driver is %+v", o.Latch)
	}
}

// A lease that lapsed is told as such by every call until it is there again, under another epoch.
//
// Verifies: Z14
func TestLinkTellsALostLease(t *testing.T) {
	addr := "unix:" + filepath.Join(t.TempDir(), "d")
	d := standAt(t, addr)
	l := linked(t, addr)
	l.awaited(t)
	held, _, err := l.now()
	if err != nil {
		t.Fatal(err)
	}
	if err := held.Close(); err != nil { // somebody gives it back, or it lapses
		t.Log(err)
	}
	other, err := d.Acquire("other")
	for begun := time.Now(); err != nil && time.Since(begun) < time.Minute; other, err = d.Acquire("other") {
		time.Sleep(25 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	var r reject.Rejection
	if _, err := l.Send(body.Setpoint{}); err == nil {
		t.Error("a setpoint without a lease was taken")
	}
	if _, err := l.Observe(); err == nil || errors.As(err, &r) && r.Code != reject.NoLease {
		t.Errorf("observed: %v", err)
	}
	d.Release(other)
	l.awaited(t)
}
