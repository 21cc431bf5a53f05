package plant

import (
	"fmt"
	"time"

	"interlock/body/remote"
	driverv1 "interlock/body/remote/v1"
	"interlock/body/sim"
	"interlock/units"
)

func vector(v units.Vec3) *driverv1.Vector { return &driverv1.Vector{X: v[0], Y: v[1], Z: v[2]} }

// scenePB writes a configuration as it goes over the lab line.
func scenePB(c sim.Config, lie sim.Lie, lockstep bool) *driverv1.Scene {
	s := &driverv1.Scene{
		StartRad: c.StartRad[:], Tray: c.Tray, Seed: c.Seed, Lie: string(lie), Lockstep: lockstep,
		Camera: &driverv1.Camera{RateHz: c.Camera.RateHz, SigmaMm: c.Camera.SigmaMM, YawSigma: c.Camera.YawSigma, TellSigma: c.Camera.TellSigma},
	}
	for _, o := range c.Objects {
		s.Objects = append(s.Objects, &driverv1.SceneObject{Label: o.Label, Position: vector(o.Position), YawRad: o.YawRad, EdgeM: o.EdgeM, MassKg: o.MassKg})
	}
	for _, b := range c.Boxes {
		s.Boxes = append(s.Boxes, &driverv1.SceneBox{Centre: vector(b.Centre), Half: vector(b.Half)})
	}
	for _, f := range c.Faults {
		s.Faults = append(s.Faults, &driverv1.Fault{
			Kind: string(f.Kind), Fact: f.Fact, Joint: f.Joint, Object: f.Object, Other: f.Other, Amount: f.Amount, Vector: vector(f.Vector),
			When: string(f.When), AfterNs: int64(f.After), NearM: f.NearM, ForNs: int64(f.For),
		})
	}
	return s
}

// sceneFrom reads a scene. What it leaves out is as in sim.DefaultConfig; what cannot be simulated sim.New refuses.
func sceneFrom(s *driverv1.Scene) (sim.Config, error) {
	c := sim.DefaultConfig()
	c.Tray, c.Seed = s.GetTray(), s.GetSeed()
	switch n := len(s.GetStartRad()); n {
	case 0:
	case sim.NumJoints:
		c.StartRad = [sim.NumJoints]float64(s.GetStartRad())
	default:
		return c, fmt.Errorf("start_rad has %d joints, not %d", n, sim.NumJoints)
	}
	if k := s.GetCamera(); k != nil {
		c.Camera = sim.Camera{RateHz: k.GetRateHz(), SigmaMM: k.GetSigmaMm(), YawSigma: k.GetYawSigma(), TellSigma: k.GetTellSigma()}
	}
	for _, o := range s.GetObjects() {
		c.Objects = append(c.Objects, sim.Object{
			Label: o.GetLabel(), Position: remote.VectorFrom(o.GetPosition()), YawRad: o.GetYawRad(), EdgeM: o.GetEdgeM(), MassKg: o.GetMassKg(),
		})
	}
	for _, b := range s.GetBoxes() {
		c.Boxes = append(c.Boxes, sim.Box{Centre: remote.VectorFrom(b.GetCentre()), Half: remote.VectorFrom(b.GetHalf())})
	}
	for _, f := range s.GetFaults() {
		c.Faults = append(c.Faults, sim.Fault{
			Kind: sim.FaultKind(f.GetKind()), Fact: f.GetFact(), Joint: f.GetJoint(), Object: f.GetObject(), Other: f.GetOther(),
			Amount: f.GetAmount(), Vector: remote.VectorFrom(f.GetVector()), When: sim.Trigger(f.GetWhen()),
			After: time.Duration(f.GetAfterNs()), NearM: f.GetNearM(), For: time.Duration(f.GetForNs()),
		})
	}
	return c, nil
}
