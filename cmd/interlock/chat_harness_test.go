package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"interlock/brain/llm"
)

// talk is a conversation under way, as a person at a pipe has it. It lives in a bubble with a clock of its own.
type talk struct {
	t       *testing.T
	in      *io.PipeWriter
	out     *page
	signals chan os.Signal
	cancel  context.CancelFunc
	ended   chan error
}

// page is what was printed so far.
type page struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// flags are the defaults of the command line, as JSON.
func flags() chatFlags {
	return chatFlags{
		contract: "robots/so101-tabletop.yaml", model: "phrase", asJSON: true, patience: time.Minute,
		stops: []string{"stop", "halt"}, cancels: []string{"cancel", "never mind"},
	}
}

// converse runs a conversation; a test that does not end it leaves it to the end of input.
func converse(t *testing.T, f chatFlags, test func(*talk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		in, words := io.Pipe()
		ctx, cancel := context.WithCancel(context.Background())
		k := &talk{t: t, in: words, out: &page{}, signals: make(chan os.Signal), cancel: cancel, ended: make(chan error, 1)}
		go func() { k.ended <- f.chat(ctx, in, k.out, k.signals) }()
		synctest.Wait()
		test(k)
		_ = words.Close()
		time.Sleep(time.Minute)
		synctest.Wait()
		select {
		case err := <-k.ended:
			if err != nil {
				t.Errorf("the conversation ended with %v", err)
			}
		default:
			t.Errorf("the conversation did not end\n%s", k.out)
		}
		cancel()
		if strings.Contains(k.out.String(), "slow_tick") { // in a bubble's time no tick is late, and time in which nothing moves is none
			t.Errorf("warned of late ticks\n%s", k.out)
		}
	})
}

// say types something and lets it be taken.
func (k *talk) say(text string) {
	k.t.Helper()
	if _, err := io.WriteString(k.in, text); err != nil {
		k.t.Fatal(err)
	}
	synctest.Wait()
}

func (k *talk) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// end waits for the conversation's own end.
func (k *talk) end() error {
	k.t.Helper()
	k.wait(time.Minute)
	select {
	case err := <-k.ended:
		k.ended <- nil
		return err
	default:
		k.t.Fatalf("the conversation goes on\n%s", k.out)
		return nil
	}
}

// events are what was told so far.
func (k *talk) events() (list []chatEvent) {
	k.t.Helper()
	for _, l := range strings.Split(strings.TrimSpace(k.out.String()), "\n") {
		var e chatEvent
		if err := json.Unmarshal([]byte(l), &e); err != nil {
			k.t.Fatalf("%q: %v", l, err)
		}
		list = append(list, e)
	}
	return list
}

// those are the events that pass.
func (k *talk) those(pass func(chatEvent) bool) (list []chatEvent) {
	for _, e := range k.events() {
		if pass(e) {
			list = append(list, e)
		}
	}
	return list
}

func named(names ...string) func(chatEvent) bool {
	return func(e chatEvent) bool { return strings.Contains(" "+strings.Join(names, " ")+" ", " "+e.Event+" ") }
}

// states are the states of all verdicts, or of all missions' ends, in order.
func (k *talk) states(event string) string {
	var list []string
	for _, e := range k.those(named(event)) {
		if event != evMission || e.Final {
			list = append(list, e.State)
		}
	}
	return strings.Join(list, " ")
}

// codes are the codes of all refusals, in order.
func (k *talk) codes() string {
	var list []string
	for _, e := range k.those(named(evRefused)) {
		for _, r := range e.Refusals {
			list = append(list, r.Code)
		}
	}
	return strings.Join(list, " ")
}

func (k *talk) want(what, got, want string) {
	k.t.Helper()
	if got != want {
		k.t.Errorf("%s: %q, want %q\n%s", what, got, want, k.out)
	}
}

// brain is a model of a test's making: each reply is the next of says, the last for ever.
type brain struct {
	says  []string
	takes time.Duration // until a reply comes
	fails error
	hangs bool // until its context ends

	mu    sync.Mutex
	asked int
}

func (b *brain) Name() string { return "test:brain" }

func (b *brain) Chat(ctx context.Context, _ llm.Request) (llm.Reply, error) {
	b.mu.Lock()
	n := b.asked
	b.asked++
	b.mu.Unlock()
	takes := b.takes
	if b.hangs {
		takes = 24 * time.Hour
	}
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return llm.Reply{}, &llm.Fault{Kind: llm.Cancelled, Err: ctx.Err()}
	}
	if b.fails != nil {
		return llm.Reply{}, b.fails
	}
	return llm.Reply{Raw: []byte(b.says[min(n, len(b.says)-1)]), StopReason: "stop"}, nil
}

func (b *brain) times() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked
}

func with(b *brain) chatFlags {
	f := flags()
	f.provider = b
	return f
}

const (
	homeCall   = `{"tool":"home","arguments":{}}`
	moveCall   = `{"tool":"move_to","arguments":{"x_cm":20,"y_cm":5,"z_cm":20}}`
	reportCall = `{"tool":"report_result","arguments":{"success":true,"message":"done"}}`
)

var errDead = errors.New("connection refused")
