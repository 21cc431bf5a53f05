package robot

import (
	"context"

	"interlock/body"
	"interlock/contract"
	"interlock/robot/gate"
)

// Align holds a contract against a body and a planner: which of its words they can fill, and which capabilities are
// therefore withdrawn.
func Align(c *contract.Contract, d body.Description, p gate.Planner) contract.Alignment {
	offer := contract.Offer{Mode: string(d.Mode), Skills: p.Skills()}
	for _, w := range d.Witnesses {
		offer.Witnesses = append(offer.Witnesses, contract.Witness{Name: w.Name, Facts: w.Facts})
	}
	return c.Align(offer)
}

// Realign takes another alignment and the gate made with it, for a body that came back as another one: its manifest has
// another hash, and what it can no longer fill is refused from then on. A mission that moves keeps what it was judged by.
func (r *Robot) Realign(ctx context.Context, a contract.Alignment, g *gate.Gate) error {
	_, err := do(ctx, r, func() struct{} {
		r.cfg.Alignment, r.cfg.Gate = a, g
		r.manifest.Store(r.cfg.Contract.Manifest(a))
		return struct{}{}
	})
	return err
}
