package audit

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// readerOn is a reader of a disk in memory.
func readerOn(d Disk) *Reader { return &Reader{disk: d, close: func() error { return nil }} }

// names reads on until there is no more so far, and names what it read.
func (r *Reader) names(t *testing.T) (list []string) {
	t.Helper()
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		name := e.Record.GetRefused().GetMissionId()
		if e.Record.GetLost() != nil {
			name = "lost"
		}
		list = append(list, name)
	}
}

// A reader follows a record over its segments and processes, and sees each record once.
//
// Verifies: I10
func TestReaderFollows(t *testing.T) {
	d := newMemory()
	r := readerOn(d)
	var got, want []string
	n := 0
	for range 3 {
		l, _ := opened(t, d, smallSegments)
		for range 12 {
			n++
			must(t, l, refusedRecord(n))
			want = append(want, refusedRecord(n).GetRefused().GetMissionId())
			if n%5 == 0 {
				got = append(got, r.names(t)...)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	got = append(got, r.names(t)...)
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Reading and verifying while a robot writes shows no fault that is none.
//
// Verifies: I10
func TestReadWhileWriting(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "so101.audit")
	l, _, err := Open(dir, Options{SegmentBytes: 4000})
	if err != nil {
		t.Fatal(err)
	}
	const n = 600
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := range n {
			if err := durable(l, refusedRecord(i)); err != nil {
				t.Error(err)
			}
		}
	})
	reader, err := NewReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for seen < n && !t.Failed() {
		seen += len(reader.names(t))
		if r, err := Verify(dir, VerifyOptions{Settle: 50 * time.Millisecond}); err == nil && r.Fault != nil {
			t.Error(r.Fault)
		}
	}
	writing.Wait()
	if err := errors.Join(l.Close(), reader.Close()); err != nil {
		t.Error(err)
	}
	if seen != n {
		t.Errorf("%d records", seen)
	}
}

// Lines that were shown before they were durable, and then taken back, do not confuse a reader: it goes on with the Lost.
//
// Verifies: I10
func TestReaderOverALoss(t *testing.T) {
	for _, before := range []int{0, 3} { // durable lines in the segment in which the disk fails
		d := newMemory()
		l, _ := opened(t, d)
		for i := range before {
			must(t, l, refusedRecord(i))
		}
		r := readerOn(d)
		if got := r.names(t); len(got) != before {
			t.Fatalf("%v", got)
		}
		d.before = func(_ int, op, _ string) damage {
			if op == "sync" {
				return damage{err: syscall.EIO}
			}
			return damage{}
		}
		if err := durable(l, refusedRecord(100)); err == nil {
			t.Fatal("acknowledged")
		}
		if got := r.names(t); !slices.Equal(got, []string{"r100"}) {
			t.Errorf("while the disk fails: %v", got)
		}
		d.before = nil
		must(t, l, refusedRecord(200), refusedRecord(201))
		if got := r.names(t); !slices.Equal(got, []string{"lost", "r200", "r201"}) {
			t.Errorf("with %d lines before: %v", before, got)
		}
	}
}

// A reader stops where a line does not verify, and says where; half a line is told apart.
//
// Verifies: I10, P28
func TestReaderFindsFaults(t *testing.T) {
	d := written(t, lives(30), smallSegments)
	name := segmentFile(3)
	text := slices.Clone(d.text(name))
	second := strings.IndexByte(string(text), '\n') + 1
	text[second+100] ^= 4
	d.put(name, text)
	r := readerOn(d)
	var f *Fault
	for {
		_, err := r.Next()
		if errors.As(err, &f) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if want, _ := verify(d, nil); f.Rule != RuleHash || f.File != name || f.Line != 2 || f.Seq != want.Fault.Seq {
		t.Errorf("%v, and Verify says %v", f, want.Fault)
	}
	if _, err := r.Next(); !errors.As(err, &f) {
		t.Errorf("read on: %v", err)
	}
	torn := newMemory()
	torn.put(segmentFile(1), d.text(segmentFile(1))[:500])
	r = readerOn(torn)
	if got := r.names(t); len(got) != 1 || r.Torn() == 0 {
		t.Errorf("%v, %d bytes torn", got, r.Torn())
	}
	torn.put(segmentFile(2), d.text(segmentFile(2)))
	if _, err := r.Next(); !errors.As(err, &f) || f.Rule != RuleTorn {
		t.Errorf("a segment behind half a line: %v", err)
	}
}

// A folder without a record is no record, and neither is none.
//
// Verifies: I10
func TestNoRecord(t *testing.T) {
	dir := t.TempDir()
	for _, dir := range []string{dir, filepath.Join(dir, "nowhere")} {
		if r, err := NewReader(dir); err == nil {
			t.Errorf("%s is read", dir)
			_ = r.Close()
		}
		if r, err := Verify(dir, VerifyOptions{}); err == nil {
			t.Errorf("%s verifies: %+v", dir, r)
		}
	}
	if r, err := Verify(dir, VerifyOptions{Checkpoint: &Checkpoint{Seq: 1}}); err != nil || r.Fault == nil {
		t.Errorf("everything is gone: %+v, %v", r, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, _, err := Open(dir, Options{})
	if err != nil { // the test's folder may be entered by others
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if l, _, err = Open(dir, Options{}); err != nil {
			t.Fatal(err)
		}
	}
	must(t, l, latchRecord(1))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := Verify(dir, VerifyOptions{}); err != nil || r.Fault != nil || r.Records != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
