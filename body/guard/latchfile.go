package guard

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"interlock/body"
)

// latchRecord is the latch file: one JSON object.
type latchRecord struct {
	Format  int    `json:"format"`
	Stopped bool   `json:"stopped"`
	Number  uint64 `json:"number"`
	Reason  string `json:"reason,omitempty"`
	Moving  bool   `json:"moving"`            // a motion may have been running when this was written
	Running bool   `json:"running,omitempty"` // the driver that wrote this was not ended yet
	Epoch   uint64 `json:"epoch"`             // no lease of the writing process has a larger one
}

const (
	latchFormat = 1
	epochRoom   = 1 << 20 // grants of one process
	latchMax    = 64 << 10
)

// keeper writes the latch file. Noting never waits for the disk; saving does, and only one save runs at a time.
//
// The order of a save: a new file beside the old one, its bytes on disk, the name changed, the directory on disk. One
// that fails leaves an empty file if it can, which needs no space and reads as a stop.
type keeper struct {
	path     string
	files    files
	recalled atomic.Bool // what an earlier process left is known; nothing is written over it before
	writing  atomic.Bool // run saves what is noted

	saving sync.Mutex // held over the I/O

	mu    sync.Mutex
	want  latchRecord
	noted uint64 // changes of want
	saved uint64 // the change that is on disk
	err   error  // of the last save
	wake  chan struct{}
	done  chan struct{} // closed and replaced after every save
}

func newKeeper(path string) *keeper {
	return &keeper{path: path, files: disk{}, want: latchRecord{Format: latchFormat}, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

func (k *keeper) note(change func(*latchRecord)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	was := k.want
	if change(&k.want); k.want == was {
		return
	}
	k.noted++
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

func (k *keeper) noteLatch(l body.Latch) {
	k.note(func(r *latchRecord) { r.Stopped, r.Number, r.Reason = l.Stopped, l.Number, l.Reason })
}

func (k *keeper) noteMoving(moving bool) { k.note(func(r *latchRecord) { r.Moving = moving }) }

func (k *keeper) noteRunning(runs bool) { k.note(func(r *latchRecord) { r.Running = runs }) }

// load reads the file. Why says what in it is a reason to come up stopped; a file that does not exist is none.
func (k *keeper) load() (was latchRecord, why string) {
	src, err := k.files.read(k.path, latchMax+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		why = "the latch file cannot be read: " + err.Error()
	case len(src) > latchMax || json.Unmarshal(src, &was) != nil || was.Format != latchFormat:
		was, why = latchRecord{}, "the latch file is damaged"
	case was.Moving:
		why = "the driver ended while a motion was running"
	case was.Running:
		why = ladder[hazardDriverLost].code + ": the driver before this one died"
	}
	was.Epoch = max(was.Epoch+epochRoom, firstEpoch())
	k.note(func(r *latchRecord) { r.Epoch = was.Epoch })
	return was, why
}

// save makes the latest note durable.
func (k *keeper) save() error {
	k.saving.Lock()
	defer k.saving.Unlock()
	k.mu.Lock()
	r, n := k.want, k.noted
	k.mu.Unlock()
	err := k.write(r)
	if err != nil {
		_ = k.files.empty(k.path) // the next start then comes up stopped
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err = err
	if err == nil {
		k.saved = n
	}
	close(k.done)
	k.done = make(chan struct{})
	return err
}

// write replaces the file so that a crash at any moment leaves the old one or the new one.
func (k *keeper) write(r latchRecord) error {
	src, err := json.Marshal(r)
	if err != nil {
		return err
	}
	fresh := k.path + ".new"
	f, err := k.files.create(fresh)
	if err != nil {
		return err
	}
	_, err = f.Write(append(src, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, k.files.remove(fresh))
	}
	if err := k.files.rename(fresh, k.path); err != nil {
		return err
	}
	dir, err := k.files.folder(filepath.Dir(k.path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// settled reports whether everything noted is on disk; if not, ch is closed after the next save.
func (k *keeper) settled() (yes bool, ch <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.saved == k.noted, k.done
}

// await waits at most so long until everything noted is on disk, and reports whether it is. The error is that of a save
// that failed meanwhile.
func (k *keeper) await(within time.Duration) (kept bool, err error) {
	t := time.NewTimer(within)
	defer t.Stop()
	for {
		yes, next := k.settled()
		if yes {
			return true, nil
		}
		select {
		case <-next:
			if err := k.failed(); err != nil {
				return false, err
			}
		case <-t.C:
			return false, k.failed()
		}
	}
}

// failed is why the latest save failed; nil: it did not.
func (k *keeper) failed() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

// retrySave is how long a disk that failed is left alone.
const retrySave = 500 * time.Millisecond

// run saves what is noted until stop is closed, and once more then.
func (k *keeper) run(stop <-chan struct{}) {
	k.writing.Store(true)
	defer k.writing.Store(false)
	for {
		var retry <-chan time.Time
		if yes, _ := k.settled(); !yes && k.save() != nil {
			retry = time.After(retrySave)
		}
		select {
		case <-k.wake:
		case <-retry:
		case <-stop:
			if yes, _ := k.settled(); !yes {
				_ = k.save()
			}
			return
		}
	}
}

// Kept waits until the latch file holds the present latch, at most for the given time, and reports whether it does. A
// stop is in force whatever the answer. Without a latch file there is nothing to keep: false. Before Run, while the body is
// not there yet, nobody else writes the file, so it is written here, unless no time is given.
func (g *Guard) Kept(within time.Duration) bool {
	if g.keeper == nil {
		return false
	}
	if within > 0 && g.keeper.recalled.Load() && !g.keeper.writing.Load() {
		go func() { _ = g.keeper.save() }() // what comes of it is seen below; a disk that hangs keeps nobody
	}
	kept, _ := g.keeper.await(within)
	return kept
}

// Recall reads the latch file, as Open does, so that a stop during bring-up already has its final number.
func (g *Guard) Recall() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.recall()
}

// recall reads what an earlier process left in the latch file. One that was not ended, in a motion or at rest, and a file that
// cannot be read, are stops. That this one runs now goes to disk with the rest, before anybody is told that it does.
func (g *Guard) recall() error {
	switch {
	case g.keeper == nil && g.cfg.Leased:
		g.lease.StartAt(firstEpoch())
		return nil
	case g.keeper == nil || g.keeper.recalled.Load():
		return nil
	}
	was, why := g.keeper.load()
	g.latch.recall(body.Latch{Stopped: was.Stopped, Number: was.Number, Reason: was.Reason})
	if why != "" {
		g.latch.tripOnce(why)
	}
	g.lease.StartAt(was.Epoch)
	g.keeper.noteRunning(true)
	g.keeper.recalled.Store(true)
	return g.keeper.save()
}

// noteRunning notes in the latch file that the guard runs, or that it was ended: whoever finds the first died. While Run's writer
// is there, the disk is its matter.
func (g *Guard) noteRunning(runs bool) error {
	if g.keeper == nil || !g.keeper.recalled.Load() {
		return nil
	}
	g.keeper.noteRunning(runs)
	if yes, _ := g.keeper.settled(); yes || g.keeper.writing.Load() {
		return nil
	}
	return g.keeper.save()
}
