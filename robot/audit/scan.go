package audit

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
)

// blockSize is how much of a segment is checked at a time, in bytes: about a millisecond's work.
const blockSize = 64 << 10

// block is a piece of a segment that holds whole lines.
type block struct {
	file string
	from int // number of its first line in the file
	data []byte
	torn []byte // behind the last newline of the segment

	lines []line
	fault *Fault // of the line after lines
}

// check reads the lines of a block by themselves.
func (b *block) check() {
	for data := b.data; len(data) > 0; {
		text, rest, _ := bytes.Cut(data, []byte{'\n'})
		l, f := readLine(text)
		if f != nil {
			b.fault = f
			return
		}
		b.lines, data = append(b.lines, l), rest
	}
}

// at gives a fault its place: the line of this index in the block.
func (b *block) at(f *Fault, i int, last Checkpoint) *Fault {
	f.File, f.Line, f.Seq = b.file, b.from+i, last.Seq+1
	return f
}

// scan is a walk over all lines of a record, in order.
type scan struct {
	take func(*line) *Fault // what the records must say; nil: nothing

	head     Checkpoint
	bytes    int64 // of whole lines
	segments []int
	good     int64  // bytes of whole lines in the last segment
	torn     []byte // what the last segment holds behind them
	newest   *line  // the last line; nil: none
}

// walk reads the record from its first segment on. The error is the disk's.
func (s *scan) walk(d Disk) (*Fault, error) {
	names, err := d.List()
	if err != nil {
		return nil, err
	}
	s.segments = numbersOf(names, segmentSuffix)
	wave := make([]*block, 0, 4*runtime.GOMAXPROCS(0))
	for i, n := range s.segments {
		f, err := d.Open(nameOf(n, segmentSuffix))
		if err != nil {
			return nil, err
		}
		s.good, s.torn = 0, nil
		fault, err := s.segment(f, nameOf(n, segmentSuffix), wave)
		if err = errors.Join(err, f.Close()); fault != nil || err != nil {
			return fault, err
		}
		if i < len(s.segments)-1 && len(s.torn) > 0 {
			return s.tornFault(), nil
		}
	}
	return nil, nil
}

// tornFault says that the last segment read ends in the middle of a line.
func (s *scan) tornFault() *Fault {
	f := broken(RuleTorn, "the segment ends with %d bytes that are no whole line", len(s.torn))
	f.File, f.Seq = nameOf(s.segments[len(s.segments)-1], segmentSuffix), s.head.Seq+1
	return f
}

// segment reads one segment: blocks are checked beside one another, and then taken in order.
func (s *scan) segment(r io.Reader, file string, wave []*block) (*Fault, error) {
	next := blocksOf(r, file)
	for more := true; more; {
		wave = wave[:0]
		for len(wave) < cap(wave) {
			b, err := next()
			if err != nil && !errors.Is(err, io.EOF) {
				return nil, err
			}
			if more = err == nil; !more {
				break
			}
			wave = append(wave, b)
		}
		checkAll(wave)
		for _, b := range wave {
			if f := s.block(b); f != nil {
				return f, nil
			}
		}
	}
	return nil, nil
}

func checkAll(wave []*block) {
	if len(wave) == 1 {
		wave[0].check()
		return
	}
	var all sync.WaitGroup
	for _, b := range wave {
		all.Go(b.check)
	}
	all.Wait()
}

// block takes the checked lines of a block.
func (s *scan) block(b *block) *Fault {
	for i := range b.lines {
		l := &b.lines[i]
		last := s.head
		f := s.head.follow(l)
		if f == nil && s.take != nil {
			f = s.take(l)
		}
		if f != nil {
			return b.at(f, i, last)
		}
		s.newest = l
	}
	if b.fault != nil {
		return b.at(b.fault, len(b.lines), s.head)
	}
	s.good += int64(len(b.data))
	s.bytes += int64(len(b.data))
	s.torn = b.torn
	return nil
}

// blocksOf returns a function that returns the next block of a segment, or io.EOF.
func blocksOf(r io.Reader, file string) func() (*block, error) {
	var rest []byte // begun lines
	from, over := 1, false
	return func() (*block, error) {
		if over {
			return nil, io.EOF
		}
		buf, end := rest, 0
		for end == 0 && !over && len(buf) < MaxLine {
			n := len(buf)
			buf = append(buf, make([]byte, blockSize)...)
			more, err := io.ReadFull(r, buf[n:])
			if over = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); err != nil && !over {
				return nil, err
			}
			buf = buf[:n+more]
			end = bytes.LastIndexByte(buf, '\n') + 1
		}
		b := &block{file: file, from: from, data: buf[:end]}
		from += bytes.Count(b.data, []byte{'\n'})
		switch rest = slices.Clone(buf[end:]); {
		case over:
			b.torn = rest
		case end == 0:
			b.data, over = buf, true // a line that is too long: readLine refuses it
		}
		return b, nil
	}
}
