package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"interlock/brain/agent"
	"interlock/brain/llm"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
)

// How long the conversation waits for what must come by itself.
const (
	lineWithin = 2 * time.Second // an answer of the robot to a cancel
	endWithin  = 5 * time.Second // the end of a request that was superseded, cancelled or stopped: the robot's second to measure standstill, and the claim
)

// errSuperseded ends a request that newer words replaced before the robot had opened it.
var errSuperseded = errors.New("superseded before it was begun")

// exchange is one request on its way: the line to the robot with a person looking on.
type exchange struct {
	transport.Client
	tell      func(chatEvent)
	opens     *sync.Mutex // held while a task is opened, so that tasks are opened in the order of the words
	before    *exchange   // the request that this one supersedes; nil: none
	words     string
	goal      string
	looks     func(verb string) bool // whether it moves nothing
	cancel    context.CancelFunc
	approving func() string // the command by which a person lets pass what waits
	done      chan struct{} // closed once nothing of it, nor of the one before, goes on

	mu         sync.Mutex
	task       string
	mission    string    // started, and its end not seen; empty: none
	ending     bool      // whatever is under way is the last
	cancelling bool      // a mission that is accepted now is cancelled
	moved      bool      // a mission was accepted
	last       chatEvent // the last event of the last mission
}

// OpenTask implements transport.Client. Opening it supersedes the task before at the robot, whose mission is cancelled; the
// new one begins once the old one has come to its end.
func (x *exchange) OpenTask(ctx context.Context, q *contractv1.OpenTaskRequest) (*contractv1.Task, error) {
	task, err := x.open(ctx, q)
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	x.task = task.GetTaskId()
	x.mu.Unlock()
	if len(task.GetRefusals()) > 0 {
		x.tell(chatEvent{Event: evRefused, Goal: q.GetGoal(), Refusals: refusalsOf(task.GetRefusals())})
		return task, nil
	}
	x.tell(chatEvent{Event: evTask, Task: task.GetTaskId(), TaskHash: task.GetTaskHash(), Goal: task.GetGoal(), Words: q.GetWords()})
	if x.before != nil && !x.before.ended(ctx) && ctx.Err() == nil {
		return nil, errors.New("the request before this one did not come to an end in time")
	}
	return task, ctx.Err()
}

func (x *exchange) open(ctx context.Context, q *contractv1.OpenTaskRequest) (*contractv1.Task, error) {
	x.opens.Lock()
	defer x.opens.Unlock()
	if x.isEnding() {
		return nil, errSuperseded
	}
	if x.before != nil {
		x.before.finish(false)
	}
	return x.Client.OpenTask(ctx, q)
}

// ended waits for the end of the exchange, at most as long as that may take.
func (x *exchange) ended(ctx context.Context) bool {
	t := time.NewTimer(endWithin)
	defer t.Stop()
	select {
	case <-x.done:
		return true
	case <-ctx.Done():
	case <-t.C:
	}
	return false
}

func (x *exchange) isEnding() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.ending
}

// finish makes what is under way the last: a mission is followed to its end, then nothing more is asked of the brain. It
// returns the mission that is to be cancelled, where one is.
func (x *exchange) finish(cancelMission bool) (mission string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ending = true
	x.cancelling = x.cancelling || cancelMission
	if x.mission == "" {
		x.cancel()
	}
	return x.mission
}

// Start implements transport.Client.
func (x *exchange) Start(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	x.setMission(q.GetMissionId())
	x.tell(chatEvent{Event: evCall, Task: q.GetTaskId(), Mission: q.GetMissionId(), Tool: q.GetCapability(), Args: string(q.GetArgsJson())})
	ack, err := x.Client.Start(ctx, q)
	if err == nil && onlyAPerson(ack) {
		says := fmt.Sprintf("waiting for a person, at most %v; in another terminal: %s", allowWithin, x.approving())
		x.tell(chatEvent{Event: evWaits, Tool: q.GetCapability(), Mission: q.GetMissionId(), Refusals: refusalsOf(ack.GetRejections()), Says: says})
		x.setMission("") // what waits is no mission yet: "never mind" ends it at once
		ack, err = x.startOnceAllowed(ctx, q, ack)
		x.setMission(q.GetMissionId())
	}
	switch {
	case err != nil:
		return ack, err // the agent cancels what may have been started
	case !ack.GetAccepted():
		x.tell(chatEvent{Event: evRefused, Tool: q.GetCapability(), Mission: q.GetMissionId(), Refusals: refusalsOf(ack.GetRejections())})
		x.missionOver(chatEvent{})
	case x.looks(q.GetCapability()):
		x.tell(chatEvent{Event: evSeen, Tool: q.GetCapability(), Measured: measuredOf(ack.GetFacts())})
		x.missionOver(chatEvent{})
	default:
		x.cancelAccepted(ctx, q.GetMissionId())
	}
	return ack, nil
}

func (x *exchange) setMission(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.mission = id
}

// cancelAccepted cancels a mission that was asked for before the cancel and accepted after it.
func (x *exchange) cancelAccepted(ctx context.Context, mission string) {
	x.mu.Lock()
	wanted := x.cancelling
	x.moved = true
	x.mu.Unlock()
	if wanted {
		cancelMission(ctx, x.Client, mission, x.tell)
	}
}

// missionOver notes that no mission is under way; e is its last event.
func (x *exchange) missionOver(e chatEvent) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.mission = ""
	if e.Event != "" {
		x.last = e
	}
	if x.ending {
		x.cancel()
	}
}

// Events implements transport.Client: the person sees each event before the brain does.
func (x *exchange) Events(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	return func(yield func(*contractv1.Event, error) bool) {
		for e, err := range x.Client.Events(ctx, q) {
			if err == nil {
				told := missionEvent(e)
				x.tell(told)
				if e.GetFinal() {
					x.missionOver(told)
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// Trace implements agent.Tracer: what the person would otherwise not see is told, replies that could not be read and calls
// that the agent's own bounds refused.
func (x *exchange) Trace(r agent.Record) error {
	if r.Feedback != "" {
		code := "UNREADABLE"
		if r.Reading != nil && r.Reading.Code != "" {
			code = r.Reading.Code
		}
		x.tell(chatEvent{Event: evRefused, Refusals: []chatRefusal{{Code: code, Says: "the brain's text is no call that can be read; nothing was called"}}})
	}
	for _, s := range r.Results {
		var a struct{ Rejections []chatRefusal }
		if s.MissionID != "" || json.Unmarshal(s.Result, &a) != nil {
			continue
		}
		for _, refusal := range a.Rejections {
			if agentsOwn(refusal.Rule) {
				x.tell(chatEvent{Event: evRefused, Tool: s.Tool, Args: s.Args, Refusals: []chatRefusal{refusal}})
			}
		}
	}
	return nil
}

// agentsOwn reports whether a rule is a bound of the agent's, so that the robot was not asked.
func agentsOwn(rule string) bool {
	switch rule {
	case "one_motion_per_reply", "one_motion_without_goal", "repeat", "replans":
		return true
	}
	return false
}

// cancelMission asks the robot to end a mission. That it stands still is told by the mission's own last event.
func cancelMission(ctx context.Context, client transport.Client, mission string, tell func(chatEvent)) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), lineWithin)
	defer done()
	ack, err := client.Cancel(ctx, &contractv1.CancelRequest{MissionId: mission})
	switch {
	case err != nil:
		tell(chatEvent{Event: evError, Mission: mission, Says: "the cancel did not reach the robot: " + err.Error() + "; \"stop\" always works"})
	case !ack.GetAccepted() && ack.GetRejections()[0].GetCode() != string(reject.NotInEnum): // a mission not yet accepted is cancelled then
		tell(chatEvent{Event: evRefused, Mission: mission, Refusals: refusalsOf(ack.GetRejections())})
	}
}

// patient bounds how long each reply of a model may take.
type patient struct {
	llm.Provider
	within time.Duration
}

// Chat implements llm.Provider.
func (p patient) Chat(ctx context.Context, q llm.Request) (llm.Reply, error) {
	ctx, done := context.WithTimeout(ctx, p.within)
	defer done()
	return p.Provider.Chat(ctx, q)
}
