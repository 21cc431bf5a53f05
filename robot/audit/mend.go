package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// mend puts a fresh file with the segment's first good bytes, which end with the line of head, in its place, and what lay
// behind them aside. The file is durable, and open for appending. It may be cut short at any point and done again.
func mend(d Disk, segment int, good int64, head Checkpoint) (File, error) {
	fresh, err := d.Create(nameOf(segment, freshSuffix), true)
	if err != nil {
		return nil, fmt.Errorf("create: %w", err)
	}
	if err := replace(d, segment, fresh, good, head); err != nil {
		return nil, errors.Join(err, fresh.Close())
	}
	return fresh, nil
}

// replace fills the fresh file and gives it the segment's name.
func replace(d Disk, segment int, fresh File, good int64, head Checkpoint) error {
	name := nameOf(segment, segmentSuffix)
	old, err := d.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && good == 0: // it was never made
	case err != nil:
		return fmt.Errorf("open: %w", err)
	default:
		if err := errors.Join(part(d, segment, old, fresh, good, head), old.Close()); err != nil {
			return err
		}
	}
	if err := fresh.Sync(); err != nil {
		return fmt.Errorf("fsync: %w", err)
	}
	if err := d.Rename(nameOf(segment, freshSuffix), name); err != nil {
		return fmt.Errorf("rename: %w", err)
	}
	if err := d.SyncDir(); err != nil {
		return fmt.Errorf("fsync of the folder: %w", err)
	}
	return nil
}

// part copies what is good into the fresh file and the rest, where there is one, into a file beside it.
func part(d Disk, segment int, old io.Reader, fresh File, good int64, head Checkpoint) error {
	var last lastBytes
	if _, err := io.CopyN(io.MultiWriter(whole{fresh}, &last), old, good); err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	if want := fmt.Sprintf("%s%x%s\n", beforeHash, head.Hash, lineEnd); good > 0 && string(last) != want {
		return fmt.Errorf("record %d is not where it was written", head.Seq)
	}
	var first [1]byte
	if _, err := io.ReadFull(old, first[:]); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	aside, err := d.Create(nameOf(segment, tornSuffix), true)
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	if _, err = io.Copy(whole{aside}, io.MultiReader(bytes.NewReader(first[:]), old)); err == nil {
		err = aside.Sync()
	}
	return errors.Join(err, aside.Close())
}

// lastBytes keeps as much of the end of what is written as the hash of a line takes, newline included.
type lastBytes []byte

func (l *lastBytes) Write(b []byte) (int, error) {
	*l = append(*l, b[max(0, len(b)-hashSize-1):]...)
	*l = (*l)[max(0, len(*l)-hashSize-1):]
	return len(b), nil
}

// whole is a writer that writes all or returns an error. It hides whatever else the file could do.
type whole struct{ f io.Writer }

func (w whole) Write(b []byte) (int, error) {
	n, err := w.f.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return n, err
}

// isTear reports whether the bytes behind the last newline are what a crash leaves: the beginning of a line, with zeros
// behind it where the file had grown and the bytes had not come. A whole line with another byte in the newline's place is
// none.
func isTear(tail []byte) bool {
	text := bytes.TrimRight(tail, "\x00")
	if len(text) >= MaxLine || !bytes.HasPrefix(text, []byte(beforeSeq)[:min(len(text), len(beforeSeq))]) {
		return false
	}
	if bytes.IndexFunc(text, func(r rune) bool { return r < ' ' }) >= 0 {
		return false
	}
	if len(text) > 0 {
		_, f := readLine(text[:len(text)-1])
		return f != nil
	}
	return true
}
