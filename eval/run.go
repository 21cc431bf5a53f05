package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"interlock/eval/judge"
)

// Plan says what to run of a suite.
type Plan struct {
	Agents  []string
	Gates   []bool // true: ON; OFF exists in the lab only
	Repeats int    // of every seed; 0 means 1
	Body    string // name of the body: "sim"
	Workers int    // episodes at one time; 0 means 1
	// Progress is called after every episode, from one goroutine at a time; nil: not at all.
	Progress func(done, total int, last *Episode)
}

// check refuses a plan that would count an episode twice.
func (p *Plan) check() error {
	for i, a := range p.Agents {
		if slices.Contains(p.Agents[:i], a) {
			return fmt.Errorf("%w: agent %s", ErrTwice, a)
		}
	}
	for i, g := range p.Gates {
		if slices.Contains(p.Gates[:i], g) {
			return fmt.Errorf("%w: gate %s", ErrTwice, gateWord(g))
		}
	}
	return nil
}

// MaxVoidShare is the share of episodes that may fail by our own fault; beyond it the run counts for nothing.
const MaxVoidShare = 0.02

// Errors of a run that callers tell apart.
var (
	ErrNoTest      = errors.New("eval: no test ran")
	ErrTwice       = errors.New("eval: the plan names something twice")
	ErrHoldsBefore = errors.New("eval: a goal or criterion already holds at the start")
	ErrEmptyHanded = errors.New("eval: a scenario passed although nothing moved")
	ErrTooManyVoid = errors.New("eval: more than 2 % of the episodes failed by our own fault")
)

// Void is an episode that our own machinery broke. It counts for nobody.
type Void struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// Report is a whole run.
type Report struct {
	Suite     string              `json:"suite"`
	About     string              `json:"about"`
	SuiteHash string              `json:"suite_hash"`
	Bench     Bench               `json:"bench"`
	Body      string              `json:"body"`
	Agents    []string            `json:"agents"`
	Gates     []bool              `json:"gates"`
	Surplus   map[string][]string `json:"surplus,omitempty"` // scenario → criteria that ask more than goal and words
	SetupHash string              `json:"setup_hash"`
	Episodes  []Episode           `json:"-"` // in the plan's order, whatever the workers did
	Voids     []Void              `json:"voids,omitempty"`
}

// Last returns the line that identifies the run.
func (r *Report) Last() Last {
	return Last{SetupHash: r.SetupHash, OutcomeSignature: signRun(r.Episodes), N: len(r.Episodes), Distinct: distinct(r.Episodes)}
}

// Run plays the plan. Episodes stand in the report in the plan's order: scenario, seed, agent, gate, repeat. On
// ErrEmptyHanded and ErrTooManyVoid the report is complete and shows why; other errors return what was played so far.
func Run(ctx context.Context, suite Suite, plan Plan, b Builder) (Report, error) {
	specs := specsOf(&suite, &plan)
	if err := plan.check(); err != nil {
		return Report{}, err
	}
	if len(specs) == 0 {
		return Report{}, fmt.Errorf("%w: %d scenarios, %d agents, %d gate settings", ErrNoTest, len(suite.Scenarios), len(plan.Agents), len(plan.Gates))
	}
	bench := b.Bench()
	report := Report{
		Suite: suite.Name, About: suite.About, SuiteHash: suite.Hash, Bench: bench, Body: plan.Body, Agents: plan.Agents,
		Gates: plan.Gates, Surplus: map[string][]string{}, SetupHash: setupHash(&suite, &plan, &bench),
	}
	for i := range suite.Scenarios {
		if s := &suite.Scenarios[i]; len(s.Surplus) > 0 {
			report.Surplus[s.ID] = s.Surplus
		}
	}
	if err := checkStarts(ctx, specs, b); err != nil {
		return report, err
	}
	report.Episodes, report.Voids = play(ctx, &suite, &plan, specs, b)
	if err := ctx.Err(); err != nil {
		return report, fmt.Errorf("eval: run: %w", err)
	}
	return report, report.check()
}

// check says whether the run may count at all.
func (r *Report) check() error {
	total := len(r.Episodes) + len(r.Voids)
	if float64(len(r.Voids)) > MaxVoidShare*float64(total) {
		return fmt.Errorf("%w: %d of %d, the first: %s: %s", ErrTooManyVoid, len(r.Voids), total, r.Voids[0].ID, r.Voids[0].Why)
	}
	for i := range r.Episodes {
		if e := &r.Episodes[i]; e.Record.Done && e.Record.Missions == 0 {
			return fmt.Errorf("%w: %s", ErrEmptyHanded, e.ID)
		}
	}
	return nil
}

// specsOf lists every episode of a plan in its order.
func specsOf(suite *Suite, plan *Plan) []EpisodeSpec {
	var out []EpisodeSpec
	for i := range suite.Scenarios {
		s := &suite.Scenarios[i]
		for _, seed := range s.Seeds {
			setup := s.Varied(seed)
			for _, agent := range plan.Agents {
				for _, gate := range plan.Gates {
					for repeat := range max(1, plan.Repeats) {
						out = append(out, EpisodeSpec{
							ID:       fmt.Sprintf("%s/%s/%s/s%d/r%d", s.ID, agent, gateWord(gate), seed, repeat),
							Scenario: s, Setup: setup, Agent: agent, Gate: gate, Body: plan.Body, Seed: seed, Repeat: repeat,
						})
					}
				}
			}
		}
	}
	return out
}

// checkStarts refuses a run of which a goal or criterion holds before anything was done. Each initial state is built
// once.
func checkStarts(ctx context.Context, specs []EpisodeSpec, b Builder) error {
	seen := map[string]bool{}
	for i := range specs {
		spec := specs[i]
		key := startHash(spec.Scenario, spec.Setup)
		if seen[key] {
			continue
		}
		seen[key] = true
		spec.Setup.Objects = slices.Clone(spec.Setup.Objects)
		start, err := b.Start(ctx, spec)
		if err != nil {
			return fmt.Errorf("eval: start of %s: %w", spec.ID, err)
		}
		if start.Goal == "true" {
			return fmt.Errorf("%w: %s, seed %d: goal %s", ErrHoldsBefore, spec.Scenario.ID, spec.Seed, spec.Scenario.Goal)
		}
		holding, err := judge.HoldingAtStart(spec.Scenario.Criteria, start.Truth)
		if err != nil {
			return fmt.Errorf("eval: start of %s: %w", spec.ID, err)
		}
		if len(holding) > 0 {
			return fmt.Errorf("%w: %s, seed %d: %s", ErrHoldsBefore, spec.Scenario.ID, spec.Seed, holding[0])
		}
	}
	return nil
}

// played is one slot of the result, filled by whichever worker took it.
type played struct {
	episode *Episode
	void    *Void
}

// play runs the episodes on the plan's workers and returns them in the order of specs.
func play(ctx context.Context, suite *Suite, plan *Plan, specs []EpisodeSpec, b Builder) ([]Episode, []Void) {
	slots := make([]played, len(specs))
	next := make(chan int)
	var workers sync.WaitGroup
	var reporting sync.Mutex
	finished := 0
	for range max(1, plan.Workers) {
		workers.Go(func() {
			for i := range next {
				slots[i] = playOne(ctx, suite, specs[i], b)
				reporting.Lock()
				finished++
				if plan.Progress != nil {
					plan.Progress(finished, len(specs), slots[i].episode)
				}
				reporting.Unlock()
			}
		})
	}
feed:
	for i := range specs {
		select {
		case next <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	workers.Wait()
	var episodes []Episode
	var voids []Void
	for _, s := range slots {
		if s.episode != nil {
			episodes = append(episodes, *s.episode)
		}
		if s.void != nil {
			voids = append(voids, *s.void)
		}
	}
	return episodes, voids
}

func playOne(ctx context.Context, suite *Suite, spec EpisodeSpec, b Builder) played {
	spec.Setup.Objects = slices.Clone(spec.Setup.Objects)
	outcome, err := b.Episode(ctx, spec)
	switch {
	case err != nil:
		return played{void: &Void{ID: spec.ID, Why: err.Error()}}
	case !outcome.finite():
		return played{void: &Void{ID: spec.ID, Why: "truth is not finite: the simulator blew up"}}
	case !slices.Contains(TaskWords(), outcome.Task):
		return played{void: &Void{ID: spec.ID, Why: fmt.Sprintf("the builder left the task as %q", outcome.Task)}}
	}
	e := episode(suite, &spec, &outcome)
	return played{episode: &e}
}
