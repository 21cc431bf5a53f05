package transporttest

import (
	"sync"

	contractv1 "interlock/contract/v1"
	"interlock/robot"
)

var _ robot.Journal = (*slowDisk)(nil)

// slowDisk is a journal that keeps nothing. What it gets is durable at once, but for the next intent after it was slowed
// down: that one, and what comes after it, waits to be released, so that a start can be met while its intent is written.
type slowDisk struct {
	reached chan struct{} // closed once that intent has come

	mu      sync.Mutex
	slow    bool
	waiting []func(error)
}

func newSlowDisk() *slowDisk { return &slowDisk{reached: make(chan struct{})} }

// Append implements robot.Journal.
func (d *slowDisk) Append(r *contractv1.AuditRecord, then func(error)) {
	d.mu.Lock() // also while then is called: that never waits, and the order is that of the appends
	defer d.mu.Unlock()
	switch {
	case len(d.waiting) > 0:
		d.waiting = append(d.waiting, then)
	case d.slow && r.GetIntent() != nil:
		d.waiting = append(d.waiting, then)
		close(d.reached)
	default:
		then(nil)
	}
}

// slowDown makes the next intent wait; it is called once.
func (d *slowDisk) slowDown() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.slow = true
}

// release makes durable what waits and whatever comes.
func (d *slowDisk) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, then := range d.waiting {
		then(nil)
	}
	d.slow, d.waiting = false, nil
}
