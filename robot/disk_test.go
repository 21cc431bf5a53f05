package robot_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/robot/audit"
)

// disk is one in memory that falls sick and gets well again.
type disk struct {
	mu    sync.Mutex
	files map[string]*file
	sick  error // of everything that writes; nil: it is well
}

type file struct {
	disk *disk
	text []byte
}

func newDisk() *disk { return &disk{files: map[string]*file{}} }

var errFull = syscall.ENOSPC

// is makes it sick, or well.
func (d *disk) is(sick error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sick = sick
}

// copied is what a process finds that begins now, whatever becomes of the one before.
func (d *disk) copied() *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	to := newDisk()
	for name, f := range d.files {
		to.files[name] = &file{to, bytes.Clone(f.text)}
	}
	return to
}

// Lock implements audit.Disk. A disk has one process at a time here.
func (d *disk) Lock() (func() error, error) { return func() error { return nil }, nil }

// List implements audit.Disk.
func (d *disk) List() ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Keys(d.files)), nil
}

type reading struct{ *bytes.Reader }

func (reading) Close() error { return nil }

// Open implements audit.Disk.
func (d *disk) Open(name string) (io.ReadSeekCloser, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.files[name]; f != nil {
		return reading{bytes.NewReader(f.text)}, nil
	}
	return nil, fs.ErrNotExist
}

// Create implements audit.Disk.
func (d *disk) Create(name string, _ bool) (audit.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sick != nil {
		return nil, d.sick
	}
	f := &file{disk: d}
	d.files[name] = f
	return f, nil
}

// Rename implements audit.Disk.
func (d *disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files[to] = d.files[from]
	delete(d.files, from)
	return nil
}

// SyncDir implements audit.Disk.
func (d *disk) SyncDir() error { return nil }

// Holds implements audit.Disk.
func (d *disk) Holds(string, audit.File) error { return nil }

// Write writes half of it where the disk is sick.
func (f *file) Write(b []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.sick != nil {
		b = b[:len(b)/2]
	}
	f.text = append(f.text, b...)
	return len(b), f.disk.sick
}

// Sync implements audit.File.
func (f *file) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.disk.sick
}

// Close implements audit.File.
func (f *file) Close() error { return nil }

// on runs a robot whose record is on the disk, and ends it in order unless it ended by itself.
func on(t *testing.T, d *disk, s set, test func(*testing.T, *rig, *kept)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(s.after)
		log, past, err := audit.Open("record", audit.Options{Disk: d})
		check(t, err)
		k := &kept{Log: log}
		s.journal, s.past = k, past
		r := newRig(t, s)
		t.Cleanup(func() {
			if err := errors.Join(r.close(), log.Close()); err != nil {
				t.Errorf("the robot ended with %v", err)
			}
		})
		test(t, r, k)
	})
}

// says is what the record says, which must verify.
func (d *disk) says(t *testing.T) (all []*contractv1.AuditRecord) {
	t.Helper()
	dir := folder(t)
	for name, f := range d.copied().files {
		check(t, os.WriteFile(filepath.Join(dir, name), f.text, 0o600))
	}
	report, err := audit.Verify(dir, audit.VerifyOptions{})
	if check(t, err); report.Fault != nil {
		t.Errorf("the record does not verify: %v", report.Fault)
	}
	r, err := audit.NewReader(dir)
	check(t, err)
	for e, err := r.Next(); !errors.Is(err, io.EOF); e, err = r.Next() {
		check(t, err)
		all = append(all, e.Record)
	}
	check(t, r.Close())
	return all
}
