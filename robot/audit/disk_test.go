package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"syscall"
)

// memory is a disk that remembers what of it would survive a power cut, and that fails where it is told to.
//
// Of a file, what was there at the last successful fsync survives, and any prefix of what came later. After a failed fsync
// what it was to make durable never will be, though it can still be read. Of the names, those at the last fsync of the
// folder survive, and any first few of the changes since.
type memory struct {
	mu      sync.Mutex
	live    map[string]*inode
	durable map[string]*inode
	changes []change // of names, since the last SyncDir
	locked  bool
	calls   int
	before  func(call int, op, name string) damage // nil: nothing ever fails
	clean   func(call int)                         // called before every call that changes something, without the lock; nil: nobody looks
}

type inode struct {
	data   []byte
	synced int
	lost   bool // a failed fsync
}

// change is one of the names: from is empty for a new file.
type change struct {
	from, to string
	node     *inode
}

// damage is how a call fails. Its zero value is a call that works.
type damage struct {
	err  error
	done bool // the call did its work all the same; of a write: half of it
	bare bool // of a write: half of it, and no error
}

func newMemory() *memory {
	return &memory{live: map[string]*inode{}, durable: map[string]*inode{}}
}

// call counts one file operation and says how it fails.
func (d *memory) call(op, name string) damage {
	d.mu.Lock()
	n := d.calls
	d.calls++
	before, clean := d.before, d.clean
	d.mu.Unlock()
	if clean != nil {
		clean(n)
	}
	if before == nil {
		return damage{}
	}
	return before(n, op, name)
}

func (d *memory) Lock() (func() error, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.locked {
		return nil, ErrLocked
	}
	d.locked = true
	return func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.locked = false
		return nil
	}, nil
}

func (d *memory) List() ([]string, error) {
	if dam := d.call("list", ""); dam.err != nil {
		return nil, dam.err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.live)), nil
}

type reading struct{ *bytes.Reader }

func (reading) Close() error { return nil }

func (d *memory) Open(name string) (io.ReadSeekCloser, error) {
	if dam := d.call("open", name); dam.err != nil {
		return nil, dam.err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.live[name]
	if n == nil {
		return nil, fs.ErrNotExist
	}
	return reading{bytes.NewReader(n.data)}, nil
}

func (d *memory) Create(name string, anew bool) (File, error) {
	dam := d.call("create", name)
	if dam.err != nil && !dam.done {
		return nil, dam.err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.live[name] != nil && !anew {
		return nil, fs.ErrExist
	}
	n := &inode{} // emptying a file is modelled as a new one: a crash may show the old one or none of it
	d.live[name] = n
	d.changes = append(d.changes, change{to: name, node: n})
	if dam.err != nil {
		return nil, dam.err
	}
	return &handle{d: d, node: n, name: name}, nil
}

func (d *memory) Rename(from, to string) error {
	dam := d.call("rename", to)
	if dam.err != nil && !dam.done {
		return dam.err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.live[from]
	if n == nil {
		return fs.ErrNotExist
	}
	delete(d.live, from)
	d.live[to] = n
	d.changes = append(d.changes, change{from: from, to: to, node: n})
	return dam.err
}

func (d *memory) SyncDir() error {
	dam := d.call("syncdir", "")
	if dam.err != nil && !dam.done {
		return dam.err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.durable = maps.Clone(d.live)
	d.changes = nil
	return dam.err
}

func (d *memory) Holds(name string, f File) error {
	if dam := d.call("holds", name); dam.err != nil {
		return dam.err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if h, is := f.(*handle); !is || d.live[name] != h.node {
		return fs.ErrNotExist
	}
	return nil
}

type handle struct {
	d    *memory
	node *inode
	name string
}

func (h *handle) Write(b []byte) (int, error) {
	dam := h.d.call("write", h.name)
	n := len(b)
	switch {
	case dam.bare, dam.err != nil && dam.done:
		n /= 2
	case dam.err != nil:
		n = 0
	}
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	h.node.data = append(h.node.data[:len(h.node.data):len(h.node.data)], b[:n]...)
	return n, dam.err
}

func (h *handle) Sync() error {
	dam := h.d.call("sync", h.name)
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	switch {
	case dam.err != nil:
		h.node.lost = true
	case !h.node.lost:
		h.node.synced = len(h.node.data)
	}
	return dam.err
}

func (h *handle) Close() error { return h.d.call("close", h.name).err }

// crash is the disk after a power cut that kept this many of the pending changes of names, and of each file so much of what
// was not made durable as extra says.
func (d *memory) crash(changes int, extra func(pending int) int) *memory {
	d.mu.Lock()
	defer d.mu.Unlock()
	names := maps.Clone(d.durable)
	for _, c := range d.changes[:min(changes, len(d.changes))] {
		delete(names, c.from)
		names[c.to] = c.node
	}
	after := newMemory()
	for name, n := range names {
		kept := n.synced
		if !n.lost {
			kept += extra(len(n.data) - n.synced)
		}
		survivor := &inode{data: slices.Clone(n.data[:kept]), synced: kept}
		after.live[name], after.durable[name] = survivor, survivor
	}
	return after
}

// restart is the disk as the next process finds it without a power cut: all of it can be read, durable or not.
func (d *memory) restart() *memory {
	d.mu.Lock()
	defer d.mu.Unlock()
	after := &memory{live: maps.Clone(d.live), durable: maps.Clone(d.durable), changes: slices.Clone(d.changes)}
	return after
}

// text is a file's content as it can be read.
func (d *memory) text(name string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := d.live[name]; n != nil {
		return n.data
	}
	return nil
}

// put makes a file with a durable content.
func (d *memory) put(name string, text []byte) {
	n := &inode{data: text, synced: len(text)}
	d.live[name], d.durable[name] = n, n
}

// faults are how a disk falls sick.
func faults() map[string]damage {
	list := map[string]damage{"short write without an error": {bare: true}}
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EDQUOT} {
		list[errno.Error()] = damage{err: errno}
		list[errno.Error()+" when it was done"] = damage{err: errno, done: true}
	}
	return list
}

var errTest = errors.New("test")

func segmentFile(n int) string { return fmt.Sprintf("%08d.jsonl", n) }
