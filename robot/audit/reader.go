package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	contractv1 "interlock/contract/v1"
)

// Entry is one record as it stands in its file.
type Entry struct {
	Checkpoint
	File   string // the segment
	Line   int    // in the segment, from 1
	Text   []byte // the record, as JSON
	Record *contractv1.AuditRecord
}

// Reader reads a record line by line, in order, and checks the chain as it goes; what the records must say is Verify's.
// It takes no lock and follows a record that is being written. It is not safe for concurrent use.
type Reader struct {
	disk  Disk
	close func() error

	head  Checkpoint // of what was read
	at    place
	ready []Entry
	torn  int  // bytes of a line that is not whole yet
	again bool // the segment is read again, since something in it does not verify
}

// place is how far a segment was read.
type place struct {
	segment int        // 0: none
	begin   Checkpoint // the chain before it
	offset  int64
	lines   []digest // hashes of its lines so far
	known   []digest // of lines that were returned already, while it is read again
}

// NewReader opens a record for reading.
func NewReader(dir string) (*Reader, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	d, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	r := &Reader{disk: d, close: d.close}
	if n, err := r.following(); err != nil || n == 0 {
		if err == nil {
			err = fmt.Errorf("%s holds no record", dir)
		}
		return nil, errors.Join(err, d.close())
	}
	return r, nil
}

// Close ends the reading.
func (r *Reader) Close() error { return r.close() }

// Torn returns how many bytes of a begun line stand behind the last whole one. A robot may be writing it.
func (r *Reader) Torn() int { return r.torn }

// Next returns the next record. io.EOF means that there are no more so far: a record that is being written may have some
// later. A *Fault is a line that does not verify. Lines that were returned before they were durable may be taken back where
// a robot's disk fails; then the next one is a Lost that follows an earlier record than the last.
func (r *Reader) Next() (*Entry, error) {
	for len(r.ready) == 0 {
		if more, err := r.more(); err != nil {
			return nil, err
		} else if !more {
			return nil, io.EOF
		}
	}
	e := &r.ready[0]
	r.ready, r.again = r.ready[1:], false
	return e, nil
}

// more reads on. False: there is nothing more so far.
func (r *Reader) more() (bool, error) {
	next, err := r.following() // before the segment is read: one that is followed is final
	if err != nil {
		return false, err
	}
	if r.at.segment != 0 {
		if f, err := r.advance(); f != nil || err != nil || len(r.ready) > 0 {
			return true, r.trouble(f, err)
		}
		if next == 0 {
			return false, nil
		}
		if r.torn > 0 {
			return true, r.trouble(broken(RuleTorn, "the segment ends with %d bytes that are no whole line", r.torn), nil)
		}
	}
	if next == 0 {
		return false, nil
	}
	r.at = place{segment: next, begin: r.head}
	return true, nil
}

// following is the number of the segment after the one that is read; 0: there is none.
func (r *Reader) following() (int, error) {
	names, err := r.disk.List()
	numbers := numbersOf(names, segmentSuffix)
	if i := slices.IndexFunc(numbers, func(n int) bool { return n > r.at.segment }); err == nil && i >= 0 {
		return numbers[i], nil
	}
	return 0, err
}

// advance reads the whole lines behind the place, up to the first that does not verify.
func (r *Reader) advance() (*Fault, error) {
	text, f, err := r.rest()
	if f != nil || err != nil {
		return f, err
	}
	for {
		end := bytes.IndexByte(text, '\n')
		if r.torn = len(text); end < 0 {
			return nil, nil
		}
		l, f := readLine(text[:end])
		if f == nil {
			f = r.head.follow(&l)
		}
		if f != nil {
			return f, nil
		}
		text = text[end+1:]
		r.at.took(r, &l, end+1)
	}
}

// rest reads what stands behind the place.
func (r *Reader) rest() (text []byte, f *Fault, err error) {
	file, err := r.disk.Open(nameOf(r.at.segment, segmentSuffix))
	if err != nil {
		return nil, nil, err
	}
	size, err := file.Seek(0, io.SeekEnd)
	switch {
	case err != nil:
	case size < r.at.offset:
		f = broken(RuleForm, "the segment became shorter")
	default:
		if _, err = file.Seek(r.at.offset, io.SeekStart); err == nil {
			text, err = io.ReadAll(file)
		}
	}
	return text, f, errors.Join(err, file.Close())
}

// took notes a line, and makes it ready unless it was returned before.
func (p *place) took(r *Reader, l *line, size int) {
	i := len(p.lines)
	p.lines, p.offset = append(p.lines, l.hash), p.offset+int64(size)
	if i < len(p.known) && p.known[i] == l.hash {
		return
	}
	p.known = nil
	r.ready = append(r.ready, Entry{r.head, nameOf(p.segment, segmentSuffix), i + 1, l.text, l.record})
}

// trouble decides about a line that does not verify. Lines that are ready come first. Then the segment is read once more
// from its beginning: it may have been mended since.
func (r *Reader) trouble(f *Fault, err error) error {
	switch {
	case err != nil:
		return err
	case f == nil || len(r.ready) > 0:
		return nil
	case r.again:
		f.File, f.Line, f.Seq = nameOf(r.at.segment, segmentSuffix), len(r.at.lines)+1, r.head.Seq+1
		return f
	}
	r.at = place{segment: r.at.segment, begin: r.at.begin, known: r.at.lines}
	r.head, r.again = r.at.begin, true
	return nil
}
