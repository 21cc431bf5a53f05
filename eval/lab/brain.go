package lab

import (
	"encoding/json"
	"fmt"

	"interlock/brain/action"
	"interlock/brain/agent"
	"interlock/brain/llm"
	"interlock/brain/llm/scripted"
	"interlock/eval"
)

// Brain is a model as an agent of a run: whom to ask, and how its replies are asked for and read. The provider serves
// many episodes at one time.
type Brain struct {
	Provider            llm.Provider
	Profile             action.Profile
	Native, Constrained bool // see agent.Config
	Sampling            llm.Sampling
}

// Pinned reports whether the sampling leaves the provider no choice: a temperature of 0, or one with a seed.
func (b Brain) Pinned() bool {
	t := b.Sampling.Temperature
	return t != nil && (*t == 0 || b.Sampling.Seed != nil)
}

// parameters is what of a brain goes into a run's setup hash.
func (b Brain) parameters() string {
	text, err := json.Marshal(struct {
		Model               string
		Profile             action.Profile
		Native, Constrained bool
		Sampling            llm.Sampling
	}{b.Provider.Name(), b.Profile, b.Native, b.Constrained, b.Sampling})
	if err != nil {
		return fmt.Sprintf("not representable: %v", err) // a temperature that is not finite
	}
	return string(text)
}

// put writes the brain into an agent's config.
func (b Brain) put(cfg *agent.Config) {
	cfg.Provider, cfg.Profile, cfg.Native, cfg.Constrained, cfg.Sampling = b.Provider, b.Profile, b.Native, b.Constrained, b.Sampling
}

// brain builds the agent's brain. Only the truth-reader is handed anything of the scene, and only a yes or no.
func (l *Lab) brain(spec *eval.EpisodeSpec, s *scene) (Brain, error) {
	if l.replay != nil {
		o := &l.replay.Opening
		return Brain{
			Provider: &recorded{name: spec.Agent, replies: l.replay.Replies},
			Profile:  o.Profile, Native: o.Native, Constrained: o.Constrained, Sampling: o.Sampling,
		}, nil
	}
	if b, ok := l.brains[spec.Agent]; ok {
		return b, nil
	}
	if spec.Agent == TruthReader {
		return Brain{Provider: scripted.TruthReader(func() bool { return spec.Scenario.Feasible && s.verdict().Done })}, nil
	}
	p, err := scripted.New(spec.Agent)
	return Brain{Provider: p}, err
}
