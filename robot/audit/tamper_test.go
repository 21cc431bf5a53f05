package audit

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// spread is a record as its lines, newline included, with the chain before each.
type spread struct {
	lines []([]byte)
	heads []Checkpoint
}

func spreadOf(t *testing.T, n int) spread {
	t.Helper()
	text := written(t, lives(n), func(o *Options) { o.SegmentBytes = 1 << 30 }).text(segmentFile(1))
	s := spread{lines: bytes.SplitAfter(bytes.TrimSuffix(text, []byte{'\n'}), []byte{'\n'})}
	last := len(s.lines) - 1
	s.lines[last] = append(slices.Clone(s.lines[last]), '\n')
	head := Checkpoint{}
	for _, l := range s.lines {
		s.heads = append(s.heads, head)
		got, f := readLine(l[:len(l)-1])
		if f == nil {
			f = head.follow(&got)
		}
		if f != nil {
			t.Fatal(f)
		}
	}
	s.heads = append(s.heads, head)
	if len(s.lines) != n {
		t.Fatalf("%d lines", len(s.lines))
	}
	return s
}

// judge is what a verification says of lines that stand behind line i, by the functions that Verify uses. What stands before
// them is unchanged and verifies, so the first fault of the whole record is the first fault here.
func (s *spread) judge(i int, text ...[]byte) *Fault { return s.judgeText(i, bytes.Join(text, nil)) }

func (s *spread) judgeText(i int, all []byte) *Fault {
	end := bytes.LastIndexByte(all, '\n') + 1
	walk := scan{head: s.heads[i], segments: []int{1}}
	b := block{from: 1, data: all[:end], torn: all[end:]}
	b.check()
	if f := walk.block(&b); f != nil {
		return f
	}
	if len(walk.torn) > 0 {
		return walk.tornFault()
	}
	return nil
}

func (s *spread) line(i int) []byte {
	if i >= len(s.lines) {
		return nil
	}
	return s.lines[i]
}

// Every single-bit flip of a record of 1,000 lines is found, from the record alone.
//
// Verifies: P28
func TestEveryBitFlip(t *testing.T) {
	s := spreadOf(t, 1000)
	step := 1
	if testing.Short() {
		step = 7
	}
	var flips, missed atomic.Int64
	next := make(chan int)
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for i := range next {
				text := slices.Concat(s.lines[i], s.line(i+1))
				for bit := i % step; bit < 8*len(s.lines[i]); bit += step {
					text[bit/8] ^= 1 << (bit % 8)
					flips.Add(1)
					if s.judgeText(i, text) == nil {
						missed.Add(1)
						t.Errorf("line %d, byte %d, bit %d is not found", i+1, bit/8, bit%8)
					}
					text[bit/8] ^= 1 << (bit % 8)
				}
				if f := s.judgeText(i, text); f != nil {
					t.Errorf("line %d unchanged: %v", i+1, f)
				}
			}
		})
	}
	for i := range s.lines {
		next <- i
	}
	close(next)
	all.Wait()
	t.Logf("%d flips, %d missed", flips.Load(), missed.Load())
}

// The same through the front door: every flip of a small record of three segments makes Verify name a fault and Open
// refuse, and some of a long one in a real folder do.
//
// Verifies: P28, I07
func TestBitFlipsOfFiles(t *testing.T) {
	d := written(t, lives(4), func(o *Options) { o.SegmentBytes = 500 })
	if r := sound(t, d); r.Segments < 2 {
		t.Fatalf("%+v", r)
	}
	names, _ := d.List()
	for _, name := range names {
		text := d.live[name].data
		for bit := range 8 * len(text) {
			text[bit/8] ^= 1 << (bit % 8)
			if r, err := verify(d, nil); err != nil || r.Fault == nil {
				t.Errorf("%s, byte %d, bit %d: %v is not found", name, bit/8, bit%8, err)
			}
			var broken *Broken
			if l, _, err := Open("record", Options{Disk: d}); !errors.As(err, &broken) || broken.Fault == nil {
				t.Errorf("%s, byte %d, bit %d: opened, %v", name, bit/8, bit%8, err)
				_ = l.Close()
			}
			text[bit/8] ^= 1 << (bit % 8)
		}
	}
	sound(t, d)
}

// Verifies: P28
func TestBitFlipsInAFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "so101.audit")
	l, _, err := Open(dir, Options{SegmentBytes: 15_000})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range lives(1000) {
		l.Append(r, nil)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := Verify(dir, VerifyOptions{}); err != nil || r.Fault != nil || r.Records != 1000 || r.Segments < 5 {
		t.Fatalf("%+v, %v", r, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	chance := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		path := files[chance.IntN(len(files))]
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at := chance.IntN(8 * len(text))
		flipped := slices.Clone(text)
		flipped[at/8] ^= 1 << (at % 8)
		write(t, path, flipped)
		r, err := Verify(dir, VerifyOptions{})
		if err != nil || r.Fault == nil || filepath.Base(path) != r.Fault.File && r.Fault.Rule != RuleChain {
			t.Errorf("%s, bit %d: %+v, %v", path, at, r.Fault, err)
		} else if line := 1 + bytes.Count(text[:at/8], []byte{'\n'}); filepath.Base(path) == r.Fault.File && r.Fault.Line != line && r.Fault.Rule != RuleTorn {
			t.Errorf("%s, bit %d of line %d: told at line %d", path, at, line, r.Fault.Line)
		}
		write(t, path, text)
	}
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Lines taken out, put in, swapped and doubled are found wherever they are; one changed with its own hash made anew as well.
//
// Verifies: P28
func TestLinesMoved(t *testing.T) {
	s := spreadOf(t, 1000)
	last := len(s.lines) - 1
	chance := rand.New(rand.NewPCG(3, 4))
	found := func(what string, i int, f *Fault) {
		t.Helper()
		if f == nil {
			t.Errorf("%s at line %d is not found", what, i+1)
		}
	}
	for i := range s.lines {
		if i < last {
			found("a deletion", i, s.judge(i, s.line(i+1)))
			found("a swap", i, s.judge(i, s.line(i+1), s.line(i), s.line(i+2)))
			far := i + 1 + chance.IntN(last-i)
			found("a swap with a far one", i, s.judge(i, s.line(far), s.line(i+1)))
			found("a jump", i, s.judge(i, s.line(far)))
		}
		found("a doubled line", i, s.judge(i, s.line(i), s.line(i), s.line(i+1)))
		if other := chance.IntN(len(s.lines)); other != i {
			found("an inserted line", i, s.judge(i, s.line(other), s.line(i)))
		}
		found("an empty line", i, s.judge(i, []byte{'\n'}, s.line(i)))
		found("white space", i, s.judge(i, []byte{' '}, s.line(i)))
		if i < last {
			head := s.heads[i]
			forged := appendLine(nil, &head, []byte(`{"latch":{"stopped":true}}`))
			found("a forged line", i, s.judge(i, forged, s.line(i+1)))
			found("a forged line put in", i, s.judge(i, forged, s.line(i), s.line(i+1)))
		}
		for rule, forge := range map[Rule]func(*Checkpoint){RuleSeq: func(c *Checkpoint) { c.Seq++ }, RuleChain: func(c *Checkpoint) { c.Hash[i%32] ^= 2 }} {
			head := s.heads[i]
			forge(&head)
			if f := s.judge(i, appendLine(nil, &head, []byte(`{"latch":{}}`))); f == nil || f.Rule != rule || f.Line != 1 {
				t.Errorf("a line that does not follow line %d: %v, want %s", i, f, rule)
			}
		}
	}
}

// A record cut short at a line's end verifies by itself, and does not against a checkpoint; cut anywhere else it does not.
// A record that was only added to still holds every checkpoint of it.
//
// Verifies: P28
func TestTruncation(t *testing.T) {
	const n = 60
	s := spreadOf(t, n)
	full := bytes.Join(s.lines, nil)
	for i := range s.lines {
		d := newMemory()
		d.put(segmentFile(1), bytes.Join(s.lines[:i], nil))
		if r, err := verify(d, nil); err != nil || r.Fault != nil || r.Head != s.heads[i] {
			t.Errorf("the first %d lines: %v, %v", i, r.Fault, err)
		}
		if r, err := verify(d, &s.heads[n]); err != nil || r.Fault == nil || r.Fault.Rule != RuleCheckpoint {
			t.Errorf("the first %d lines against a checkpoint of all: %v, %v", i, r.Fault, err)
		}
		d.put(segmentFile(1), full)
		if r, err := verify(d, &s.heads[i]); err != nil || r.Fault != nil {
			t.Errorf("all lines against a checkpoint of %d: %v, %v", i, r.Fault, err)
		}
		other := s.heads[i]
		other.Hash[i%32] ^= 1
		if r, err := verify(d, &other); err != nil || r.Fault == nil || r.Fault.Rule != RuleCheckpoint {
			t.Errorf("a checkpoint of another record: %v, %v", r.Fault, err)
		}
		cut := len(bytes.Join(s.lines[:i], nil)) + 1 + i%(len(s.lines[i])-1)
		d.put(segmentFile(1), full[:cut])
		if r, err := verify(d, nil); err != nil || r.Fault == nil || r.Fault.Rule != RuleTorn {
			t.Errorf("cut at byte %d: %v, %v", cut, r.Fault, err)
		}
	}
}

// A whole segment that is missing, emptied, doubled or moved is found; an empty one changes nothing.
//
// Verifies: P28
func TestSegmentsMoved(t *testing.T) {
	d := written(t, lives(60), smallSegments)
	n := sound(t, d).Segments
	if n < 6 {
		t.Fatalf("%d segments", n)
	}
	for i := 1; i < n; i++ {
		for name, change := range map[string]func(*memory){
			"missing": func(d *memory) { delete(d.live, segmentFile(i)) },
			"emptied": func(d *memory) { d.put(segmentFile(i), nil) },
			"swapped": func(d *memory) {
				a, b := d.text(segmentFile(i)), d.text(segmentFile(i+1))
				d.put(segmentFile(i), b)
				d.put(segmentFile(i+1), a)
			},
			"doubled": func(d *memory) { d.put(segmentFile(n+1), d.text(segmentFile(i))) },
			"added to": func(d *memory) {
				d.put(segmentFile(i), append(slices.Clone(d.text(segmentFile(i))), beforeSeq...))
			},
			"torn": func(d *memory) { text := d.text(segmentFile(i)); d.put(segmentFile(i), text[:len(text)-1]) },
		} {
			changed := d.crash(99, func(n int) int { return n })
			change(changed)
			if r, err := verify(changed, nil); err != nil || r.Fault == nil {
				t.Errorf("segment %d %s is not found: %v", i, name, err)
			}
		}
	}
	d.put(segmentFile(n+5), nil)
	sound(t, d)
}

// What a crash leaves is half a line, perhaps with zeros behind it; nothing else is put aside.
//
// Verifies: I07, P28
func TestTears(t *testing.T) {
	s := spreadOf(t, 3)
	line := s.lines[2]
	for n := 1; n < len(line); n++ {
		if !isTear(line[:n]) || !isTear(append(slices.Clone(line[:n]), make([]byte, 100)...)) {
			t.Fatalf("the first %d bytes of a line are no tear", n)
		}
	}
	for name, tail := range map[string][]byte{
		"something else":          []byte("hello"),
		"a changed beginning":     append([]byte(`{"sEq"`), line[6:50]...),
		"a control character":     []byte("{\"seq\":3,\x01"),
		"another byte at the end": append(slices.Clone(line[:len(line)-1]), 'x'),
		"a very long one":         append([]byte(beforeSeq), bytes.Repeat([]byte{'1'}, MaxLine)...),
		"zeros in the middle":     append(append(slices.Clone(line[:50]), 0, 0), line[50:60]...),
	} {
		if isTear(tail) {
			t.Errorf("%s is a tear", name)
		}
		d := newMemory()
		d.put(segmentFile(1), slices.Concat(s.lines[0], s.lines[1], tail))
		var broken *Broken
		if l, _, err := Open("record", Options{Disk: d}); !errors.As(err, &broken) || broken.Fault.Rule != RuleTorn {
			t.Errorf("%s: %v", name, err)
			_ = l.Close()
		}
	}
	d := newMemory()
	d.put(segmentFile(1), slices.Concat(s.lines[0], s.lines[1], line[:200]))
	l, h := opened(t, d)
	if h.Records != 2 || h.SetAside != 200 {
		t.Errorf("%+v", h)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if r := sound(t, d); r.Records != 3 || r.Gaps != 1 || !bytes.Equal(d.text("00000001.torn"), line[:200]) {
		t.Errorf("%+v, %q", r, d.text("00000001.torn"))
	}
}
