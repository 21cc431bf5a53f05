package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"

	"golang.org/x/term"
)

// maxLine is the longest line that is taken, in bytes. A longer one is refused whole, never cut.
const maxLine = 4096

// line is one line of a person.
type line struct {
	text   string
	bytes  int  // how long it was; more than maxLine: text is not kept
	pasted bool // it came out of a paste of several lines
	joined bool // it came in one piece with the line before it
}

// source gives lines until an error, which is io.EOF at the end.
type source interface {
	next() (line, error)
	// live reports whether a person sits in front of it.
	live() bool
}

// piped reads lines from a pipe or file.
type piped struct {
	in     *bufio.Reader
	joined bool
}

func newPiped(in io.Reader) *piped { return &piped{in: bufio.NewReaderSize(in, 16*maxLine)} }

func (p *piped) live() bool { return false }

// next implements source. However long a line is, no more than maxLine bytes of it are kept.
func (p *piped) next() (line, error) {
	l := line{joined: p.joined}
	var kept []byte
	for {
		part, err := p.in.ReadSlice('\n')
		l.bytes += len(part)
		if l.bytes <= maxLine+1 {
			kept = append(kept, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		p.joined = p.in.Buffered() > 0
		if err != nil && (l.bytes == 0 || !errors.Is(err, io.EOF)) {
			return l, err
		}
		if bytes.HasSuffix(part, []byte{'\n'}) {
			l.bytes--
		}
		if l.bytes <= maxLine {
			l.text = string(kept[:l.bytes])
		}
		return l, nil
	}
}

// keyboard reads lines from a terminal in raw mode, with editing and a history.
type keyboard struct {
	file    *os.File
	term    *term.Terminal
	restore func() error
}

// prompt stands before what a person types.
const prompt = "> "

// openKeyboard puts the terminal into raw mode. interrupt is called for each Ctrl-C, from the goroutine that reads.
func openKeyboard(in *os.File, out io.Writer, interrupt func()) (*keyboard, error) {
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	k := &keyboard{file: in, term: newTerminal(in, out, interrupt)}
	k.term.SetBracketedPasteMode(true)
	k.restore = func() error {
		k.term.SetBracketedPasteMode(false)
		_, told := io.WriteString(out, "\r\n") // what was half typed stays on a line of its own
		return errors.Join(told, term.Restore(int(in.Fd()), before))
	}
	return k, nil
}

func newTerminal(in io.Reader, out io.Writer, interrupt func()) *term.Terminal {
	return term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{&keys{in, interrupt}, out}, prompt)
}

func (k *keyboard) live() bool { return true }

// next implements source. The editor keeps no more than maxLine signs; a line that long was longer, and is refused.
func (k *keyboard) next() (line, error) {
	if width, height, err := term.GetSize(int(k.file.Fd())); err == nil && width > 0 {
		_ = k.term.SetSize(width, height) // a line drawn for another width is still a line
	}
	return typed(k.term)
}

func typed(t *term.Terminal) (line, error) {
	text, err := t.ReadLine()
	l := line{text: text, bytes: len(text), pasted: errors.Is(err, term.ErrPasteIndicator)}
	if l.pasted {
		err = nil
	}
	if len([]rune(text)) >= maxLine {
		l.text, l.bytes = "", maxLine+1
	}
	return l, err
}

// keys takes Ctrl-C out of what is typed: in raw mode it is a sign like any other and makes no signal.
type keys struct {
	in        io.Reader
	interrupt func()
}

// Read implements io.Reader.
func (k *keys) Read(b []byte) (int, error) {
	for {
		n, err := k.in.Read(b)
		kept := 0
		for _, c := range b[:n] {
			if c == 3 {
				k.interrupt()
				continue
			}
			b[kept] = c
			kept++
		}
		if kept > 0 || err != nil || n == 0 {
			return kept, err
		}
	}
}
