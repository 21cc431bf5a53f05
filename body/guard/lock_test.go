package guard_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"interlock/body/guard"
)

// A latch file has one lock by whatever name it is called, and a link to it stays a link: what is kept is where it leads.
//
// Verifies: P04, D143
func TestALatchFileHasOneLockByEveryName(t *testing.T) {
	cfg, path := latched(t)
	check(t, os.WriteFile(path, nil, 0o600))
	dir := filepath.Dir(path)
	link, folder := filepath.Join(dir, "link"), filepath.Join(t.TempDir(), "folder")
	check(t, os.Symlink("latch", link))
	check(t, os.Symlink(dir, folder))
	names := []string{path, link, filepath.Join(folder, "latch"), filepath.Join(folder, "link"), filepath.Join(dir, ".", "latch")}
	for _, name := range names {
		kept, unlock, err := guard.LockLatch(name)
		check(t, err)
		for _, other := range names {
			if _, _, err := guard.LockLatch(other); !errors.Is(err, guard.ErrLatchTaken) {
				t.Errorf("while %s is locked, %s is answered by %v", name, other, err)
			}
		}
		cfg.LatchFile = kept
		g := guard.New(newPlant(), cfg)
		check(t, errors.Join(g.Recall(), g.Close(), unlock()))
	}
	if to, err := os.Readlink(link); err != nil || to != "latch" {
		t.Errorf("the link leads to %q: %v", to, err)
	}
	if !strings.Contains(says(t, path), `"format":1`) {
		t.Errorf("%s was not written", path)
	}
	for name, fresh := range map[string]string{"in a folder": filepath.Join(dir, "new"), "in a linked one": filepath.Join(folder, "new")} {
		kept, unlock, err := guard.LockLatch(fresh)
		check(t, err)
		check(t, unlock())
		if real, err := filepath.EvalSymlinks(dir); err != nil || kept != filepath.Join(real, "new") {
			t.Errorf("%s: a file that is not there yet is kept at %s", name, kept)
		}
	}
}

// What cannot be a latch file is refused, with what is in the way.
//
// Verifies: D145
func TestWhatCannotBeALatchFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	check(t, os.WriteFile(in("file"), nil, 0o600))
	check(t, os.Symlink("nowhere", in("to nothing")))
	check(t, os.Symlink("round", in("round")))
	check(t, os.Symlink("file", in("led.lock")))
	check(t, syscall.Mkfifo(in("fifo"), 0o600))
	for name, c := range map[string]struct {
		path, names string
		is          error
	}{
		"no folder":        {in("no/such/latch"), in("no/such"), fs.ErrNotExist},
		"a file as folder": {in("file/latch"), in("file"), nil},
		"a folder":         {dir, dir, nil},
		"a pipe":           {in("fifo"), in("fifo"), nil}, // whose reader waits for ever
		"a link to none":   {in("to nothing"), "symbolic link", fs.ErrNotExist},
		"a link to itself": {in("round"), "symbolic link", nil},
		"a linked lock":    {in("led"), in("led.lock"), syscall.ELOOP},
	} {
		kept, unlock, err := guard.LockLatch(c.path)
		if err == nil || unlock != nil || kept != "" || !strings.Contains(err.Error(), c.names) || c.is != nil && !errors.Is(err, c.is) || errors.Is(err, guard.ErrLatchTaken) {
			t.Errorf("%s: %q, %v", name, kept, err)
		}
	}
}
