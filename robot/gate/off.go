package gate

import "interlock/contract"

// Simulated is what only a simulated body has: access to the truth. It is the key to Off, so that no robot with
// hardware can be built without checks.
type Simulated interface {
	PeakTableForceN() float64
}

// Off returns a gate that lets every well-formed call through: no limits, conditions, licence or approval. It exists
// for eval/lab, which measures what the checks buy, and nobody else may call it (a test keeps that).
func Off(c *contract.Contract, a contract.Alignment, p Planner, _ Simulated) *Gate {
	return &Gate{contract: c, alignment: a, planner: p, off: true}
}
