package audit

import (
	"errors"
	"fmt"
	"path/filepath"

	contractv1 "interlock/contract/v1"
)

// Open opens the record in a folder for writing, and makes it where there is none. It verifies all of it and returns what
// it says. Half a line at its end is put aside; whatever else does not verify is a *Broken. A record that another process
// writes is ErrLocked. What is appended goes into a new segment.
func Open(dir string, o Options) (*Log, *History, error) {
	o, err := o.filled()
	if err != nil {
		return nil, nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, nil, err
	}
	release := func() error { return nil }
	if o.Disk == nil {
		d, err := makeFolder(dir)
		if err != nil {
			return nil, nil, err
		}
		o.Disk, release = d, d.close
	}
	unlock, err := o.Disk.Lock()
	if err != nil {
		return nil, nil, errors.Join(err, release())
	}
	l := &Log{options: o, ended: make(chan struct{}), release: func() error { return errors.Join(unlock(), release()) }}
	l.work.L = &l.mu
	l.w = writer{disk: o.Disk, limit: o.SegmentBytes, now: o.Now, retry: o.RetryAfter}
	h, err := l.begin(dir)
	if err != nil {
		return nil, nil, errors.Join(err, l.release())
	}
	go l.run()
	return l, h, nil
}

// begin reads the record, mends its end and begins a new segment.
func (l *Log) begin(dir string) (*History, error) {
	g := newLedger(l.options.KeepMissions)
	s := scan{take: g.take}
	f, err := s.walk(l.options.Disk)
	switch {
	case err != nil:
		return nil, fmt.Errorf("audit: the record in %s cannot be read: %w", dir, err)
	case f == nil && len(s.torn) > 0 && !isTear(s.torn):
		f = s.tornFault()
	}
	if f != nil {
		return nil, &Broken{dir, f}
	}
	h := g.finish(s.head)
	h.SetAside = int64(len(s.torn))
	if err := l.w.begin(&s); err != nil {
		return nil, fmt.Errorf("audit: the record in %s cannot be written: %w", dir, err)
	}
	return h, nil
}

// begin opens a new segment behind what was read. The last one is mended unless it ends in order: its last lines may be in
// the kernel's cache only.
func (w *writer) begin(s *scan) error {
	w.head, w.good = s.head, s.good
	if n := len(s.segments); n > 0 {
		w.segment = s.segments[n-1]
	}
	inOrder := len(s.torn) == 0 && s.newest != nil && isClosed(s.newest.record)
	var err error
	switch {
	case w.segment == 0, w.good > 0 && inOrder:
		err = w.rotate()
	default:
		err = w.reopen()
	}
	if err == nil && len(s.torn) > 0 {
		w.lost = fmt.Sprintf("the segment ended in the middle of a line: %d bytes were put aside", len(s.torn))
		if u := w.put(nil); u != nil {
			return u
		}
	}
	return errors.Join(err, w.closeOn(err))
}

func (w *writer) closeOn(err error) error {
	if err == nil || w.file == nil {
		return nil
	}
	return w.file.Close()
}

func isClosed(r *contractv1.AuditRecord) bool {
	_, is := r.GetWhat().(*contractv1.AuditRecord_Closed)
	return is
}
