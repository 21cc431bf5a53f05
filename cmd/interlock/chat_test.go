package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

// A stop goes from the input straight to the driver, at once and whatever the brain does; it latches, and only the reset of
// its own number permits motion again. A reset restarts nothing.
//
// Verifies: Y11
func TestChatStop(t *testing.T) {
	for name, words := range map[string]string{
		"plain": "stop\n", "loud": "STOP!!!\n", "twice": "stop, stop\n", "other word": "Halt.\n", "coloured": "\x1b[31mst\x1b[1mop\x1b[0m\n", "invisible": "s\u200btop\u00a0\n",
	} {
		t.Run(name, func(t *testing.T) {
			b := &brain{says: []string{moveCall, moveCall, reportCall}}
			converse(t, with(b), func(k *talk) {
				k.say("go up\n")
				k.wait(400 * time.Millisecond)
				k.say(words)
				if s := k.those(named(evStopped)); len(s) != 1 || s[0].Number != 1 {
					t.Fatalf("not stopped at once\n%s", k.out)
				}
				asked := b.times()
				k.wait(2 * time.Second)
				k.want("missions", k.states(evMission), "aborted")
				k.want("tasks", k.states(evVerdict), "stopped")
				if b.times() != asked {
					t.Errorf("the brain was asked %d times after the stop", b.times()-asked)
				}
				k.say("again\n")
				k.wait(2 * time.Second)
				k.want("refused", k.codes(), "STOPPED")
				k.say("reset 2\nreset\nreset 1\n")
				k.wait(2 * time.Second)
				if r := k.those(named(evReset)); len(r) != 1 || r[0].Number != 1 || len(k.those(named(evIgnored))) != 2 {
					t.Errorf("resets: %v\n%s", r, k.out)
				}
				k.want("after the reset", k.states(evMission), "aborted")
				b.mu.Lock()
				b.says, b.asked = []string{homeCall, reportCall}, 0
				b.mu.Unlock()
				k.say("home\n")
				k.wait(4 * time.Second)
				k.want("motion again", k.states(evMission), "aborted verified")
			})
		})
	}
}

// A stop needs no brain that answers and no task; and words that only mention it are words.
//
// Verifies: Y12
func TestChatStopNeedsNobody(t *testing.T) {
	converse(t, with(&brain{hangs: true}), func(k *talk) {
		k.say("stop\n")
		k.say("move\n")
		k.wait(time.Second)
		k.say("halt\n")
		k.wait(100 * time.Millisecond)
		if s := k.those(named(evStopped)); len(s) != 2 || s[1].Number != 2 {
			t.Errorf("stops: %v", s)
		}
		k.want("tasks", k.states(evVerdict), "stopped")
	})
	f := flags()
	f.stops = []string{"basta", "hold it"}
	converse(t, f, func(k *talk) {
		k.say("stop\n")
		k.say("never stop\n")
		k.say("basta with that\n")
		k.wait(time.Second)
		if s := k.those(named(evStopped)); len(s) != 0 {
			t.Errorf("stopped by %v", s)
		}
		k.say("Hold it!\n")
		k.say("basta\n")
		if s := k.those(named(evStopped)); len(s) != 2 {
			t.Errorf("stops: %v\n%s", s, k.out)
		}
	})
}

// Cancel ends the mission and the request, whatever the brain would do next; cancelled is told after measured standstill.
//
// Verifies: Y13
func TestChatCancel(t *testing.T) {
	for _, words := range []string{"cancel\n", "Never mind!\n"} {
		b := &brain{says: []string{moveCall, homeCall, homeCall}}
		f := with(b)
		converse(t, f, func(k *talk) {
			k.say(words)
			k.say("move\n")
			k.wait(400 * time.Millisecond)
			k.say(words)
			k.want("at once", k.states(evMission), "")
			k.wait(2 * time.Second)
			k.want("missions", k.states(evMission), "cancelled")
			k.want("tasks", k.states(evVerdict), "unverified")
			if b.times() != 1 || len(k.those(named(evError))) != 0 {
				t.Errorf("asked %d times\n%s", b.times(), k.out)
			}
		})
	}
	converse(t, with(&brain{hangs: true}), func(k *talk) { // a brain that thinks is not waited for
		k.say("move\n")
		k.wait(time.Second)
		k.say("cancel\n")
		k.wait(20 * time.Millisecond)
		k.want("tasks", k.states(evVerdict), "unverified")
	})
}

// New words supersede a request that is open: its mission is cancelled, then the new one begins, and nothing that was asked
// of the brain for the old one moves anything.
//
// Verifies: Y14
func TestChatSupersede(t *testing.T) {
	converse(t, flags(), func(k *talk) {
		k.say("move to (20, 5, 20) cm\n")
		k.wait(400 * time.Millisecond)
		k.say("go home\n")
		k.wait(5 * time.Second)
		k.want("missions", k.states(evMission), "cancelled verified")
		k.want("tasks", k.states(evVerdict), "superseded unverified")
		if r := k.codes(); r != "" {
			t.Errorf("refused: %s\n%s", r, k.out)
		}
	})
	late := &brain{says: []string{moveCall}, takes: 3 * time.Second}
	converse(t, with(late), func(k *talk) {
		k.say("move\n")
		k.wait(time.Second)
		k.say("goal none\n") // no words for the brain: it thinks on
		k.say("no, wait\n")
		if late.times() != 2 {
			t.Errorf("the new words waited for a reply to the old ones: asked %d times", late.times())
		}
		k.wait(2500 * time.Millisecond) // the first reply would have come
		k.want("moved by a reply for old words", k.states(evMission), "")
		if calls := k.those(named(evCall)); len(calls) != 0 {
			t.Errorf("%v", calls)
		}
		k.want("tasks", k.states(evVerdict), "superseded")
		k.say("cancel\n")
	})
	converse(t, with(late), func(k *talk) { // faster than anything can end
		for range 30 {
			k.say("move\n")
		}
		if open := len(k.those(named(evHeard))); open > 30 {
			t.Errorf("%d requests", open)
		}
		k.say("stop\n")
		k.wait(10 * time.Second)
		k.want("missions", k.states(evMission), "")
	})
}

// Lines that come in one piece are taken in turn; a stop among them goes first and drops what waits.
//
// Verifies: Y15
func TestChatTakesAPieceInTurn(t *testing.T) {
	converse(t, flags(), func(k *talk) {
		k.say("move to (20, 5, 20) cm\ngo home\nwhere is the red cube\n")
		k.wait(10 * time.Second)
		k.want("missions", k.states(evMission), "verified verified")
		k.want("tasks", k.states(evVerdict), "unverified unverified unverified")
		k.say("move to (20, 5, 20) cm\ngo home\nstop\n")
		k.wait(5 * time.Second)
		if m := k.states(evMission); m != "verified verified" && m != "verified verified aborted" { // it may have been quicker than the start
			t.Errorf("missions %s", m)
		}
		if h := k.those(func(e chatEvent) bool { return e.Event == evHeard && e.Words == "go home" }); len(h) != 1 {
			t.Errorf("what waited was begun after the stop\n%s", k.out)
		}
		k.say("reset 1\n" + strings.Repeat("what do you see\n", 40))
		k.wait(5 * time.Second)
		if n := len(k.those(named(evIgnored))); n < 10 || n > 40-maxQueued {
			t.Errorf("%d of 40 lines were not taken", n)
		}
	})
}

// Without a goal nothing is ever called done, whatever is claimed. A goal is shown before it is fixed, for one request.
//
// Verifies: Y16
func TestChatGoal(t *testing.T) {
	converse(t, with(&brain{says: []string{homeCall, reportCall}}), func(k *talk) {
		k.say("go home\n")
		k.wait(4 * time.Second)
		k.want("tasks", k.states(evVerdict), "unverified")
		if r := k.those(named(evReport)); len(r) != 1 || !*r[0].Success {
			t.Errorf("reports %v", r)
		}
	})
	converse(t, flags(), func(k *talk) {
		for _, bad := range []string{"goal held(red)\n", "goal 1.0 <= 2.0\n", "goal tip\n", "goal held(\"red cube\"\n"} {
			k.say(bad)
		}
		if n := len(k.those(named(evIgnored))); n != 4 || len(k.those(named(evGoal))) != 0 {
			t.Errorf("bad goals: %s", k.out)
		}
		k.say("goal held(\"red cube\")\n")
		shown := k.those(named(evGoal))
		if len(shown) != 1 || shown[0].Goal != `held("red cube")` || strings.Join(shown[0].Objects, ",") != "red cube" || len(k.those(named(evTask))) != 0 {
			t.Fatalf("shown: %v", shown)
		}
		k.say("pick up the red cube\n")
		k.wait(10 * time.Second)
		k.want("tasks", k.states(evVerdict), "done")
		k.say("go home\n") // the next one has none
		k.wait(5 * time.Second)
		k.want("tasks", k.states(evVerdict), "done unverified")
		k.say("goal at(point_cm(20.0, 5.0, 20.0))\nno goal\ngo home\n")
		k.wait(5 * time.Second)
		k.want("tasks", k.states(evVerdict), "done unverified unverified")
	})
	f := flags()
	f.goal = `held("blue cube")`
	converse(t, f, func(k *talk) {
		k.say("pick up the red cube\n")
		k.wait(5 * time.Second)
		k.want("refused", k.codes(), "NOT_LICENSED")
		k.want("tasks", k.states(evVerdict), "not_done")
	})
}

// Ctrl-C stops the robot first; a second one within two seconds ends the conversation with 7, a later one stops again.
//
// Verifies: Y17
func TestChatInterrupt(t *testing.T) {
	converse(t, flags(), func(k *talk) {
		k.say("move to (20, 5, 20) cm\n")
		k.wait(400 * time.Millisecond)
		k.signals <- os.Interrupt
		k.wait(time.Second)
		k.want("missions", k.states(evMission), "aborted")
		k.wait(2 * time.Second)
		k.signals <- os.Interrupt
		k.wait(time.Second)
		if s := k.those(named(evStopped)); len(s) != 2 {
			t.Fatalf("stops %v", s)
		}
		k.signals <- os.Interrupt
		if err := k.end(); status(err) != exitStopped {
			t.Errorf("ended with %v", err)
		}
		if e := k.events(); e[len(e)-1].Event != evBye {
			t.Errorf("last words %v", e[len(e)-1])
		}
	})
	converse(t, with(&brain{hangs: true}), func(k *talk) { // in the middle of everything
		k.say("move\nmove\n")
		k.signals <- os.Interrupt
		k.signals <- os.Interrupt
		if err := k.end(); status(err) != exitStopped {
			t.Errorf("ended with %v", err)
		}
	})
}

// However the conversation ends, what moves is brought to a standstill first.
//
// Verifies: Y18
func TestChatEnds(t *testing.T) {
	for name, end := range map[string]func(*talk){
		"quit":    func(k *talk) { k.say("quit\n") },
		"context": func(k *talk) { k.cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			converse(t, flags(), func(k *talk) {
				k.say("move to (20, 5, 20) cm\n")
				k.wait(400 * time.Millisecond)
				end(k)
				if err := k.end(); err != nil {
					t.Error(err)
				}
				k.want("missions", k.states(evMission), "cancelled")
			})
		})
	}
	converse(t, flags(), func(k *talk) { // the end of input lets what was asked come to its end
		k.say("move to (20, 5, 20) cm\ngo home")
		_ = k.in.Close()
		if err := k.end(); err != nil {
			t.Error(err)
		}
		k.want("missions", k.states(evMission), "verified verified")
	})
}

func status(err error) int {
	if s, ok := err.(exitStatus); ok { //nolint:errorlint // the very value, as main sees it
		return s.code
	}
	return -1
}
