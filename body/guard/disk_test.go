package guard

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"interlock/body"
)

// fragile is a disk that can lose its power after each operation. What a crash leaves: of every file what was synced and any part
// of the rest, and the names as they were when the folder was last synced, or as they are.
type fragile struct {
	names, synced map[string]*content // as they are, and as they surely outlive a crash
	crash         func(*fragile)      // after every operation
}

type content struct{ text, synced []byte }

func newFragile() *fragile {
	return &fragile{names: map[string]*content{}, synced: map[string]*content{}, crash: func(*fragile) {}}
}

func (d *fragile) read(path string, most int64) ([]byte, error) {
	c := d.names[path]
	if c == nil {
		return nil, fs.ErrNotExist
	}
	return c.text[:min(int64(len(c.text)), most)], nil
}

func (d *fragile) create(path string) (file, error) {
	defer d.crash(d)
	c := &content{}
	d.names[path] = c
	return written{d, c}, nil
}

func (d *fragile) rename(from, to string) error {
	defer d.crash(d)
	d.names[to] = d.names[from]
	delete(d.names, from)
	return nil
}

func (d *fragile) folder(string) (file, error) { return listed{d}, nil }
func (d *fragile) remove(path string) error    { delete(d.names, path); return nil }
func (d *fragile) empty(path string) error     { d.names[path] = &content{}; return nil }

// written is an open file.
type written struct {
	d *fragile
	c *content
}

func (w written) Write(b []byte) (int, error) {
	defer w.d.crash(w.d)
	w.c.text = append(w.c.text, b...)
	return len(b), nil
}

func (w written) Sync() error {
	defer w.d.crash(w.d)
	w.c.synced = bytes.Clone(w.c.text)
	return nil
}

func (w written) Close() error { w.d.crash(w.d); return nil }

// listed is an open folder.
type listed struct{ d *fragile }

func (l listed) Write([]byte) (int, error) { return 0, errors.New("a folder is not written") }
func (l listed) Close() error              { return nil }

func (l listed) Sync() error {
	defer l.d.crash(l.d)
	l.d.synced = maps.Clone(l.d.names)
	return nil
}

// left is what the keeper of another process reads of the latch file after a crash now, in every way that it can come.
func (d *fragile) left(path string) (all []latchRecord) {
	for _, names := range []map[string]*content{d.names, d.synced} {
		for share := range 3 {
			after := newFragile()
			for name, c := range names {
				text := append(bytes.Clone(c.synced), c.text[len(c.synced):len(c.synced)+(len(c.text)-len(c.synced))*share/2]...)
				after.names[name] = &content{text: text}
			}
			k := newKeeper(path)
			k.files = after
			was, why := k.load()
			if why != "" {
				was.Number, was.Reason = 0, why
			}
			all = append(all, was)
		}
	}
	return all
}

// A power cut at any moment of a write leaves the latch as it was or as it is to be, and once the write is told durable as it is
// to be, whatever the disk had not written out by then.
//
// Verifies: P04, D130
func TestAPowerCutLeavesOneLatchOrTheOther(t *testing.T) {
	d, k := newFragile(), newKeeper("latch")
	k.files = d
	points := 0
	for number := uint64(1); number <= 5; number++ {
		k.noteLatch(body.Latch{Stopped: true, Number: number, Reason: "why"})
		d.crash = func(d *fragile) {
			points++
			for _, was := range d.left("latch") {
				if first := number == 1 && was.Number == 0 && was.Reason == ""; was.Number != number && was.Number != number-1 || was.Reason != "why" && !first {
					t.Errorf("a crash while %d is written leaves %+v", number, was)
				}
			}
		}
		if err := k.save(); err != nil {
			t.Fatal(err)
		}
		for _, was := range d.left("latch") {
			if was.Number != number || was.Reason != "why" {
				t.Errorf("a crash after %d is durable leaves %+v", number, was)
			}
		}
	}
	if points < 20 {
		t.Errorf("only %d crashes", points)
	}
}

// Whatever a stop's reason is made of, what is written for it can be read back, and says the same.
//
// Verifies: F48, D120
func TestWhatIsWrittenCanBeRead(t *testing.T) {
	roll := rand.New(rand.NewPCG(1, 2))
	reasons := []string{"", "short", strings.Repeat("x", maxReason), strings.Repeat("x", maxReason+1), strings.Repeat("\u2028", 1<<20)}
	for _, unit := range []string{"x", "\x00", "\x1f", `"`, `\`, "<", "é", "\u2028", "\xff", "\xed\xa0\x80", "🤖", "\uFFFD", "x\x00é\xffx"} {
		reasons = append(reasons, strings.Repeat(unit, 160<<10))
	}
	for range 2000 {
		b := make([]byte, roll.IntN(2*maxReason))
		for i := range b {
			b[i] = byte(roll.IntN(256))
		}
		reasons = append(reasons, string(b))
	}
	for i, reason := range reasons {
		d, k := newFragile(), newKeeper("latch")
		k.files = d
		var l latch
		l.changed = k.noteLatch
		if i%2 == 0 {
			l.trip("first")
			l.tripAgain(reason)
		}
		l.trip(reason)
		l.tripAgain(reason + "again")
		is := l.read()
		if !utf8.ValidString(is.Reason) || len(is.Reason) > maxReason {
			t.Fatalf("a reason of %d bytes that begins %.20q is kept as %d bytes, %.20q", len(reason), reason, len(is.Reason), is.Reason)
		}
		if err := k.save(); err != nil {
			t.Fatal(err)
		}
		next := newKeeper("latch")
		next.files = d
		if was, why := next.load(); why != "" || was.Number != is.Number || was.Reason != is.Reason {
			t.Errorf("%.20q… is read back as %d, %.20q, %q", reason, was.Number, was.Reason, why)
		}
		l.recall(body.Latch{Stopped: true, Number: 9, Reason: fmt.Sprint(reason, reason)}) // as an older driver may have left it
		if is := l.read(); !utf8.ValidString(is.Reason) || len(is.Reason) > maxReason {
			t.Errorf("%.20q… is recalled as %d bytes", reason, len(is.Reason))
		}
	}
}
