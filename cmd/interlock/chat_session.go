package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"interlock/brain/agent"
	"interlock/contract"
	contractv1 "interlock/contract/v1"
)

// Bounds of a conversation.
const (
	maxQueued   = 16              // requests that wait for the one before them
	maxOpen     = 8               // requests that are coming to their end, one superseding the other
	quitAgain   = 2 * time.Second // a second Ctrl-C within this ends the conversation
	notEstop    = "This is a latched software stop, not an emergency stop in the sense of ISO 13850."
	goalAdvice  = "goal EXPR fixes one for the next request, such as: goal held(\"red cube\")"
	uncertified = "I will not certify the request as done, because no goal was fixed."
)

// session is a conversation. take and interrupt are its input; they never wait for the robot or the brain.
type session struct {
	robot    *folded
	contract *contract.Contract // nil: the robot is another process and judges goals itself
	distant  *distantRobot      // nil: it is in this process
	name     string             // of the robot, and what is known of it
	mode     string
	where    string
	operator string       // where the driver is stopped, if that was given; empty: the robot's name leads there
	agent    agent.Config // without client and tracer
	tell     func(chatEvent)
	echo     bool // what is typed is not on the screen yet
	stops    wordList
	cancels  wordList
	looks    func(verb string) bool // whether it moves nothing
	slow     *lateness

	ctx   context.Context // of every exchange; ends with the conversation
	opens sync.Mutex
	wg    sync.WaitGroup // cancels on their way

	mu       sync.Mutex
	goal     string // fixed for the next request
	queue    []asked
	current  *exchange // the latest
	open     int       // exchanges that have not ended
	changed  chan struct{}
	over     chan struct{} // closed: the person wants to end
	killed   bool          // by Ctrl-C
	unsure   bool          // the latest stop was not confirmed
	pressed  time.Time     // the latest Ctrl-C
	quitting bool
}

type asked struct{ words, goal string }

// lateness counts ticks that came late.
type lateness struct{ ticks, worst atomic.Int64 }

func (l *lateness) note(late time.Duration) {
	l.ticks.Add(1)
	for w := l.worst.Load(); int64(late) > w && !l.worst.CompareAndSwap(w, int64(late)); w = l.worst.Load() {
	}
}

// take takes one line of the person's. A stop goes first, and straight to the driver.
func (s *session) take(l line) {
	words, removed := cleaned(l.text)
	if s.stops.has(words) {
		number := s.robot.guard.Stop("typed in chat: " + words)
		s.heard(words)
		if number == 0 {
			s.notStopped()
		} else {
			s.stopped(number, "")
		}
		return
	}
	switch {
	case l.bytes > maxLine:
		s.ignore(fmt.Sprintf("that line is longer than %d bytes; none of it was taken", maxLine))
	case words == "":
	case l.pasted:
		s.ignore("a paste of several lines is not taken; type or paste one request at a time")
	case !utf8.ValidString(l.text):
		s.ignore("that line is not UTF-8; it was not taken")
	default:
		if removed > 0 {
			s.note(fmt.Sprintf("%d invisible signs were taken out of the next line", removed))
		}
		if !s.command(words) {
			s.ask(words, l.joined)
		}
	}
}

func (s *session) heard(words string) {
	if s.echo {
		s.tell(chatEvent{Event: evHeard, Words: words})
	}
}

func (s *session) note(says string)   { s.tell(chatEvent{Event: evNote, Says: says}) }
func (s *session) ignore(says string) { s.tell(chatEvent{Event: evIgnored, Says: says}) }

// command runs what is meant for the console and not for the brain.
func (s *session) command(words string) bool {
	first, rest, _ := strings.Cut(words, " ")
	var act func()
	switch plain := plainWords(words); {
	case strings.EqualFold(first, "reset") && strings.Trim(rest, "0123456789") == "":
		act = func() { s.reset(rest) }
	case strings.EqualFold(first, "goal"):
		act = func() { s.fix(rest) }
	case s.cancels.has(words):
		act = s.cancel
	case plain == "help", words == "?":
		act = s.help
	case plain == "quit", plain == "exit", plain == "bye":
		act = func() { s.end(false) }
	case plain == "no goal":
		act = func() { s.fix("none") }
	default:
		return false
	}
	s.heard(words)
	act()
	return true
}

func (s *session) help() {
	s.tell(chatEvent{Event: evHelp, Commands: s.commands(), Says: "Everything else goes to the brain, whose calls are checked, carried out and measured."})
}

func (s *session) commands() []chatCommandUI {
	return []chatCommandUI{
		{strings.Join(s.stops, " | "), "stop at once and latch; the brain is not asked. " + notEstop},
		{"reset N", "permit motion again after stop number N; it restarts nothing"},
		{strings.Join(s.cancels, " | "), "end the motion and the request; whole utterances, like the stop"},
		{"goal EXPR | goal none", "show and fix the goal of the next request, or drop it"},
		{"help | quit", "Ctrl-C stops the robot; a second one within 2 s quits"},
	}
}

// stopped tells of a stop that the driver has latched, and lets nothing follow.
func (s *session) stopped(number uint64, more string) {
	s.mu.Lock()
	dropped := len(s.queue)
	s.queue, s.goal, s.unsure = nil, "", false
	if s.current != nil {
		s.current.finish(false)
	}
	s.mu.Unlock()
	says := fmt.Sprintf("To permit motion again: reset %d. %s", number, notEstop)
	if dropped > 0 {
		says += fmt.Sprintf(" %d waiting requests were dropped.", dropped)
	}
	s.tell(chatEvent{Event: evStopped, Number: number, Says: strings.TrimSpace(says + " " + more)})
}

// notStopped tells of a stop that the driver did not confirm. What is under way is cancelled at the robot besides.
func (s *session) notStopped() {
	s.mu.Lock()
	s.unsure = true
	moves := s.current != nil
	s.mu.Unlock()
	s.tell(chatEvent{Event: evError, Code: "STOP_NOT_CONFIRMED", Says: errNotStopped.Error() + ". Use the robot's own switch, and say it again."})
	if moves {
		s.cancel()
	}
}

var errNotStopped = errors.New("NOT STOPPED: no driver confirmed it")

// reset is a person's act: this is their terminal.
func (s *session) reset(text string) {
	latch := s.robot.guard.Latch()
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		if latch.Stopped {
			s.ignore(fmt.Sprintf("a reset names the stop it resets: reset %d", latch.Number))
		} else {
			s.ignore("nothing is stopped")
		}
		return
	}
	if err := s.robot.guard.Reset(n); err != nil {
		s.tell(chatEvent{Event: evIgnored, Number: n, Says: "not reset: " + err.Error()})
		return
	}
	s.tell(chatEvent{Event: evReset, Number: n, Says: fmt.Sprintf("stop %d is reset%s: motion is permitted, nothing was restarted", n, because(latch.Reason))})
}

// fix shows a goal and fixes it for the next request.
func (s *session) fix(text string) {
	s.mu.Lock()
	now := s.goal
	s.mu.Unlock()
	switch {
	case text == "" && now == "":
		s.tell(chatEvent{Event: evGoal, Says: "no goal is fixed; " + goalAdvice})
	case text == "":
		s.showGoal(now)
	case strings.EqualFold(text, "none"):
		s.mu.Lock()
		s.goal = ""
		s.mu.Unlock()
		s.tell(chatEvent{Event: evGoal, Says: "no goal is fixed"})
	case s.showGoal(text):
		s.mu.Lock()
		s.goal = text
		s.mu.Unlock()
	}
}

// showGoal tells what a goal means, or why it cannot be one.
func (s *session) showGoal(text string) bool {
	if s.contract == nil {
		s.tell(chatEvent{Event: evGoal, Goal: text, Says: "the robot says what it means, or that it means nothing, with your next request"})
		return true
	}
	goal, err := s.contract.Goal(text)
	if err != nil {
		s.ignore("that is no goal: " + strings.ReplaceAll(err.Error(), "\n", "; "))
		return false
	}
	says := "it is measured by " + strings.Join(goal.FactNames, ", ") + "; your next request is done when, and only when, it was measured to hold"
	s.tell(chatEvent{Event: evGoal, Goal: text, Objects: goal.Objects(), Says: says})
	return true
}

// ask hands words to the brain. What came in one piece with words that are not answered yet waits for them; any other
// words supersede what is open.
func (s *session) ask(words string, joined bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := asked{words, s.goal}
	switch {
	case s.quitting:
		return
	case joined && s.current != nil && len(s.queue) == maxQueued:
		s.ignore(fmt.Sprintf("more than %d requests in one piece; this one was not taken", maxQueued))
		return
	case joined && s.current != nil:
		s.queue = append(s.queue, a)
	case s.open == maxOpen:
		s.ignore("too many requests at once; this one was not taken")
		return
	default:
		s.queue = nil
		s.begin(a)
	}
	s.goal = ""
}

// begin starts an exchange. s.mu is held.
func (s *session) begin(a asked) {
	ctx, cancel := context.WithCancel(s.ctx)
	x := &exchange{
		Client: s.robot.client, tell: s.tell, opens: &s.opens, before: s.current, words: a.words, goal: a.goal, looks: s.looks, approving: s.approving,
		cancel: cancel, done: make(chan struct{}),
	}
	s.current = x
	s.open++
	s.heard(a.words)
	if s.stops.mentions(a.words) {
		s.note(fmt.Sprintf("to stop the robot at once, say %q and nothing else", s.stops[0]))
	}
	go s.play(ctx, x)
}

// approving is the command by which a person sees what waits, and lets it pass.
func (s *session) approving() string {
	if s.distant != nil {
		if l, err := new(personFlags).lineTo(s.distant.line.who); err == nil {
			l.Close()
			return "interlock approve" + l.argument
		}
	}
	return "interlock approve, where the robot runs"
}

// cancel ends the open request and its mission.
func (s *session) cancel() {
	s.mu.Lock()
	x := s.current
	s.queue = nil
	s.mu.Unlock()
	if x == nil {
		s.tell(chatEvent{Event: evCancel, Says: "nothing is under way"})
		return
	}
	s.tell(chatEvent{Event: evCancel, Task: x.taskID(), Says: "cancelling"})
	if m := x.finish(true); m != "" {
		s.wg.Go(func() { cancelMission(s.ctx, s.robot.client, m, s.tell) })
	}
}

// interrupt is a Ctrl-C: the arm halts first, whatever comes next.
func (s *session) interrupt() {
	s.mu.Lock()
	again := time.Since(s.pressed) < quitAgain && !s.pressed.IsZero()
	s.pressed = time.Now()
	s.mu.Unlock()
	if !again || !s.robot.guard.Latch().Stopped {
		if n := s.robot.guard.Stop("Ctrl-C in chat"); n == 0 {
			s.notStopped()
		} else {
			s.stopped(n, "Ctrl-C again within 2 s quits.")
		}
	}
	if again {
		s.end(true)
	}
}

// end asks the conversation to end.
func (s *session) end(killed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.killed = s.killed || killed
	s.queue = nil
	if !s.quitting {
		s.quitting = true
		close(s.over)
	}
}

// settled waits until nothing is under way, or until give closes.
func (s *session) settled(give <-chan struct{}) {
	for {
		s.mu.Lock()
		calm, changed := s.open == 0 && len(s.queue) == 0, s.changed
		s.mu.Unlock()
		if calm {
			return
		}
		select {
		case <-changed:
		case <-give:
			return
		}
	}
}

func (x *exchange) taskID() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.task
}

// play carries one request out.
func (s *session) play(ctx context.Context, x *exchange) {
	defer s.ended(x)
	cfg := s.agent
	cfg.Client, cfg.Tracer = x, x
	r, err := agent.Run(ctx, cfg, &contractv1.OpenTaskRequest{Words: x.words, Provenance: "person", Goal: x.goal})
	if x.before != nil {
		x.before.ended(context.WithoutCancel(ctx))
		x.before = nil
	}
	if r.Task == nil && x.taskID() != "" { // opened, and nothing came of it
		ctx, done := context.WithTimeout(context.WithoutCancel(ctx), lineWithin)
		r.Task, _ = x.Claim(ctx, &contractv1.ClaimRequest{TaskId: x.taskID(), Claim: &contractv1.Claim{}}) // a robot that is gone has no last word
		done()
	}
	s.conclude(x, &r, err)
}

// ended notes that an exchange is over, and begins what waits for it.
func (s *session) ended(x *exchange) {
	x.cancel()
	close(x.done)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.current == x {
		s.current = nil
		if len(s.queue) > 0 && !s.quitting {
			next := s.queue[0]
			s.queue = s.queue[1:]
			s.begin(next)
		}
	}
	close(s.changed)
	s.changed = make(chan struct{})
}
