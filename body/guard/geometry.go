package guard

import (
	"interlock/body"
	"interlock/reject"
)

// checkLine holds the straight line from the present command to the setpoint against what the arm must not meet.
func (g *Guard) checkLine(s body.Setpoint, refuse func(reject.Rejection)) {
	if g.cfg.Geometry == nil {
		return
	}
	if b, blocked := g.cfg.Geometry.Line(g.command, s.PositionsRad, g.span(s.Over)); blocked {
		refuse(b.Refusal())
	}
}

// mayGoOn reports whether the ramp after a stop may take its next step: it goes on beyond what was sent.
func (g *Guard) mayGoOn(next []float64) bool {
	if g.cfg.Geometry == nil {
		return true
	}
	_, blocked := g.cfg.Geometry.Line(g.command, next, 0)
	return !blocked
}
