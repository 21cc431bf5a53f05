package gate

import (
	"interlock/contract"
	"interlock/reject"
)

// Simulated is what only a simulated body has: access to the truth. It is the key to Off, so that no robot with
// hardware can be built without checks.
type Simulated interface {
	// PeakTableForceN returns the largest force on the table so far, newtons.
	PeakTableForceN() float64
}

// Off returns a gate that lets every well-formed call through: no limits, conditions, licence or approval. What is no
// call at all, a stop and a running motion still refuse. It exists for eval/lab, which measures what the checks buy,
// and nobody else may call it (a test keeps that). Without a simulated body it is the gate with every check.
func Off(c *contract.Contract, a contract.Alignment, p Planner, body Simulated) *Gate {
	g := New(c, a, p)
	if body == nil {
		return g
	}
	g.off = true
	g.stages = []func(*judgement) reject.List{
		(*judgement).decode, (*judgement).known, (*judgement).free, (*judgement).shape, (*judgement).bind, (*judgement).planned,
	}
	return g
}
