package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"interlock/brain/action"
	"interlock/brain/llm"
	"interlock/brain/tool"
	contractv1 "interlock/contract/v1"
)

// claimWithin bounds how long the closing claim may take once the run's own context has ended. Before that the claim has
// the run's own time: a robot that measures a goal answers when it has.
const claimWithin = 2 * time.Second

// maxMessage is how much of a claim's message is sent on, in bytes: a robot keeps it, and takes no more than 8 KiB.
const maxMessage = 4 << 10

// short is a message that is not longer than that, and says where it was cut.
func short(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "… (cut)"
}

// closing is the context of the closing claim: what asked for the run may be gone, and the claim is made all the same.
func closing(ctx context.Context) (context.Context, context.CancelFunc) {
	last, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(claimWithin, cancel) })
	return last, func() { stop(); cancel() }
}

// Run plays one request: it opens the task, lets the model act, and closes the task with the model's claim or silence. The
// error is one of ours (the line, the provider, the tracer); how the request came out is in the result, which is filled
// as far as it got.
func Run(ctx context.Context, cfg Config, request *contractv1.OpenTaskRequest) (Result, error) {
	cfg, err := cfg.validated()
	if err != nil {
		return Result{}, err
	}
	manifest, err := cfg.Client.Describe(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("agent: describe: %w", err)
	}
	task, err := cfg.Client.OpenTask(ctx, request)
	if err != nil {
		return Result{}, fmt.Errorf("agent: open task: %w", err)
	}
	if len(task.GetRefusals()) > 0 {
		return Result{Task: task, TaskState: task.GetState(), Ended: TaskRefused, Claim: &contractv1.Claim{}}, nil
	}
	registry, err := tool.New(manifest, cfg.Client, tool.Options{TaskID: task.GetTaskId(), Lease: cfg.Lease, Functions: cfg.Functions})
	if err != nil {
		return Result{}, err
	}
	if _, taken := registry.Tool(llm.DeclineName); taken && cfg.Constrained {
		return Result{}, fmt.Errorf("agent: a tool is named %q, which is how a constrained model declines", llm.DeclineName)
	}
	l := newLoop(cfg, manifest, registry, task, request.GetWords())
	l.open(manifest)
	ended, err := l.play(ctx)
	return l.close(ctx, ended, err)
}

// loop is one run under way.
type loop struct {
	cfg      Config
	registry *tool.Registry
	policy   policy
	task     *contractv1.Task
	messages []llm.Message
	offer    action.Offer
	out      Result
	words    string
	row      int // unreadable replies in a row
	left     int // model calls left
	closing  bool
	traceErr error
}

func newLoop(cfg Config, m *contractv1.Manifest, registry *tool.Registry, task *contractv1.Task, words string) *loop {
	system, names := SystemPrompt(m, registry.Tools()), registry.Names()
	if cfg.Constrained {
		system, names = system+declineLine, append(names, llm.DeclineName)
	}
	return &loop{
		cfg: cfg, registry: registry, task: task, words: words, left: cfg.MaxModelCalls,
		policy: policy{maxRepeats: cfg.MaxRepeats, maxReplans: cfg.MaxReplans, goal: task.GetGoal() != "", started: map[string]int{}},
		offer:  action.Offer{Tools: names, Native: cfg.Native, Profile: cfg.Profile}.Indexed(),
		messages: []llm.Message{
			{Role: llm.System, Content: system},
			{Role: llm.User, Content: words},
		},
	}
}

// play asks the model until something ends the run.
func (l *loop) play(ctx context.Context) (Ended, error) {
	for l.left > 0 {
		l.left--
		l.out.ModelCalls++
		begun := l.cfg.Now()
		reply, fault, err := l.ask(ctx)
		if err != nil {
			return Lost, err
		}
		l.out.Tokens.Prompt += reply.Tokens.Prompt
		l.out.Tokens.Completion += reply.Tokens.Completion
		rec := Record{Event: "step", Step: l.out.ModelCalls, Fault: fault, LatencyMS: milliseconds(l.cfg.Now() - begun)}
		ended, err := l.step(ctx, reply, &rec)
		l.trace(rec.with(reply))
		if ended != "" || err != nil {
			return ended, err
		}
	}
	return OutOfCalls, nil
}

// ask gets the model's next reply. A reply of which only the model's side is broken is taken as far as it came, without a
// stop reason, and fault says what happened to it: it is answered with feedback like any other that cannot be read.
func (l *loop) ask(ctx context.Context) (reply llm.Reply, fault string, err error) {
	reply, err = l.cfg.Provider.Chat(ctx, llm.Request{
		Messages: l.messages, Tools: specs(l.registry.Tools(), !l.closing), Native: l.cfg.Native, Constrained: l.cfg.Constrained, Sampling: l.cfg.Sampling,
	})
	var f *llm.Fault
	switch {
	case err == nil:
		return reply, "", nil
	case errors.As(err, &f) && f.OfModel() && ctx.Err() == nil:
		return llm.Reply{Raw: f.Raw, Wire: f.Wire}, f.Error(), nil
	}
	return llm.Reply{}, "", fmt.Errorf("agent: %s: %w", l.cfg.Provider.Name(), err)
}

// step acts on one reply. An empty end means that the run goes on.
func (l *loop) step(ctx context.Context, reply llm.Reply, rec *Record) (Ended, error) {
	if err := l.refresh(ctx); err != nil {
		return Lost, err
	}
	if l.task.GetState() == contractv1.TaskState_SUPERSEDED {
		return Superseded, nil
	}
	reading := action.Read(output(reply), l.offer)
	rec.Reading = readRecord(reading)
	l.messages = append(l.messages, llm.Message{Role: llm.Assistant, Content: string(reply.Raw), ToolCalls: reply.ToolCalls})
	switch reading.Kind {
	case action.NoCall:
		return l.noCall(reply.Raw), nil
	case action.Calls:
		l.row = 0
		if reason, declined := l.declined(reading.Calls); declined {
			l.out.Prose = append(l.out.Prose, reason)
			return Declined, nil
		}
		return l.run(ctx, reading.Calls, rec)
	case action.Truncated, action.Malformed, action.DuplicateKey, action.Ambiguous, action.UnknownTool, action.TooLarge:
	}
	return l.correct(reading, rec), nil
}

// noCall ends the run: prose is no claim, however it sounds.
func (l *loop) noCall(raw []byte) Ended {
	if len(bytes.TrimSpace(raw)) == 0 {
		return Silence
	}
	l.out.Prose = append(l.out.Prose, string(raw))
	return Prose
}

// declined reports whether the model took the branch of its schema that calls nothing, and the reason it gave: the
// arguments as they came, since nothing is decided on them. A model without a schema was offered no such branch.
func (l *loop) declined(calls []action.Call) (reason string, declined bool) {
	for _, c := range calls {
		if l.cfg.Constrained && c.Tool == llm.DeclineName {
			return string(c.Args), true
		}
	}
	return "", false
}

// correct answers an unreadable reply with feedback, or ends the run when that did not help.
func (l *loop) correct(r action.Reading, rec *Record) Ended {
	l.row++
	if l.row > l.cfg.MaxCorrections {
		return Unreadable
	}
	l.out.Corrections++
	rec.Feedback = feedback(r)
	if rec.Fault != "" {
		rec.Feedback = fmt.Sprintf("Your last message could not be taken over from the model server (%s), and called nothing. Write one call, alone.", rec.Fault)
	}
	l.messages = append(l.messages, llm.Message{Role: llm.User, Content: rec.Feedback})
	return ""
}

// feedback tells the model what was wrong with its reply and what a call looks like. Nothing was called.
func feedback(r action.Reading) string {
	return fmt.Sprintf("Your last message called nothing (%s, %s): %s. Write one call, alone: {\"tool\": \"NAME\", \"arguments\": {...}}",
		r.Kind, r.Refusal.Code, r.Refusal.Says)
}

// run answers the calls of one reply in order, at most one of them a motion.
func (l *loop) run(ctx context.Context, calls []action.Call, rec *Record) (Ended, error) {
	motions := 0
	for _, c := range calls {
		t, _ := l.registry.Tool(c.Tool)
		r, asked := l.answer(ctx, c, t, motions, rec)
		l.note(c, t, r, rec)
		if asked && t.Effect == tool.Motion {
			motions++
			if err := l.refresh(ctx); err != nil {
				return Lost, err
			}
		}
		switch {
		case r.Claim != nil:
			l.out.Claim, l.out.Reported = r.Claim, true
			return Reported, nil
		case ctx.Err() != nil:
			return Lost, ctx.Err()
		case r.MissionID != "" && r.Mission == "":
			return Lost, nil
		}
	}
	return "", nil
}

// answer runs one call, unless the agent's own bounds refuse it; asked says whether it was run.
func (l *loop) answer(ctx context.Context, c action.Call, t tool.Tool, motions int, rec *Record) (r tool.Result, asked bool) {
	if t.Effect != tool.Motion {
		return l.registry.Call(ctx, c.Tool, c.Args), true
	}
	if why := l.policy.refuse(c, motions); why != nil {
		return tool.Refused(*why), false
	}
	rec.Replan = l.policy.asked(c)
	r = l.registry.Call(ctx, c.Tool, c.Args)
	l.policy.answered(r)
	return r, true
}

// note puts an answer into the conversation, the result and the trace.
func (l *loop) note(c action.Call, t tool.Tool, r tool.Result, rec *Record) {
	var codes []string
	for _, refusal := range r.Rejections {
		codes = append(codes, refusal.GetCode())
	}
	l.out.Calls = append(l.out.Calls, CallRecord{
		Step: l.out.ModelCalls, Tool: c.Tool, Effect: t.Effect, Args: c.Args, Verdict: r.Verdict, Mission: r.Mission, MissionID: r.MissionID, Codes: codes,
		Refusals: r.Rejections, Facts: r.Facts,
	})
	rec.Results = append(rec.Results, stepResult(c, r, codes))
	l.messages = append(l.messages, llm.Message{Role: llm.ToolRole, ToolName: c.Tool, Content: string(r.JSON)})
}

// refresh asks the robot for the task. Once it is closed, only a few calls for the report are left and motions are no
// longer offered; the robot refuses them anyway.
func (l *loop) refresh(ctx context.Context) error {
	task, err := l.cfg.Client.Task(ctx, &contractv1.TaskRequest{TaskId: l.task.GetTaskId()})
	if err != nil {
		return fmt.Errorf("agent: task: %w", err)
	}
	l.task = task
	if task.GetState() != contractv1.TaskState_OPEN && !l.closing {
		l.closing = true
		l.left = min(l.left, l.cfg.MaxReportCalls)
	}
	return nil
}

// close writes the claim, or the silence, beside the robot's verdict and completes the result.
func (l *loop) close(ctx context.Context, ended Ended, err error) (Result, error) {
	if l.out.Claim == nil {
		l.out.Claim = &contractv1.Claim{}
	}
	l.out.Claim.Message = short(l.out.Claim.GetMessage())
	ctx, done := closing(ctx)
	defer done()
	task, claimErr := l.cfg.Client.Claim(ctx, &contractv1.ClaimRequest{TaskId: l.task.GetTaskId(), Claim: l.out.Claim})
	if claimErr != nil {
		err = errors.Join(err, fmt.Errorf("agent: claim: %w", claimErr))
	} else {
		l.task = task
	}
	l.out.Task, l.out.TaskState, l.out.Ended = l.task, l.task.GetState(), ended
	l.out.LookedAfterActing = lookedAfterActing(l.out.Calls)
	l.trace(Record{Event: "end", End: l.out.ending(), Tokens: l.out.Tokens})
	return l.out, errors.Join(err, l.traceErr)
}

// open traces what was fixed before the first model call.
func (l *loop) open(m *contractv1.Manifest) {
	l.trace(Record{Event: "open", Open: &Opening{
		Words: l.words, Goal: l.task.GetGoal(), TaskHash: l.task.GetTaskHash(), Model: l.cfg.Provider.Name(),
		Sampling: l.cfg.Sampling, Native: l.cfg.Native, Constrained: l.cfg.Constrained, Profile: l.cfg.Profile, Manifest: m.GetManifestHash(), System: l.messages[0].Content,
	}})
}

// trace completes a record and hands it on. The first error is kept.
func (l *loop) trace(r Record) {
	r.Task, r.TaskNumber, r.TaskState = l.task.GetTaskId(), l.task.GetNumber(), l.task.GetState().String()
	if err := l.cfg.Tracer.Trace(r); err != nil && l.traceErr == nil {
		l.traceErr = fmt.Errorf("agent: trace: %w", err)
	}
}

// output turns a reply into what action reads.
func output(r llm.Reply) action.Output {
	out := action.Output{Raw: r.Raw, StopReason: r.StopReason}
	for _, c := range r.ToolCalls {
		out.Native = append(out.Native, action.Native{Name: c.Name, Arguments: []byte(c.ArgumentsText), Decoded: c.Decoded})
	}
	return out
}
