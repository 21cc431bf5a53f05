package audit

import (
	"errors"
	"fmt"
	"sync"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// Options of a Log. Zero fields take the defaults below.
type Options struct {
	Now          func() time.Time // the wall clock, for wall_ms and nothing else; default time.Now
	SegmentBytes int64            // a segment that would grow beyond this is followed by the next
	Queue        int              // records that may wait for the disk; refusals (Refused) may take half of it
	QueueBytes   int              // the same in bytes
	KeepMissions int              // missions that ended whose events History holds
	RetryAfter   time.Duration    // the first pause before a failed log tries again; it doubles up to 32 times this
	Disk         Disk             // default: the folder
}

// The defaults of Options. A second of the busiest robot is some hundred records of some hundred bytes.
const (
	defaultSegmentBytes = 4 << 20
	defaultQueue        = 4096
	defaultQueueBytes   = 16 << 20
	defaultKeepMissions = 1024
	defaultRetryAfter   = 200 * time.Millisecond
)

// batchBytes bounds what is written at once; a segment's size does too.
const batchBytes = 1 << 20

func (o Options) filled() (Options, error) {
	if o.SegmentBytes < 0 || o.Queue < 0 || o.QueueBytes < 0 || o.KeepMissions < 0 || o.RetryAfter < 0 {
		return o, errors.New("audit: no option can be negative")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.SegmentBytes = orDefault(o.SegmentBytes, defaultSegmentBytes)
	o.Queue = orDefault(o.Queue, defaultQueue)
	o.QueueBytes = orDefault(o.QueueBytes, defaultQueueBytes)
	o.KeepMissions = orDefault(o.KeepMissions, defaultKeepMissions)
	o.RetryAfter = orDefault(o.RetryAfter, defaultRetryAfter)
	return o, nil
}

func orDefault[T int | int64 | time.Duration](n, otherwise T) T {
	if n == 0 {
		return otherwise
	}
	return n
}

// Log is a record that is open for writing. It is safe for concurrent use.
type Log struct {
	options Options
	release func() error // of the lock and the folder
	ended   chan struct{}
	w       writer // of the goroutine

	mu      sync.Mutex
	work    sync.Cond // queue is not empty, or the log is closing
	queue   []waiting
	records int // in queue or on their way to the disk
	bytes   int
	gap     int // records not taken since the last that was
	closing bool
	done    bool // the goroutine takes no more
	err     *Unavailable
}

// waiting is one append that is not answered.
type waiting struct {
	piece
	then func(error)
	err  *Unavailable // it was not taken; nil: it was
}

// Append queues one record, with the wall clock's time in it, and returns at once. then is called once it is durable, or
// with an error, an *Unavailable, if it could not be made so: once, in the order of the appends, from the log's goroutine.
// It must not wait, nor close the log. It may be nil. The record is not kept nor changed.
//
// There is no telling whether a record whose answer was an error is on the disk after a crash; while the log lives it is
// not in the record.
func (l *Log) Append(r *contractv1.AuditRecord, then func(error)) {
	entry := waiting{then: then}
	text, bad := l.textOf(r)
	entry.piece = piece{text: text, atMS: r.GetAtMs()}
	_, refused := r.GetWhat().(*contractv1.AuditRecord_Refused)
	l.mu.Lock()
	defer l.mu.Unlock()
	if bad == nil {
		bad = l.room(len(text), refused)
	}
	if bad != nil {
		entry.err, entry.piece = bad, piece{}
		if !refused { // whoever writes refusals counts those that there was no room for
			l.gap++
		}
		if then == nil {
			return
		}
		if l.done {
			go then(bad)
			return
		}
	} else {
		entry.gap, l.gap = l.gap, 0
		l.records++
		l.bytes += len(text)
	}
	l.queue = append(l.queue, entry)
	l.work.Signal()
}

// textOf is the record as it is written.
func (l *Log) textOf(r *contractv1.AuditRecord) ([]byte, *Unavailable) {
	switch r.GetWhat().(type) {
	case nil:
		return nil, refusal(reject.Malformed, "a record says something", nil)
	case *contractv1.AuditRecord_Lost:
		return nil, refusal(reject.Malformed, "what is lost is told by the log itself", nil)
	}
	text, err := recordText(&contractv1.AuditRecord{WallMs: l.options.Now().UnixMilli(), AtMs: r.GetAtMs(), What: r.GetWhat()})
	if err != nil {
		return nil, refusal(reject.Malformed, "the record cannot be written down: "+err.Error(), err)
	}
	if most := MaxLine - lineAround; len(text) > most {
		u := refusal(reject.TooLarge, fmt.Sprintf("a record of %d bytes is too long", len(text)), nil)
		u.Rejection = u.Rejection.Saw(fmt.Sprint(len(text)), fmt.Sprint(most), "bytes")
		return nil, u
	}
	return text, nil
}

// room refuses a record that there is no room for. Refusals get half of it, so that a flood of them leaves room for what
// moves.
func (l *Log) room(size int, refused bool) *Unavailable {
	most, bytes := l.options.Queue, l.options.QueueBytes
	if refused {
		most, bytes = (most+1)/2, bytes/2
	}
	switch {
	case l.closing:
		return refusal(reject.AuditUnavailable, "the record is closed", nil)
	case l.records >= most:
		u := refusal(reject.Overloaded, "too many records wait for the disk", nil)
		u.Rejection = u.Rejection.Saw(fmt.Sprint(l.records), fmt.Sprint(most), "")
		return u
	case l.records > 0 && l.bytes+size > bytes:
		u := refusal(reject.Overloaded, "too many bytes wait for the disk", nil)
		u.Rejection = u.Rejection.Saw(fmt.Sprint(l.bytes), fmt.Sprint(bytes), "bytes")
		return u
	}
	return nil
}

// Err returns why nothing can be made durable now, an *Unavailable, or nil. It becomes nil again once a record is durable;
// a failed log tries again only when something is appended.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		return nil
	}
	return l.err
}

// Close writes what is queued, ends the log and gives the record free. It returns why the latest records are not durable,
// if they are not.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closing {
		l.mu.Unlock()
		<-l.ended
		return nil
	}
	l.closing = true
	l.work.Broadcast()
	l.mu.Unlock()
	<-l.ended
	err := l.Err()
	if l.w.file != nil {
		err = errors.Join(err, l.w.file.Close())
	}
	return errors.Join(err, l.release())
}

// run is the log's goroutine.
func (l *Log) run() {
	defer close(l.ended)
	for batch := l.next(); len(batch) > 0; batch = l.next() {
		pieces := make([]piece, 0, len(batch))
		for i := range batch {
			if batch[i].err == nil {
				pieces = append(pieces, batch[i].piece)
			}
		}
		var err *Unavailable
		if len(pieces) > 0 {
			err = l.w.put(pieces)
			l.settle(pieces, err)
		}
		for i := range batch {
			batch[i].answer(err)
		}
		clear(batch)
	}
}

// next waits for a batch; an empty one is the end.
func (l *Log) next() []waiting {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) == 0 && !l.closing {
		l.work.Wait()
	}
	n, bytes := 0, 0
	most := int(min(batchBytes, l.options.SegmentBytes))
	for ; n < len(l.queue) && (n == 0 || bytes+len(l.queue[n].text) <= most); n++ {
		bytes += len(l.queue[n].text)
	}
	batch := l.queue[:n:n]
	l.queue, l.done = l.queue[n:], n == 0
	return batch
}

// settle makes the room of the pieces free and notes how it came out, before anybody is answered.
func (l *Log) settle(pieces []piece, err *Unavailable) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
	l.records -= len(pieces)
	for _, p := range pieces {
		l.bytes -= len(p.text)
	}
}

func (e *waiting) answer(err *Unavailable) {
	if e.err != nil {
		err = e.err
	}
	switch {
	case e.then == nil:
	case err == nil:
		e.then(nil)
	default:
		e.then(err)
	}
}
