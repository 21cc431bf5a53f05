package robot

import (
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
