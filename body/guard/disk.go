package guard

import (
	"errors"
	"io"
	"os"
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

// LockLatch claims a latch file for one driver, by flock(2) on PATH.lock beside it, since the file itself is replaced at every
// write: two that kept one file would undo each other's stops. It is held until unlock, or until the process ends, however that
// ends. While another holds it the error is ErrLatchTaken; others are the system's.
func LockLatch(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrLatchTaken
		}
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}
