package guard

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// files is every file operation of the latch file: the only way from its keeper to a file system. Errors are the system's; one
// of a missing file is fs.ErrNotExist.
type files interface {
	// read returns at most so many bytes of a file.
	read(path string, most int64) ([]byte, error)
	// create makes a file, or empties it.
	create(path string) (file, error)
	// rename gives a file another name, and replaces whatever had it.
	rename(from, to string) error
	// folder opens a folder, whose Sync makes the names in it durable.
	folder(path string) (file, error)
	// remove takes a file away.
	remove(path string) error
	// empty leaves nothing in a file, which needs no space.
	empty(path string) error
}

// file is one that is written.
type file interface {
	io.WriteCloser
	// Sync makes what was written durable.
	Sync() error
}

// disk is the file system.
type disk struct{}

func (disk) read(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	src, err := io.ReadAll(io.LimitReader(f, most))
	return src, errors.Join(err, f.Close())
}

func (disk) create(path string) (file, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

func (disk) folder(path string) (file, error) { return os.Open(path) }
func (disk) rename(from, to string) error     { return os.Rename(from, to) }
func (disk) remove(path string) error         { return os.Remove(path) }
func (disk) empty(path string) error          { return os.Truncate(path, 0) }

// ErrLatchTaken is why a latch file is not locked that another driver keeps.
var ErrLatchTaken = errors.New("another driver keeps this latch file")

// LockLatch claims a latch file for one driver, by flock(2) on a file NAME.lock beside it, since the file itself is replaced at every
// write: two that kept one file would undo each other's stops. It is held until unlock, or until the process ends, however that
// ends. The file that is locked, and is the one to keep, is kept: path without the symbolic links on the way to it, so that a file
// has one lock by whatever name, and is not put in the place of a link. While another holds it the error is ErrLatchTaken; others
// say what is in the way, and are the system's besides.
func LockLatch(path string) (kept string, unlock func() error, err error) {
	if kept, err = latchPath(path); err != nil {
		return "", nil, err
	}
	lock := kept + ".lock"
	f, err := os.OpenFile(lock, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	switch {
	case errors.Is(err, syscall.ELOOP):
		return "", nil, fmt.Errorf("its lock %s is a symbolic link, and is not followed: %w", lock, err)
	case err != nil:
		return "", nil, fmt.Errorf("its lock cannot be opened: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrLatchTaken
		}
		return "", nil, errors.Join(err, f.Close())
	}
	return kept, f.Close, nil
}

// latchPath is a path without symbolic links. A file that is not there yet is none; its folder must be there.
func latchPath(path string) (string, error) {
	path = filepath.Clean(path)
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no folder %s: %w", filepath.Dir(path), err)
	case err != nil:
		return "", fmt.Errorf("its folder %s cannot be entered: %w", filepath.Dir(path), err)
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "", errors.Join(fmt.Errorf("%s is no folder", folder), err)
	}
	kept := filepath.Join(folder, filepath.Base(path))
	switch info, err := os.Lstat(kept); {
	case errors.Is(err, fs.ErrNotExist):
		return kept, nil
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink != 0:
		if kept, err = filepath.EvalSymlinks(kept); err != nil {
			return "", fmt.Errorf("it is a symbolic link that leads to no file: %w", err)
		}
	}
	if info, err := os.Stat(kept); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(fmt.Errorf("%s is no regular file", kept), err)
	}
	return kept, nil
}
