package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// What is appended is there after the record is opened again, in order, chained over segments, with the wall clock's time.
//
// Verifies: I01
func TestWhatIsAppendedIsThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "so101.audit")
	want := lives(40)
	for i := 0; i < len(want); i += 10 {
		l, h, err := Open(dir, Options{Now: clock, SegmentBytes: 2000})
		if err != nil {
			t.Fatal(err)
		}
		if h.Records != uint64(i) || h.Gaps != 0 || h.SetAside != 0 {
			t.Fatalf("%d records, %d gaps", h.Records, h.Gaps)
		}
		must(t, l, want[i:i+10]...)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Verify(dir, VerifyOptions{})
	if err != nil || r.Fault != nil || r.Records != 40 || r.Segments < 8 || r.Missions != 8 {
		t.Fatalf("%+v, %v", r, err)
	}
	reader, err := NewReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	for i := range want {
		e, err := reader.Next()
		if err != nil {
			t.Fatal(err)
		}
		w := proto.CloneOf(want[i])
		w.WallMs = clock().UnixMilli()
		if !proto.Equal(e.Record, w) || e.Seq != uint64(i+1) {
			t.Fatalf("record %d is %v", i+1, e.Record)
		}
	}
}

// Answers come in the order of the appends, whoever appends, and one fsync serves many.
//
// Verifies: I02, P29
func TestGroupCommit(t *testing.T) {
	d := newMemory()
	started, goOn := make(chan struct{}), make(chan struct{})
	first := sync.OnceFunc(func() { close(started); <-goOn })
	syncs := 0
	d.before = func(_ int, op, _ string) damage {
		if op == "sync" {
			syncs++
			first()
		}
		return damage{}
	}
	l, _ := opened(t, d)
	var a answers
	const n = 500
	a.append(l, 0, latchRecord(0))
	<-started
	for i := 1; i < n; i++ { // the disk is in the middle of an fsync, and none of these waits for it
		a.append(l, i, latchRecord(uint64(i)))
	}
	close(goOn)
	for i, got := range a.wait() {
		if got.err != nil || got.n != i {
			t.Fatalf("answer %d is that of append %d: %v", i, got.n, got.err)
		}
	}
	if syncs != 2 {
		t.Errorf("%d fsyncs for %d records, want one for the first and one for all that came meanwhile", syncs, n)
	}
	if r := sound(t, d); r.Records != n {
		t.Errorf("%d records", r.Records)
	}
}

// A queue without room refuses with OVERLOADED, in order; refusals leave half of it to the rest; and that something was
// not taken is told by a Lost before the next record.
//
// Verifies: I03
func TestOverload(t *testing.T) {
	for name, limit := range map[string]func(*Options){
		"records": func(o *Options) { o.Queue = 8 },
		"bytes":   func(o *Options) { o.Queue, o.QueueBytes = 1000, 8*size(t, latchRecord(0)) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newMemory()
			goOn := make(chan struct{})
			started := make(chan struct{})
			first := sync.OnceFunc(func() { close(started); <-goOn })
			d.before = func(_ int, op, _ string) damage {
				if op == "sync" {
					first()
				}
				return damage{}
			}
			l, _ := opened(t, d, limit)
			var a answers
			a.append(l, 0, latchRecord(0))
			<-started
			for i := 1; i < 20; i++ {
				a.append(l, i, refusedRecord(i))
			}
			for i := 20; i < 30; i++ {
				a.append(l, i, latchRecord(uint64(i)))
			}
			l.Append(latchRecord(30), nil) // refused, and nobody asks
			close(goOn)
			taken := map[bool]int{}
			list := a.wait()
			for i, got := range list {
				if got.n != i {
					t.Fatalf("answer %d is that of append %d", i, got.n)
				}
				if got.err == nil {
					taken[i > 0 && i < 20]++
				} else if code := codeOf(t, got.err); code != reject.Overloaded {
					t.Errorf("append %d: %s", i, code)
				}
			}
			if refused, others := taken[true], taken[false]; refused == 0 || refused > 4 || others < 4 || others+refused > 8 {
				t.Errorf("%d refusals and %d others were taken", refused, others)
			}
			must(t, l, latchRecord(40))
			if r := sound(t, d); r.Gaps != 1 || l.Err() != nil {
				t.Errorf("%d gaps, %v", r.Gaps, l.Err())
			}
		})
	}
}

func size(t *testing.T, r *contractv1.AuditRecord) int {
	t.Helper()
	r = proto.CloneOf(r)
	r.WallMs = clock().UnixMilli()
	text, err := recordText(r)
	if err != nil {
		t.Fatal(err)
	}
	return len(text)
}

// What cannot be a line is refused and does not stop the others.
//
// Verifies: I03
func TestWhatCannotBeWritten(t *testing.T) {
	d := newMemory()
	l, _ := opened(t, d)
	long := &contractv1.LatchChange{Reason: strings.Repeat("x", MaxLine)}
	for name, c := range map[string]struct {
		record *contractv1.AuditRecord
		code   reject.Code
	}{
		"nothing":         {nil, reject.Malformed},
		"an empty one":    {&contractv1.AuditRecord{}, reject.Malformed},
		"a gap":           {&contractv1.AuditRecord{What: &contractv1.AuditRecord_Lost{Lost: &contractv1.Lost{}}}, reject.Malformed},
		"no UTF-8":        {&contractv1.AuditRecord{What: &contractv1.AuditRecord_Latch{Latch: &contractv1.LatchChange{Reason: "\xff"}}}, reject.Malformed},
		"a very long one": {&contractv1.AuditRecord{What: &contractv1.AuditRecord_Latch{Latch: long}}, reject.TooLarge},
	} {
		if code := codeOf(t, durable(l, c.record)); code != c.code || l.Err() != nil {
			t.Errorf("%s: %s, %v", name, code, l.Err())
		}
	}
	most := MaxLine - lineAround - size(t, &contractv1.AuditRecord{What: &contractv1.AuditRecord_Latch{Latch: &contractv1.LatchChange{Reason: "x"}}}) + 1
	must(t, l, &contractv1.AuditRecord{What: &contractv1.AuditRecord_Latch{Latch: &contractv1.LatchChange{Reason: strings.Repeat("x", most)}}})
	if r := sound(t, d); r.Records != 2 || r.Gaps != 1 {
		t.Errorf("%+v", r)
	}
}

// After a close nothing is written, and everything that was queued is.
//
// Verifies: I01
func TestCloseWritesWhatIsQueued(t *testing.T) {
	d := newMemory()
	l, _ := opened(t, d)
	for i := range 100 {
		l.Append(latchRecord(uint64(i)), nil)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if code := codeOf(t, durable(l, latchRecord(100))); code != reject.AuditUnavailable {
		t.Errorf("append after the close: %s", code)
	}
	l.Append(latchRecord(101), nil)
	if err := l.Close(); err != nil {
		t.Errorf("a second close: %v", err)
	}
	if r := sound(t, d); r.Records != 100 {
		t.Errorf("%d records", r.Records)
	}
}

// A folder has one writer, in whatever process, and others may not enter it.
//
// Verifies: I04
func TestOneWriter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "so101.audit")
	l, _, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	must(t, l, latchRecord(1))
	if _, _, err := Open(dir, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("a second writer: %v", err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, files[0]: 0o600, files[1]: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	again, h, err := Open(dir, Options{})
	if err != nil || h.Records != 1 {
		t.Fatalf("after the close: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	if l, _, err := Open(dir, Options{}); err == nil {
		t.Error("others may read the record")
		_ = l.Close()
	}
}

// A record whose folder or file was taken away or replaced is not written any more: F26.
//
// Verifies: P27
func TestReplacedFolder(t *testing.T) {
	for name, replace := range map[string]func(dir string) error{
		"taken away": os.RemoveAll,
		"moved":      func(dir string) error { return os.Rename(dir, dir+".old") },
		"a link": func(dir string) error {
			return errors.Join(os.Rename(dir, dir+".old"), os.Symlink(dir+".old", dir))
		},
		"another one":  func(dir string) error { return errors.Join(os.Rename(dir, dir+".old"), os.Mkdir(dir, 0o700)) },
		"a file moved": func(dir string) error { return os.Rename(filepath.Join(dir, segmentFile(1)), dir+"/x") },
		"a linked file": func(dir string) error {
			f := filepath.Join(dir, segmentFile(1))
			return errors.Join(os.Rename(f, dir+"/x"), os.Symlink(dir+"/x", f))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "so101.audit")
			l, _, err := Open(dir, Options{RetryAfter: time.Nanosecond})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			must(t, l, latchRecord(1))
			if err := replace(dir); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				err := durable(l, latchRecord(2))
				if code := codeOf(t, err); code != reject.AuditUnavailable || l.Err() == nil || strings.Contains(err.Error(), dir) {
					t.Errorf("%v, %v", err, l.Err())
				}
			}
		})
	}
}

// Options that mean nothing are refused, and so is a folder that is none.
//
// Verifies: I04
func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dir string
		o   Options
	}{
		"negative": {filepath.Join(dir, "a"), Options{Queue: -1}}, "a file": {file, Options{}}, "a link": {link, Options{}},
		"below a file": {filepath.Join(file, "a"), Options{}},
	} {
		if l, _, err := Open(c.dir, c.o); err == nil {
			t.Errorf("%s is opened", name)
			_ = l.Close()
		}
	}
}

// A failed log tries again only after a pause, which doubles, and answers at once meanwhile, whatever the wall clock does.
//
// Verifies: P27, I05
func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newMemory()
		wall := time.UnixMilli(0)
		l, _ := opened(t, d, func(o *Options) { o.RetryAfter, o.Now = time.Second, func() time.Time { return wall } })
		must(t, l, latchRecord(1))
		d.before = func(int, string, string) damage { return damage{err: syscall.ENOSPC} }
		for pause := time.Second; pause <= 64*time.Second; pause *= 2 {
			before := d.calls
			if code := codeOf(t, durable(l, latchRecord(2))); code != reject.AuditUnavailable || d.calls == before {
				t.Fatalf("%s after %d calls", code, d.calls-before)
			}
			before = d.calls
			time.Sleep(min(pause, 32*time.Second) - time.Millisecond)
			wall = wall.Add(-1000 * time.Hour)
			err := durable(l, latchRecord(3))
			var r reject.Rejection
			if codeOf(t, err) != reject.AuditUnavailable || d.calls != before || !errors.Is(err, syscall.ENOSPC) || !errors.As(l.Err(), &r) {
				t.Fatalf("within the pause: %v, %d calls", err, d.calls-before)
			}
			if want := min(pause, 32*time.Second).Milliseconds(); int64(r.AfterMS) != want || r.Retry != reject.Later {
				t.Errorf("retry %s after %d ms, want %d", r.Retry, r.AfterMS, want)
			}
			time.Sleep(time.Millisecond)
		}
		d.before = nil
		must(t, l, latchRecord(4), latchRecord(5))
		if r := sound(t, d); r.Records != 4 || r.Gaps != 1 || l.Err() != nil {
			t.Errorf("%+v, %v", r, l.Err())
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A robot that appends from many places at once gets every record once.
//
// Verifies: I02
func TestManyAppendAtOnce(t *testing.T) {
	d := newMemory()
	l, _ := opened(t, d, smallSegments)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 100 {
				if err := durable(l, refusedRecord(1000*g+i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if r := sound(t, d); r.Records != 800 {
		t.Errorf("%d records", r.Records)
	}
	seen := map[string]bool{}
	for _, id := range idsOn(t, d) {
		if seen[id] {
			t.Errorf("%s is there twice", id)
		}
		seen[id] = true
	}
	if len(seen) != 800 {
		t.Errorf("%d different ones", len(seen))
	}
}

// idsOn lists what the refusals on a disk name, in order.
func idsOn(t *testing.T, d Disk) (ids []string) {
	t.Helper()
	s := scan{take: func(l *line) *Fault {
		if r := l.record.GetRefused(); r != nil {
			ids = append(ids, r.GetMissionId())
		}
		return nil
	}}
	if f, err := s.walk(d); f != nil || err != nil {
		t.Fatal(fmt.Sprint(f), err)
	}
	return ids
}
