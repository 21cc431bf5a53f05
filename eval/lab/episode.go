package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"interlock/brain/agent"
	"interlock/brain/tool"
	contractv1 "interlock/contract/v1"
	"interlock/eval"
	"interlock/internal/strictjson"
)

// TruthReader is the name of the canary that reads simulator truth before it reports: the ceiling of every table.
const TruthReader = "truth-reader"

// modelCalls bounds an episode whose scenario names no budget.
const modelCalls = 12

// Episode implements eval.Builder.
func (l *Lab) Episode(ctx context.Context, spec eval.EpisodeSpec) (out eval.Outcome, err error) {
	begun := time.Now()
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	s, err := l.open(ctx, &spec, giveUp)
	if err != nil {
		return eval.Outcome{}, err
	}
	defer func() { err = s.close(ctx, err) }()
	var noise noiseCount
	result, path, err := l.play(ctx, s, &spec, &noise)
	if err != nil {
		return eval.Outcome{}, err
	}
	if err := s.namePhases(ctx, result.Calls); err != nil {
		return eval.Outcome{}, err
	}
	if err := s.settle(); err != nil {
		return eval.Outcome{}, fmt.Errorf("settle: %w", err)
	}
	out = outcome(&result)
	if b, ok := l.brains[spec.Agent]; ok {
		out.Model = b.Provider.Name()
	}
	out.Verdict, out.Trace, out.Series, out.Wall = s.verdict(), path, s.series, time.Since(begun)
	if spec.Scenario.Goal != "" {
		g, err := l.contract.Goal(spec.Scenario.Goal)
		if err != nil {
			return eval.Outcome{}, err
		}
		for _, label := range g.Objects() {
			out.GoalObjects = append(out.GoalObjects, l.contract.Label(label))
		}
	}
	out.ContractHash, out.Normalised = l.contract.Hash(), int(noise)
	return out, nil
}

// play lets the agent act on the request. It returns the path of the trace, if one is kept.
func (l *Lab) play(ctx context.Context, s *scene, spec *eval.EpisodeSpec, noise *noiseCount) (result agent.Result, path string, err error) {
	brain, err := l.brain(spec, s)
	if err != nil {
		return agent.Result{}, "", err
	}
	begun := time.Now()
	cfg := agent.Config{Client: s.client, MaxModelCalls: modelCalls, Tracer: noise, Now: func() time.Duration { return time.Since(begun) }}
	brain.put(&cfg)
	if spec.Scenario.ModelCalls > 0 {
		cfg.MaxModelCalls = spec.Scenario.ModelCalls
	}
	if l.traces != "" {
		file := filepath.Join(l.traces, strings.ReplaceAll(spec.ID, "/", "_")+".jsonl")
		path = filepath.Join(filepath.Base(l.traces), filepath.Base(file)) // from the run's folder, which may be moved
		f, createErr := os.Create(file)
		if createErr != nil {
			return agent.Result{}, "", createErr
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		cfg.Tracer = both{noise, agent.NewTracer(f)}
	}
	result, err = agent.Run(ctx, cfg, &contractv1.OpenTaskRequest{
		Words: spec.Scenario.Request, Provenance: "person", Goal: spec.Scenario.Goal,
		MaxMissions: int32(spec.Scenario.Missions), MayChange: spec.Scenario.MayChange,
	})
	if err == nil && result.Ended == agent.TaskRefused {
		err = fmt.Errorf("the robot did not open the task: %s", result.Task.GetRefusals()[0].GetSays())
	}
	return result, path, err
}

// noiseCount is a tracer that counts the changes of representation noise in a model's replies.
type noiseCount int

// Trace implements agent.Tracer.
func (n *noiseCount) Trace(r agent.Record) error {
	if r.Reading != nil {
		*n += noiseCount(len(r.Reading.Changes))
	}
	return nil
}

// both hands every record to two tracers.
type both [2]agent.Tracer

// Trace implements agent.Tracer.
func (b both) Trace(r agent.Record) error { return errors.Join(b[0].Trace(r), b[1].Trace(r)) }

// namePhases writes the missions' phases into the series, by the time of their events.
func (s *scene) namePhases(ctx context.Context, calls []agent.CallRecord) error {
	next := 0
	for i := range calls {
		if calls[i].MissionID == "" || len(s.series) == 0 {
			continue
		}
		phase := ""
		for e, err := range s.client.Events(ctx, &contractv1.EventsRequest{MissionId: calls[i].MissionID, FromSeq: 1}) {
			if err != nil {
				return fmt.Errorf("events of %s: %w", calls[i].MissionID, err)
			}
			for ; next < len(s.series) && s.series[next].AtMs <= e.GetAtMs(); next++ {
				s.series[next].Phase = phase
			}
			phase = phaseOf(e, phase)
		}
	}
	return nil
}

// phaseOf is what the robot does from the event on.
func phaseOf(e *contractv1.Event, before string) string {
	switch {
	case e.GetFinal():
		return ""
	case e.GetKind() == contractv1.EventKind_PHASE:
		return e.GetPhase()
	case e.GetKind() == contractv1.EventKind_ARRIVED:
		return "verify"
	}
	return before
}

// outcome turns an agent's result into the record's parts.
func outcome(r *agent.Result) eval.Outcome {
	out := eval.Outcome{
		Task: taskWord(r.TaskState), LookedAfter: r.LookedAfterActing, ModelCalls: r.ModelCalls, Tokens: r.Tokens.Prompt + r.Tokens.Completion,
		BadReplies: r.Corrections, Message: r.Claim.GetMessage(),
	}
	if r.Reported {
		success := r.Claim.GetSuccess()
		out.Claimed = &success
	} else if n := len(r.Prose); n > 0 {
		out.Message = r.Prose[n-1]
	}
	for _, effect := range r.Task.GetSideEffects() {
		if out.SideEffects == nil {
			out.SideEffects = map[string]float64{}
		}
		out.SideEffects[effect.GetObject()] = effect.GetDisplacementCm()
	}
	for i := range r.Calls {
		out.Calls = append(out.Calls, call(&r.Calls[i]))
	}
	return out
}

// taskWord is the robot's word as the record spells it.
func taskWord(s contractv1.TaskState) string {
	if s == contractv1.TaskState_TASK_UNVERIFIED {
		return "unverified"
	}
	return strings.ToLower(s.String())
}

func call(c *agent.CallRecord) eval.Call {
	out := eval.Call{Tool: c.Tool, Args: canonical(c.Args), Verdict: string(c.Verdict), Mission: c.Mission, Look: c.Effect == tool.Look, Measured: measured(c.Facts)}
	for _, r := range c.Refusals {
		code := r.GetCode()
		if r.GetRule() != "" {
			code += ":" + r.GetRule()
		}
		out.Codes = append(out.Codes, code)
	}
	return out
}

// canonical is the arguments' canonical form, or the text as it came where it is no JSON.
func canonical(args []byte) string {
	if n, r := strictjson.Parse(args, strictjson.DefaultLimits()); r == nil {
		return string(strictjson.Canonical(n))
	}
	return string(args)
}

// measured flattens facts to numbers with the unit in the name: a point becomes its three coordinates.
func measured(facts []*contractv1.Fact) map[string]float64 {
	out := map[string]float64{}
	for _, f := range facts {
		var number float64
		var point [3]float64
		switch {
		case json.Unmarshal([]byte(f.GetValueJson()), &number) == nil:
			out[f.GetName()] = number
		case json.Unmarshal([]byte(f.GetValueJson()), &point) == nil:
			for i, axis := range [3]string{"x", "y", "z"} {
				out[f.GetName()+"_"+axis+"_cm"] = point[i]
			}
		}
	}
	return out
}
