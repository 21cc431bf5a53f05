package guard_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interlock/body/guard"
)

// A guard that died at rest, after Recall, Open or Run, is found by the next one, which comes up stopped and says so; one that was
// ended in good order is not, whether there ever was a body or not. What was stopped keeps its number and its reason, and an older
// file says nothing about it.
//
// Verifies: F06, D124
func TestAGuardThatDiedAtRestIsFound(t *testing.T) {
	opens := func(g *guard.Guard) error { return errors.Join(g.Recall(), g.Open()) }
	for name, c := range map[string]struct {
		lives func(t *testing.T, g *guard.Guard) error
		died  bool
	}{
		"died before there was a body": {func(_ *testing.T, g *guard.Guard) error { return g.Recall() }, true},
		"died with a body":             {func(_ *testing.T, g *guard.Guard) error { return opens(g) }, true},
		"died after it was opened again": {func(_ *testing.T, g *guard.Guard) error {
			return errors.Join(opens(g), g.Close(), g.Open())
		}, true},
		"ended before there was a body": {func(_ *testing.T, g *guard.Guard) error { return errors.Join(g.Recall(), g.Close()) }, false},
		"ended with a body":             {func(_ *testing.T, g *guard.Guard) error { return errors.Join(opens(g), g.Close()) }, false},
		"was given up":                  {func(_ *testing.T, g *guard.Guard) error { return errors.Join(opens(g), g.Abandon()) }, false},
		"given up without a body":       {func(_ *testing.T, g *guard.Guard) error { return errors.Join(g.Recall(), g.Abandon()) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, _ := latched(t)
			check(t, c.lives(t, guard.New(newPlant(), cfg)))
			comesUp(t, cfg, c.died)
		})
	}
	t.Run("stopped, then died", func(t *testing.T) {
		cfg, _ := latched(t)
		g := guard.New(newPlant(), cfg)
		check(t, g.Recall())
		g.Stop("by hand")
		if !g.Kept(patient) {
			t.Fatal("the stop is not kept")
		}
		next := guard.New(newPlant(), cfg)
		check(t, next.Recall())
		if l := next.Latch(); !l.Stopped || l.Number != 1 || l.Reason != "by hand" {
			t.Errorf("it comes up with %+v", l)
		}
	})
}

// While Run moves its time the file says that it runs, and not once that ended, however often.
//
// Verifies: F06, D124
func TestAGuardThatDiedInRunIsFound(t *testing.T) {
	t.Run("once", func(t *testing.T) {
		cfg, path := latched(t)
		r := run(t, newPlant(), cfg)
		cfg.LatchFile = asLeft(t, path) // as a kill at rest would leave it
		comesUp(t, cfg, true)
		r.end()
		cfg.LatchFile = path
		comesUp(t, cfg, false)
	})
	t.Run("again", func(t *testing.T) {
		cfg, path := latched(t)
		g := guard.New(newPlant(), cfg)
		check(t, errors.Join(g.Recall(), g.Open()))
		for range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- g.Run(ctx) }()
			for begun := time.Now(); time.Since(begun) < patient && !strings.Contains(says(t, path), `"running":true`); time.Sleep(time.Millisecond) {
			}
			left := cfg
			left.LatchFile = asLeft(t, path)
			comesUp(t, left, true)
			cancel()
			check(t, <-ended)
			left.LatchFile = asLeft(t, path)
			comesUp(t, left, false)
		}
		check(t, g.Close())
	})
}

// What a latch file says of the driver that wrote it: an older one says nothing about one at rest, and a motion says more than that.
//
// Verifies: D03, D124
func TestWhatALatchFileSaysOfItsDriver(t *testing.T) {
	for name, c := range map[string]struct {
		file   string
		died   bool
		number uint64
	}{
		"an older file":                {`{"format":1,"stopped":false,"number":7,"moving":false,"epoch":3}`, false, 7},
		"an older file, in a motion":   {`{"format":1,"stopped":false,"number":7,"moving":true,"epoch":3}`, true, 8},
		"at rest":                      {`{"format":1,"stopped":false,"number":7,"moving":false,"running":true,"epoch":3}`, true, 8},
		"in a motion, which says more": {`{"format":1,"stopped":false,"number":7,"moving":true,"running":true,"epoch":3}`, true, 8},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, _ := latched(t)
			cfg.LatchFile = write(t, c.file)
			g := guard.New(newPlant(), cfg)
			check(t, g.Recall())
			l := g.Latch()
			if l.Stopped != c.died || l.Number != c.number || c.died && strings.HasPrefix(l.Reason, "driver_lost: ") == strings.Contains(c.file, `"moving":true`) {
				t.Errorf("it comes up with %+v", l)
			}
		})
	}
}

func comesUp(t *testing.T, cfg guard.Config, stopped bool) {
	t.Helper()
	g := guard.New(newPlant(), cfg)
	check(t, g.Recall())
	if l := g.Latch(); l.Stopped != stopped || stopped && l.Number != 1 || stopped && !strings.HasPrefix(l.Reason, "driver_lost: ") {
		t.Errorf("the next one comes up with %+v", l)
	}
	check(t, g.Close())
}

// asLeft is a copy of a file as it is on disk now.
func asLeft(t *testing.T, path string) string {
	t.Helper()
	return write(t, says(t, path))
}

func says(t *testing.T, path string) string {
	t.Helper()
	src, err := os.ReadFile(path)
	check(t, err)
	return string(src)
}

// A latch file has one driver: another is refused while it is locked, and not any more once that ended. The lock is beside the
// file, since the file is replaced.
//
// Verifies: P04, D122
func TestALatchFileHasOneDriver(t *testing.T) {
	cfg, path := latched(t)
	kept, unlock, err := guard.LockLatch(path)
	check(t, err)
	cfg.LatchFile = kept
	g := guard.New(newPlant(), cfg)
	check(t, errors.Join(g.Recall(), g.Close())) // the file is replaced twice
	if _, _, err := guard.LockLatch(path); !errors.Is(err, guard.ErrLatchTaken) {
		t.Errorf("a second lock is answered by %v", err)
	}
	_, other, err := guard.LockLatch(path + "2")
	check(t, err)
	check(t, other())
	check(t, unlock())
	_, again, err := guard.LockLatch(path)
	check(t, err)
	check(t, again())
	if _, _, err := guard.LockLatch(filepath.Join(path, "nowhere")); err == nil || errors.Is(err, guard.ErrLatchTaken) {
		t.Errorf("a file that cannot be is answered by %v", err)
	}
	check(t, os.Symlink(path, path+"3.lock"))
	if _, _, err := guard.LockLatch(path + "3"); err == nil {
		t.Error("a lock leads elsewhere")
	}
}

// A stop before what an earlier process left is known keeps a number of its own above it, in the latch and in the file.
//
// Verifies: P04, D131
func TestAStopBeforeRecallIsNewer(t *testing.T) {
	cfg, _ := latched(t)
	cfg.LatchFile = write(t, `{"format":1,"stopped":true,"number":5,"reason":"old","epoch":3}`)
	g := guard.New(newPlant(), cfg)
	g.Stop("bring-up")
	check(t, g.Recall())
	if l := g.Latch(); !l.Stopped || l.Number != 6 || l.Reason != "bring-up" {
		t.Errorf("the latch is %+v", l)
	}
	if err := g.Reset(5); err == nil {
		t.Error("a reset of the old stop ends the new one")
	}
	cfg.LatchFile = asLeft(t, cfg.LatchFile)
	next := guard.New(newPlant(), cfg)
	check(t, next.Recall())
	if l := next.Latch(); l.Number != 6 || l.Reason != "bring-up" {
		t.Errorf("the file holds %+v", l)
	}
}
