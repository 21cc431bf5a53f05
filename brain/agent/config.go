package agent

import (
	"errors"
	"time"

	"interlock/brain/action"
	"interlock/brain/llm"
	"interlock/brain/tool"
	contractv1 "interlock/contract/v1"
	"interlock/transport"
)

// Config says who plays and within which bounds. A bound that is 0 has its default; negative ones are refused.
type Config struct {
	Client   transport.Client
	Provider llm.Provider
	Profile  action.Profile // how this model's envelope departs from the plain one
	Sampling llm.Sampling
	Native   bool // offer tools through the provider's own field too
	// Constrained has the provider hold every reply to the schema of one call, which always has a branch to decline; not
	// together with Native.
	Constrained bool
	Lease       *contractv1.Lease // sent with every start; nil: none
	// Functions are Go functions offered beside the robot's capabilities.
	Functions []tool.Function

	MaxModelCalls  int // model calls in all, default 12
	MaxCorrections int // unreadable replies in a row that are answered with feedback, default 2; one more ends the run
	MaxReplans     int // motions asked for after one that did not succeed, default 5
	MaxRepeats     int // starts of one and the same motion, default 2
	MaxReportCalls int // model calls left for the report once the task is closed, default 3

	Tracer Tracer               // gets every step; nil: none
	Now    func() time.Duration // clock for latencies, monotonic; nil: latencies are 0
}

// validated returns the config with defaults in place.
func (c Config) validated() (Config, error) {
	if c.Client == nil || c.Provider == nil {
		return c, errors.New("agent: a client and a provider are needed")
	}
	if c.Native && c.Constrained {
		return c, errors.New("agent: replies are native or constrained, not both")
	}
	for _, bound := range []struct {
		at       *int
		standard int
	}{{&c.MaxModelCalls, 12}, {&c.MaxCorrections, 2}, {&c.MaxReplans, 5}, {&c.MaxRepeats, 2}, {&c.MaxReportCalls, 3}} {
		if *bound.at < 0 {
			return c, errors.New("agent: a bound is negative")
		}
		if *bound.at == 0 {
			*bound.at = bound.standard
		}
	}
	if c.Now == nil {
		c.Now = func() time.Duration { return 0 }
	}
	if c.Tracer == nil {
		c.Tracer = nowhere{}
	}
	return c, nil
}
