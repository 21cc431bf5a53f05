package audit

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	contractv1 "interlock/contract/v1"
)

// script is a robot's life on a disk of which every state is taken as that of a crash.
type script struct {
	t          *testing.T
	d          *memory
	sent       []string // what was appended, in order; each is there at most once
	acked      []string // what was answered without an error
	ended      map[string]bool
	begun      map[string]bool
	points     int
	images     int
	processes  uint64
	everyPoint int // 1: all of them
}

// nameOfRecord tells the records of the script from one another.
func nameOfRecord(r *contractv1.AuditRecord) string {
	switch what := r.GetWhat().(type) {
	case *contractv1.AuditRecord_Opened:
		return fmt.Sprintf("opened %d", what.Opened.GetIncarnation())
	case *contractv1.AuditRecord_Intent:
		return "intent " + what.Intent.GetMissionId()
	case *contractv1.AuditRecord_Event:
		return fmt.Sprintf("event %s %d", what.Event.GetMissionId(), what.Event.GetSeq())
	case *contractv1.AuditRecord_Closed:
		return "closed"
	}
	return ""
}

// process is one process of the robot: it opens the record, ends what an earlier one left open, and plays missions.
func (s *script) process(missions int, inOrder bool) {
	s.processes++
	watch := func(int) { s.crashHere() }
	s.d.mu.Lock()
	s.d.clean = watch
	s.d.mu.Unlock()
	l, h, err := Open("record", Options{Disk: s.d, Now: clock, RetryAfter: time.Nanosecond, SegmentBytes: 1200})
	if err != nil {
		s.t.Fatal(err)
	}
	s.append(l, openedAs(h.Incarnation+1))
	for _, r := range restarted(h) {
		s.append(l, r)
	}
	for i := range missions {
		for _, r := range life(fmt.Sprintf("p%d.m%d", s.processes, i)) {
			s.append(l, r)
		}
	}
	if inOrder {
		s.append(l, closedRecord())
	}
	s.d.mu.Lock()
	s.d.clean = nil
	s.d.mu.Unlock()
	_ = l.Close()
}

// restarted ends the missions that the record left open.
func restarted(h *History) (list []*contractv1.AuditRecord) {
	for _, m := range h.Missions {
		if !m.Ended && m.Intent != nil {
			list = append(list, event(m.ID, m.LastSeq+1, contractv1.EventKind_INTERRUPTED))
		}
	}
	return list
}

func (s *script) append(l *Log, r *contractv1.AuditRecord) {
	s.sent = append(s.sent, nameOfRecord(r))
	if err := durable(l, r); err != nil {
		s.t.Fatal(err)
	}
	s.acked = append(s.acked, nameOfRecord(r))
	if i := r.GetIntent(); i != nil {
		s.begun[i.GetMissionId()] = true
	}
	if e := r.GetEvent(); e.GetFinal() {
		s.ended[e.GetMissionId()] = true
	}
}

// crashHere takes the disk as it is now through every kind of power cut, and through a kill, and lets the next process see
// what is left.
func (s *script) crashHere() {
	s.points++
	if s.points%s.everyPoint != 0 || s.t.Failed() {
		return
	}
	seen := map[string]bool{}
	for _, changes := range []int{0, 1, 99} {
		for name, extra := range map[string]func(int) int{
			"nothing": func(int) int { return 0 }, "all": func(n int) int { return n }, "all but one": func(n int) int { return max(0, n-1) },
			"some": func(n int) int { return (n*s.points%97 + 96) / 97 },
		} {
			d := s.d.crash(changes, extra)
			if seen[d.sizes()] {
				continue // the same as another way to lose things here
			}
			seen[d.sizes()] = true
			s.images++
			if err := s.after(d); err != nil { // this is the log's goroutine: it must not be ended
				s.t.Errorf("crash %d with %d changes of names and %s of the pending bytes: %v", s.points, changes, name, err)
				return
			}
		}
	}
}

// sizes tells two states of a disk apart whose files were only appended to.
func (d *memory) sizes() (text string) {
	for _, name := range slices.Sorted(maps.Keys(d.live)) {
		text += fmt.Sprintf("%s %d, ", name, len(d.live[name].data))
	}
	return text
}

// after opens the record on what a crash left. Nothing that was acknowledged may be missing, nothing may be there twice,
// what is there is a beginning of what was sent, and a robot can go on.
func (s *script) after(d *memory) error {
	l, h, err := Open("record", Options{Disk: d, Now: clock, SegmentBytes: 1200})
	if err != nil {
		return err
	}
	for _, r := range append(restarted(h), openedAs(h.Incarnation+1)) {
		err = errors.Join(err, durable(l, r))
	}
	if err := errors.Join(err, l.Close()); err != nil {
		return err
	}
	var got []string
	scanned := scan{take: func(l *line) *Fault {
		if name := nameOfRecord(l.record); name != "" {
			got = append(got, name)
		}
		return nil
	}}
	if f, err := scanned.walk(d); err != nil {
		return err
	} else if f != nil {
		return f
	}
	kept := got[:int(h.Records)-h.Gaps]
	if len(kept) < len(s.acked) || len(kept) > len(s.sent) || !slices.Equal(kept, s.sent[:len(kept)]) {
		return fmt.Errorf("%d acknowledged, %d sent, and left is %v", len(s.acked), len(s.sent), kept)
	}
	known := map[string]*Mission{}
	for _, m := range h.Missions {
		known[m.ID] = m
	}
	for id := range s.begun {
		if m := known[id]; m == nil || string(m.Fingerprint) != "fingerprint of "+id || s.ended[id] && !m.Ended {
			return fmt.Errorf("mission %s is known as %+v", id, m)
		}
	}
	if r, err := verify(d, nil); err != nil {
		return err
	} else if r.Fault != nil {
		return r.Fault
	}
	return nil
}

// A crash at every file operation, with every kind of loss, in a run of four processes of which one finds half a line:
// what was acknowledged is there once, an intent is there before its motion, an end that was told stays told.
//
// Verifies: P20, P26, I06
func TestCrashAtEveryCall(t *testing.T) {
	s := &script{t: t, d: newMemory(), ended: map[string]bool{}, begun: map[string]bool{}, everyPoint: 1}
	if testing.Short() {
		s.everyPoint = 9
	}
	s.process(9, true)
	s.process(5, false)
	s.d = s.d.crash(0, func(int) int { return 0 })
	s.process(5, false)
	n := len(s.sent)
	s.d = cutInTheMiddle(t, s.d)
	s.acked, s.sent = s.acked[:n-1], s.sent[:n-1] // as if it had never been acknowledged: half of it is gone
	delete(s.ended, "p3.m4")
	s.process(5, false)
	if s.points < 500 {
		t.Errorf("%d points, want 500", s.points)
	}
	t.Logf("%d file operations, %d states of the disk, %d records", s.points, s.images, len(s.sent))
}

// cutInTheMiddle takes away the end of the last line.
func cutInTheMiddle(t *testing.T, d *memory) *memory {
	t.Helper()
	names, err := d.List()
	if err != nil {
		t.Fatal(err)
	}
	numbers := numbersOf(names, segmentSuffix)
	name := segmentFile(numbers[len(numbers)-1])
	after := d.crash(99, func(n int) int { return n })
	text := after.text(name)
	after.put(name, text[:len(text)-100])
	return after
}
