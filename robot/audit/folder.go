package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrLocked is why a record is not opened that another process writes, or another Log of this one.
var ErrLocked = errors.New("audit: another robot writes this record")

// folder is a Disk on the file system.
type folder struct {
	dir  string
	home *os.File // the folder itself, as it was opened
}

// makeFolder opens the record's folder for writing, and makes it where there is none.
func makeFolder(dir string) (*folder, error) {
	made := false
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		made = true
	}
	d, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	if err = d.mine(); err == nil && made {
		err = syncFolder(filepath.Dir(dir))
	}
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// openFolder opens the record's folder for reading.
func openFolder(dir string) (*folder, error) {
	if info, err := os.Lstat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("audit: %s is no folder", dir)
	}
	home, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	return &folder{dir, home}, nil
}

func (d *folder) close() error { return d.home.Close() }

// mine refuses a folder that others may enter.
func (d *folder) mine() error {
	info, err := d.home.Stat()
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || int(owner.Uid) != os.Geteuid():
		return fmt.Errorf("audit: %s belongs to another user", d.dir)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("audit: others may enter %s; a record is kept from them: chmod 700 %s", d.dir, d.dir)
	}
	return nil
}

func (d *folder) path(name string) string { return filepath.Join(d.dir, name) }

// Lock implements Disk by flock(2): it ends with the process, however that ends.
func (d *folder) Lock() (func() error, error) {
	f, err := os.OpenFile(d.path(lockName), os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrLocked
		}
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

// List implements Disk.
func (d *folder) List() ([]string, error) {
	entries, err := os.ReadDir(d.dir)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

// Open implements Disk. What is no plain file is not opened.
func (d *folder) Open(name string) (io.ReadSeekCloser, error) {
	if info, err := os.Lstat(d.path(name)); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no plain file", name)
	}
	return os.Open(d.path(name))
}

// Create implements Disk.
func (d *folder) Create(name string, anew bool) (File, error) {
	how := os.O_EXCL
	if anew {
		how = os.O_TRUNC
	}
	return os.OpenFile(d.path(name), os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW|how, 0o600)
}

// Rename implements Disk.
func (d *folder) Rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

// SyncDir implements Disk.
func (d *folder) SyncDir() error { return d.home.Sync() }

// Holds implements Disk.
func (d *folder) Holds(name string, f File) error {
	file, is := f.(*os.File)
	if !is {
		return fmt.Errorf("%s was not opened here", name)
	}
	for _, one := range []struct {
		what, path string
		file       *os.File
	}{{"the folder", d.dir, d.home}, {name, d.path(name), file}} {
		now, err := os.Lstat(one.path)
		if err != nil {
			return err
		}
		was, err := one.file.Stat()
		if err != nil {
			return err
		}
		if !os.SameFile(now, was) {
			return fmt.Errorf("something else is in the place of %s: %w", one.what, fs.ErrNotExist)
		}
	}
	return nil
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
