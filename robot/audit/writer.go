package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// writer puts batches on the disk. One goroutine owns it.
type writer struct {
	disk    Disk
	limit   int64            // of a segment, in bytes
	now     func() time.Time // wall clock
	retry   time.Duration    // the first pause after a failure; it doubles
	head    Checkpoint       // the last durable record
	segment int
	file    File  // nil: the segment is closed, because of failed
	good    int64 // durable bytes in the segment

	lost     string // why a Lost must come next; empty: none
	failed   *Unavailable
	failedAt time.Time // monotonic
	pause    time.Duration
	buf      []byte
}

// maxPause bounds the pause between two attempts to go on after a failure, in first pauses.
const maxPause = 32

// piece is one record on its way to the disk.
type piece struct {
	text []byte
	atMS int64 // the robot's own time
	gap  int   // records just before it that were not taken
}

// put makes the pieces durable, all of them or none.
func (w *writer) put(batch []piece) *Unavailable {
	if w.failed != nil {
		if time.Since(w.failedAt) < w.pause {
			return w.failed
		}
		if err := w.reopen(); err != nil {
			return w.fail(err)
		}
	}
	b, head, err := w.lines(batch)
	if err == nil {
		err = w.store(b)
	}
	if err != nil {
		return w.fail(err)
	}
	w.good += int64(len(b))
	w.head, w.lost, w.failed, w.pause = head, "", nil, 0
	return nil
}

// lines are the lines of a batch, with a Lost wherever something is missing before one.
func (w *writer) lines(batch []piece) (b []byte, head Checkpoint, err error) {
	b, head = w.buf[:0], w.head
	lose := func(why string, atMS int64) {
		var text []byte
		if text, err = recordText(&contractv1.AuditRecord{
			WallMs: w.now().UnixMilli(), AtMs: atMS,
			What: &contractv1.AuditRecord_Lost{Lost: &contractv1.Lost{Why: strings.ToValidUTF8(why, "?"), AfterSeq: head.Seq}},
		}); err == nil {
			b = appendLine(b, &head, text)
		}
	}
	if w.lost != "" {
		var atMS int64
		if len(batch) > 0 {
			atMS = batch[0].atMS
		}
		lose(w.lost, atMS)
	}
	for _, p := range batch {
		if p.gap > 0 {
			lose(fmt.Sprintf("%d records were not taken", p.gap), p.atMS)
		}
		b = appendLine(b, &head, p.text)
	}
	if cap(b) <= 2*batchBytes {
		w.buf = b
	}
	return b, head, err
}

// store writes and makes durable.
func (w *writer) store(b []byte) error {
	if w.good > 0 && w.good+int64(len(b)) > w.limit {
		if err := w.rotate(); err != nil {
			return err
		}
	}
	if _, err := (whole{w.file}).Write(b); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err := w.file.Sync(); err != nil {
		return fmt.Errorf("fsync: %w", err)
	}
	return w.disk.Holds(nameOf(w.segment, segmentSuffix), w.file)
}

// rotate begins the next segment. All of the one before is durable.
func (w *writer) rotate() error {
	old := w.file
	w.file = nil
	if old != nil {
		_ = old.Close() // it was made durable; closing can add nothing
	}
	if w.segment == maxSegment {
		return errors.New("there are no more numbers for segments")
	}
	w.segment, w.good = w.segment+1, 0
	f, err := w.disk.Create(nameOf(w.segment, segmentSuffix), false)
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	w.file = f
	if err := w.disk.SyncDir(); err != nil {
		return fmt.Errorf("fsync of the folder: %w", err)
	}
	return nil
}

// fail closes the segment. Nothing that was not answered is known to be durable.
func (w *writer) fail(err error) *Unavailable {
	if w.file != nil {
		_ = w.file.Close() // what it held back is lost either way
		w.file = nil
	}
	says := withoutPath(err)
	if w.lost == "" {
		w.lost = says
	}
	w.failedAt = time.Now()
	w.pause = min(max(2*w.pause, w.retry), maxPause*w.retry)
	w.failed = refusal(reject.AuditUnavailable, "the record cannot be written: "+says, err)
	w.failed.Rejection.AfterMS = int(w.pause.Milliseconds())
	return w.failed
}

// reopen goes on after a failure: what is durable of the segment in a fresh file, and then a new segment.
func (w *writer) reopen() error {
	if w.file != nil {
		return nil
	}
	f, err := mend(w.disk, w.segment, w.good, w.head)
	if err != nil {
		return err
	}
	w.file = f
	if w.good > 0 {
		return w.rotate()
	}
	return nil
}

// withoutPath is what the disk said without the names of folders, which concern neither the record nor who reads a refusal.
func withoutPath(err error) string {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Op + ": " + path.Err.Error()
	case errors.As(err, &link):
		return link.Op + ": " + link.Err.Error()
	}
	return err.Error()
}
