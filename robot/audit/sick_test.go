package audit

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// sickRun is a log on a disk that falls sick, and what it answered.
type sickRun struct {
	t     *testing.T
	what  string
	d     *memory
	l     *Log
	acked []string
	n     int
	bad   int // appends that were refused
}

func (s *sickRun) errorf(format string, a ...any) {
	s.t.Helper()
	s.t.Errorf("%s: %s", s.what, fmt.Sprintf(format, a...))
}

func (s *sickRun) open() error {
	l, _, err := Open("record", Options{Disk: s.d, Now: clock, RetryAfter: time.Nanosecond, SegmentBytes: 900})
	s.l = l
	return err
}

// append appends one record and holds the answer to the disk: what was acknowledged would survive a power cut now, and what
// was not shows in Err.
func (s *sickRun) append() error {
	s.t.Helper()
	s.n++
	id := fmt.Sprintf("r%d", s.n)
	err := durable(s.l, refusedRecord(s.n))
	if err != nil {
		s.bad++
		if codeOf(s.t, err) != reject.AuditUnavailable || s.l.Err() == nil {
			s.errorf("refused with %v, and Err is %v", err, s.l.Err())
		}
		return err
	}
	s.acked = append(s.acked, id)
	if s.l.Err() != nil {
		s.errorf("acknowledged, and Err is %v", s.l.Err())
	}
	if got := idsOn(s.t, s.d.crash(0, func(int) int { return 0 })); !slices.Equal(got, s.acked) {
		s.errorf("acknowledged %v, durable %v", s.acked, got)
	}
	return nil
}

// healed goes on after the disk is well again: the very next record must become durable, and the record must hold what was
// acknowledged and nothing else.
func (s *sickRun) healed() {
	s.t.Helper()
	s.d.before = nil
	if s.l == nil {
		if err := s.open(); err != nil {
			s.errorf("not opened on a healthy disk: %v", err)
			return
		}
	}
	for range 2 {
		if err := s.append(); err != nil {
			s.errorf("not recovered: %v", err)
		}
	}
	if err := s.l.Close(); err != nil {
		s.errorf("close: %v", err)
	}
	r := sound(s.t, s.d)
	if got := idsOn(s.t, s.d); !slices.Equal(got, s.acked) {
		s.errorf("acknowledged %v, recorded %v", s.acked, got)
	}
	if (r.Gaps > 0) != (s.bad > 0) {
		s.errorf("%d appends were refused, and %d gaps are told", s.bad, r.Gaps)
	}
}

// runOn plays a scripted run on a disk that fails as told.
func runOn(t *testing.T, what string, before func(call int, op, name string) damage) *sickRun {
	t.Helper()
	s := &sickRun{t: t, what: what, d: newMemory()}
	s.d.before = before
	if err := s.open(); err == nil {
		for range 9 {
			_ = s.append()
		}
	}
	return s
}

// callsOf counts the file operations of the run on a healthy disk.
func callsOf(t *testing.T) (ops []string) {
	t.Helper()
	s := runOn(t, "healthy", func(_ int, op, _ string) damage { ops = append(ops, op); return damage{} })
	s.healed()
	if len(s.acked) != 11 || len(ops) < 30 {
		t.Fatalf("%d acknowledged, %d calls", len(s.acked), len(ops))
	}
	for _, op := range []string{"list", "create", "write", "sync", "syncdir", "close"} {
		if !slices.Contains(ops, op) {
			t.Fatalf("the run has no %s", op)
		}
	}
	return ops
}

// Each fault of a disk at each file operation in turn, once: nothing is acknowledged that is not durable, Err says so, the
// log goes on by itself on a new segment, and the record verifies and tells the gap.
//
// Verifies: P27, I05
func TestSickOnce(t *testing.T) {
	ops := callsOf(t)
	for name, fault := range faults() {
		t.Run(name, func(t *testing.T) {
			for i := range ops {
				what := fmt.Sprintf("call %d (%s)", i, ops[i])
				s := runOn(t, what, once(i, fault))
				if s.bad > 1 {
					s.errorf("%d appends were refused", s.bad)
				}
				s.healed()
			}
		})
	}
}

func once(call int, fault damage) func(int, string, string) damage {
	return func(n int, _, _ string) damage {
		if n == call {
			return fault
		}
		return damage{}
	}
}

// A disk that stays sick from some file operation on: everything is refused until it is well again.
//
// Verifies: P27, I05
func TestSickForLong(t *testing.T) {
	ops := callsOf(t)
	for name, fault := range faults() {
		t.Run(name, func(t *testing.T) {
			for i := range ops {
				s := runOn(t, fmt.Sprintf("from call %d (%s) on", i, ops[i]), func(n int, op, _ string) damage {
					if n >= i && op != "close" {
						return fault
					}
					return damage{}
				})
				if s.l != nil && len(s.acked) < 9 {
					if err := s.append(); err == nil {
						s.errorf("acknowledged by a disk that writes nothing")
					}
				}
				s.healed()
			}
		})
	}
}

// One kind of operation that never works again: of each, what can be written is written and the rest is refused.
//
// Verifies: P27
func TestSickInOneWay(t *testing.T) {
	for _, op := range []string{"list", "open", "create", "write", "sync", "syncdir", "rename", "holds", "close"} {
		for from := range 12 {
			s := runOn(t, fmt.Sprintf("%s from its call %d on", op, from), nthOf(op, from))
			s.healed()
		}
	}
}

func nthOf(op string, from int) func(int, string, string) damage {
	n := 0
	return func(_ int, is, _ string) damage {
		if is == op {
			if n++; n > from {
				return damage{err: syscall.EIO}
			}
		}
		return damage{}
	}
}

// A disk that falls sick a second time while the log goes on after the first: each operation of the recovery fails once.
//
// Verifies: P27, I05
func TestSickWhileRecovering(t *testing.T) {
	for first := 8; first < 30; first++ {
		for second := first + 1; second < first+16; second++ {
			s := runOn(t, fmt.Sprintf("calls %d and %d", first, second), func(n int, op, _ string) damage {
				if n == first || n == second {
					return damage{err: syscall.EIO, done: n%2 == 0}
				}
				return damage{}
			})
			if s.bad > 2 {
				s.errorf("%d appends were refused", s.bad)
			}
			s.healed()
		}
	}
}

// After a failed fsync a new process can read lines that never reached the disk. It does not build on the cache: whatever it
// acknowledges survives a power cut.
//
// Verifies: P27, P20, I06
func TestRestartAfterFailedSync(t *testing.T) {
	ops := callsOf(t)
	for i, op := range ops {
		if op != "sync" && op != "write" {
			continue
		}
		s := runOn(t, fmt.Sprintf("restart after %s at call %d", op, i), func(n int, _, _ string) damage {
			switch {
			case n == i:
				return damage{err: syscall.EIO, done: true}
			case n > i: // the process is killed: it does nothing any more
				return damage{err: errTest}
			}
			return damage{}
		})
		if s.l == nil {
			t.Fatalf("call %d: not opened", i)
		}
		_ = s.l.Close()
		s.d = s.d.restart()
		if err := s.open(); err != nil {
			s.errorf("not opened: %v", err)
			continue
		}
		for range 3 {
			id := fmt.Sprintf("r%d", s.n+1)
			if err := durable(s.l, refusedRecord(s.n+1)); err != nil {
				s.errorf("%v", err)
			}
			s.n, s.acked = s.n+1, append(s.acked, id)
		}
		after := s.d.crash(0, func(int) int { return 0 })
		got := idsOn(t, after)
		for _, id := range s.acked {
			if !slices.Contains(got, id) {
				s.errorf("%s was acknowledged and is gone: %v", id, got)
			}
		}
		sound(t, after)
		_ = s.l.Close()
	}
}

// What is put aside is kept, and a Lost says why.
//
// Verifies: P27, I06
func TestWhatIsPutAside(t *testing.T) {
	d := newMemory()
	l, _ := opened(t, d)
	must(t, l, latchRecord(1))
	good := string(d.text(segmentFile(1)))
	d.before = func(_ int, op, _ string) damage {
		if op == "write" {
			return damage{err: syscall.ENOSPC, done: true}
		}
		return damage{}
	}
	if err := durable(l, latchRecord(2)); err == nil {
		t.Fatal("acknowledged")
	}
	d.before = nil
	must(t, l, latchRecord(3))
	if got := string(d.text(segmentFile(1))); got != good {
		t.Errorf("the first segment holds %q", got)
	}
	if aside := string(d.text("00000001.torn")); !strings.HasPrefix(aside, `{"seq":2,`) || strings.HasSuffix(aside, "\n") {
		t.Errorf("aside: %q", aside)
	}
	if got := d.crash(0, func(int) int { return 0 }).text("00000001.torn"); len(got) == 0 {
		t.Error("what was put aside does not survive a power cut")
	}
	r := sound(t, d)
	if r.Records != 3 || r.Segments != 2 || r.Gaps != 1 || !slices.Equal(r.SetAside, []string{"00000001.torn"}) {
		t.Errorf("%+v", r)
	}
	s := scan{take: func(l *line) *Fault {
		if lost := l.record.GetLost(); lost != nil && (lost.GetAfterSeq() != 1 || !strings.Contains(lost.GetWhy(), "no space left")) {
			t.Errorf("%v", lost)
		}
		return nil
	}}
	if f, err := s.walk(d); f != nil || err != nil {
		t.Fatal(f, err)
	}
}

// While the disk hangs, an append returns all the same, and so does Err.
//
// Verifies: P27, I02
func TestHangingDisk(t *testing.T) {
	d := newMemory()
	goOn, hangs := make(chan struct{}), make(chan struct{}, 1)
	d.before = func(_ int, op, _ string) damage {
		if op == "sync" {
			hangs <- struct{}{}
			<-goOn
		}
		return damage{}
	}
	l, _ := opened(t, d)
	var a answers
	a.append(l, 0, latchRecord(1))
	<-hangs
	for i := range 100 {
		a.append(l, i+1, &contractv1.AuditRecord{What: latchRecord(2).What})
	}
	if l.Err() != nil || len(a.list) != 0 {
		t.Errorf("%v, %d answers", l.Err(), len(a.list))
	}
	close(goOn)
	if got := a.wait(); len(got) != 101 || got[100].err != nil {
		t.Errorf("%d answers", len(got))
	}
}

// A log does not go on from a file that holds something else than what it wrote.
//
// Verifies: P27, I06
func TestOtherFileInItsPlace(t *testing.T) {
	d := newMemory()
	l, _ := opened(t, d)
	must(t, l, latchRecord(1), latchRecord(2))
	mine := d.text(segmentFile(1))
	d.before = func(_ int, op, _ string) damage {
		if op == "sync" {
			return damage{err: syscall.EIO}
		}
		return damage{}
	}
	if err := durable(l, latchRecord(3)); err == nil {
		t.Fatal("acknowledged")
	}
	d.before = nil
	other := newMemory()
	o, _ := opened(t, other)
	must(t, o, latchRecord(7), latchRecord(8), latchRecord(9))
	d.put(segmentFile(1), other.text(segmentFile(1)))
	if code := codeOf(t, durable(l, latchRecord(4))); code != reject.AuditUnavailable {
		t.Errorf("%s", code)
	}
	d.put(segmentFile(1), mine)
	must(t, l, latchRecord(5))
	sound(t, d)
}
