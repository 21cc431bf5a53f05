package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"interlock/brain/llm"
)

// Whatever is typed or pasted, the conversation goes on: what is too long, not UTF-8 or empty is not taken, and says so;
// invisible signs are taken out.
//
// Verifies: Y19
func TestChatSurvivesItsInput(t *testing.T) {
	converse(t, flags(), func(k *talk) {
		k.say(strings.Repeat("x", 1<<20) + "\n")
		k.say(strings.Repeat("stop ", 1<<18) + "\n") // too long to be a stop, too
		k.say("\n \t \r\n\x00\x01\x02\n\x1b[A\x1b[B\n")
		k.say("go \xff\xfe home\n")
		k.want("tasks", k.states(evVerdict), "")
		if n := len(k.those(named(evIgnored))); n != 3 {
			t.Errorf("%d lines were refused\n%.2000s", n, k.out)
		}
		if len(k.out.String()) > 4000 {
			t.Errorf("%d bytes about it", len(k.out.String()))
		}
		k.say("\x1b]0;title\x07where\x1b[1;31m is\x00 the \u202ered\u202c cube\x1b[0m\r\n")
		k.wait(time.Second)
		if h := k.those(func(e chatEvent) bool { return e.Event == evTask }); len(h) != 1 || h[0].Words != "0;titlewhere is the red cube" {
			t.Errorf("heard %v", h)
		}
		k.say("where is the red cube\n")
		k.wait(time.Second)
		if c := k.those(named(evSeen)); len(c) != 1 {
			t.Errorf("seen %v", c)
		}
	})
}

// A line is kept up to its bound and no further, whatever is cut where; what follows it is read as it stands.
//
// Verifies: Y20
func TestLinesAreRefusedWholeOrTakenWhole(t *testing.T) {
	for _, n := range []int{0, 1, maxLine - 1, maxLine, maxLine + 1, 16 * maxLine, 16*maxLine + 1, 1 << 20} {
		p := newPiped(strings.NewReader(strings.Repeat("a", n) + "\nnext\nlast"))
		l, err := p.next()
		if err != nil || l.bytes != n || (l.bytes <= maxLine) != (len(l.text) == n) || l.bytes > maxLine && l.text != "" {
			t.Errorf("%d bytes: read %d, kept %d, %v", n, l.bytes, len(l.text), err)
		}
		for _, want := range []string{"next", "last"} {
			if l, err = p.next(); err != nil || l.text != want {
				t.Errorf("after %d bytes: %q, %v", n, l.text, err)
			}
		}
		if _, err = p.next(); !errors.Is(err, io.EOF) {
			t.Errorf("at the end: %v", err)
		}
	}
}

// Text from outside never reaches a terminal as it came: no control, no escape, no turn of direction; JSON stays the same
// JSON.
//
// Verifies: Y21
func TestNothingFromOutsideReachesTheTerminalRaw(t *testing.T) {
	nasty := "\x1b[2J\x1b]0;owned\x07 \u009b31m \u202eevil\u202c \r\nfake: done \x00\x7f\u200b\U000e0041 ${jndi:x} %00"
	prose := with(&brain{says: []string{nasty + " no call"}})
	report, err := json.Marshal(map[string]any{"tool": "report_result", "arguments": map[string]any{"success": true, "message": nasty}})
	if err != nil {
		t.Fatal(err)
	}
	call, err := json.Marshal(map[string]any{"tool": "pick", "arguments": map[string]any{"name": nasty}})
	if err != nil {
		t.Fatal(err)
	}
	claims := with(&brain{says: []string{string(call), string(report)}})
	broken := with(&brain{says: []string{`{"tool": "` + nasty}})
	dead := with(&brain{fails: &llm.Fault{Kind: llm.Refused, Says: nasty}})
	for name, f := range map[string]chatFlags{"prose": prose, "claims": claims, "broken": broken, "dead": dead} {
		for _, asJSON := range []bool{false, true} {
			f.asJSON = asJSON
			converse(t, f, func(k *talk) {
				k.say("go " + strings.ReplaceAll(nasty, "\n", " ") + "\n")
				k.wait(5 * time.Second)
				for _, l := range strings.Split(strings.TrimSuffix(k.out.String(), "\n"), "\n") {
					if i := strings.IndexFunc(l, hidden); i >= 0 || !utf8.ValidString(l) {
						t.Errorf("%s: %q", name, l)
					}
					if strings.HasPrefix(l, "fake") {
						t.Errorf("%s: a line of its own: %q", name, l)
					}
				}
				if asJSON && name == "prose" {
					if p := k.those(named(evProse)); len(p) != 1 || p[0].Says != nasty+" no call" {
						t.Errorf("the JSON means another text: %+v", p)
					}
				}
			})
		}
	}
}

// A dead model server, a model that writes nothing, one that never ends and one that loops leave a robot that stands still
// and a conversation that goes on.
//
// Verifies: Y22
func TestChatSurvivesItsBrain(t *testing.T) {
	for name, c := range map[string]struct {
		brain    *brain
		missions string
		asked    int
	}{
		"dead":       {&brain{fails: &llm.Fault{Kind: llm.Unreachable, Err: errDead}}, "", 1},
		"hangs":      {&brain{hangs: true}, "", 1},
		"silent":     {&brain{says: []string{""}}, "", 1},
		"loops":      {&brain{says: []string{moveCall}}, "verified", 12},
		"mumbles":    {&brain{says: []string{`{"tool": "home", "arguments": {`}}, "", 3},
		"wrong tool": {&brain{says: []string{`{"tool": "reset", "arguments": {"number": 1}}`}}, "", 3},
	} {
		t.Run(name, func(t *testing.T) {
			f := with(c.brain)
			f.patience = 10 * time.Second
			converse(t, f, func(k *talk) {
				k.say("move\n")
				k.wait(30 * time.Second)
				k.want("missions", k.states(evMission), c.missions)
				k.want("tasks", k.states(evVerdict), "unverified")
				if c.brain.times() != c.asked || len(k.those(named(evError))) != 1 {
					t.Errorf("asked %d times\n%s", c.brain.times(), k.out)
				}
				k.say("stop\n")
				if len(k.those(named(evStopped))) != 1 {
					t.Error("not stopped")
				}
			})
		})
	}
}

// A model that keeps repeating a motion after it was done moves once: without a goal a request gets one motion.
//
// Verifies: Y23
func TestOneMotionForWordsWithoutAGoal(t *testing.T) {
	f := flags()
	f.model = "scripted:thrasher"
	converse(t, f, func(k *talk) {
		k.say("move to (20, 5, 15) cm\n")
		k.wait(20 * time.Second)
		k.want("missions", k.states(evMission), "verified")
	})
}

// plug is an output that nobody takes.
type plug struct{ pulled chan struct{} }

func (p plug) Write(b []byte) (int, error) { <-p.pulled; return len(b), nil }

// Where nobody takes the output, a stop works all the same.
//
// Verifies: Y24
func TestChatStopsWithBlockedOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, words := io.Pipe()
		f, out := flags(), plug{make(chan struct{})}
		s, err := f.session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c := newConsole(out, true, palette{})
		s.tell, s.ctx = c.tell, t.Context()
		finished := make(chan struct{})
		go func() { s.converse(t.Context(), newPiped(in), nil); close(finished) }()
		_, _ = io.WriteString(words, "move to (20, 5, 20) cm\n"+strings.Repeat("help\n", 2*maxUnprinted))
		_, _ = io.WriteString(words, "stop\n")
		synctest.Wait()
		if l := s.robot.guard.Latch(); !l.Stopped || l.Number != 1 {
			t.Errorf("latch %+v", l)
		}
		close(out.pulled)
		_ = words.Close()
		<-finished
		if err := s.leave(func() {}); err != nil {
			t.Error(err)
		}
		if err := c.close(); err != nil {
			t.Error(err)
		}
	})
}

// wire is a terminal's two ends: what is typed comes in pieces.
type wire struct {
	mu    sync.Mutex
	typed []string
	out   bytes.Buffer
}

func (w *wire) Read(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.typed) == 0 {
		return 0, io.EOF
	}
	n := copy(b, w.typed[0])
	if w.typed[0] = w.typed[0][n:]; w.typed[0] == "" {
		w.typed = w.typed[1:]
	}
	return n, nil
}

func (w *wire) Write(b []byte) (int, error) { return w.out.Write(b) }

// At a keyboard there is a history; Ctrl-C is an interrupt wherever it is typed; what is too long, or a paste of several
// lines, is known as such.
//
// Verifies: Y25
func TestKeyboard(t *testing.T) {
	interrupts := 0
	w := &wire{typed: []string{
		"go home\r", "\x1b[A\r", "st\x03op\r", "\x03\x03", "a\x1b[Db\r", strings.Repeat("y", 1<<20) + "\r",
		"\x1b[200~one\rtwo\r\x1b[201~", "after\r", "ø stopp\r", "\x04",
	}}
	k := newTerminal(w, w, func() { interrupts++ })
	for _, want := range []line{
		{text: "go home"}, {text: "go home"}, {text: "stop"}, {text: "ba"}, {bytes: maxLine + 1}, {text: "one", pasted: true}, {text: "two", pasted: true},
		{text: "after"}, {text: "ø stopp"},
	} {
		got, err := typed(k)
		if want.bytes == 0 {
			want.bytes = len(want.text)
		}
		if err != nil || got != want {
			t.Errorf("typed %.40q %+v, %v; want %+v", got.text, got.bytes, err, want)
		}
	}
	if _, err := typed(k); !errors.Is(err, io.EOF) {
		t.Errorf("Ctrl-D: %v", err)
	}
	if interrupts != 3 {
		t.Errorf("%d interrupts", interrupts)
	}
}

// A paste of several lines at a keyboard is not taken, except for a stop in it.
//
// Verifies: Y26
func TestPastedLinesAreNotTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := flags()
		s, err := f.session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var told []chatEvent
		s.tell, s.ctx = func(e chatEvent) { told = append(told, e) }, t.Context()
		s.take(line{text: "go home", bytes: 7, pasted: true})
		s.take(line{text: "stop", bytes: 4, pasted: true})
		if len(told) != 2 || told[0].Event != evIgnored || told[1].Event != evStopped || s.current != nil {
			t.Errorf("told %v", told)
		}
		if err := s.robot.end(); err != nil {
			t.Error(err)
		}
	})
}

// Only whole utterances of the list count.
//
// Verifies: Y12
func TestWordLists(t *testing.T) {
	l := listOf([]string{"stop", "Hold it!", " ", "dur"})
	for said, want := range map[string]bool{
		"stop": true, "Stop.": true, "¡STOP!": true, "stop stop": true, "stop, dur": true, "hold it": true, "HOLD IT...": true, "DUR": true,
		"": false, "!": false, "stop it": false, "don't stop": false, "hold": false, "it hold": false, "stopping": false, "sto p": false, "unstop": false,
	} {
		if l.has(said) != want {
			t.Errorf("%q: %v", said, !want)
		}
	}
}

// Escaping and cleaning hold for any text: nothing hidden is left, and cleaning twice is cleaning once.
func FuzzShown(f *testing.F) {
	for _, s := range []string{"", "a\x1b[31mb", "\u009b1m", "\x1b", "\x1b[", "\xff\u202e", "\x1b[\x00A"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if e := shown(s); strings.IndexFunc(e, hidden) >= 0 || !utf8.ValidString(e) {
			t.Errorf("%q is shown as %q", s, e)
		}
		words, removed := cleaned(s)
		if again, n := cleaned(words); again != words || n != 0 || removed < 0 || strings.IndexFunc(words, hidden) >= 0 {
			t.Errorf("%q: %q, then %q", s, words, again)
		}
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var was, is string
		if err := json.Unmarshal(b, &was); err != nil {
			t.Fatal(err)
		}
		escaped := asciiControls(b)
		if err := json.Unmarshal(escaped, &is); err != nil || is != was || bytes.IndexFunc(escaped, hidden) >= 0 {
			t.Errorf("%q: %q, %v", s, escaped, err)
		}
	})
}
