package remote

import (
	"errors"
	"strings"
	"time"

	"interlock/body"
	driverv1 "interlock/body/remote/v1"
	"interlock/reject"
	"interlock/units"
)

// Protocol is the version of the driver protocol; a client refuses another one.
const Protocol = 1

// text is a string as a message can carry it.
func text(s string) string { return brief(s, maxText) }

func descriptionPB(d body.Description) *driverv1.Description {
	out := &driverv1.Description{Name: text(d.Name), Mode: text(string(d.Mode)), StepNs: int64(d.Step), Protocol: Protocol}
	for _, j := range d.Joints {
		out.Joints = append(out.Joints, &driverv1.Joint{Name: text(j.Name), MinRad: j.MinRad, MaxRad: j.MaxRad, MaxVelRadS: j.MaxVelRadS})
	}
	for _, w := range d.Witnesses {
		facts := make([]string, len(w.Facts))
		for i, f := range w.Facts {
			facts[i] = text(f)
		}
		out.Witnesses = append(out.Witnesses, &driverv1.Witness{Name: text(w.Name), Facts: facts})
	}
	return out
}

func descriptionFrom(p *driverv1.Description) body.Description {
	d := body.Description{Name: p.GetName(), Mode: body.Mode(p.GetMode()), Step: time.Duration(p.GetStepNs())}
	for _, j := range p.GetJoints() {
		d.Joints = append(d.Joints, body.Joint{Name: j.GetName(), MinRad: j.GetMinRad(), MaxRad: j.GetMaxRad(), MaxVelRadS: j.GetMaxVelRadS()})
	}
	for _, w := range p.GetWitnesses() {
		d.Witnesses = append(d.Witnesses, body.Witness{Name: w.GetName(), Facts: w.GetFacts()})
	}
	return d
}

func setpointFrom(p *driverv1.Setpoint) body.Setpoint {
	return body.Setpoint{
		PositionsRad: p.GetPositionsRad(), Over: time.Duration(p.GetOverNs()), Expires: units.Instant(p.GetExpiresNs()),
		Stop: p.GetStop(), Epoch: p.GetEpoch(),
	}
}

func observationPB(o *body.Observation) *driverv1.Observation {
	out := &driverv1.Observation{
		AtNs: int64(o.At), Standstill: o.Standstill, Holding: text(string(o.Holding)), Applied: o.Applied,
		JointsRad: o.JointsRad, GoalRad: o.GoalRad, Latch: latchPB(o.Latch),
		Health: &driverv1.Health{TorqueOn: o.Health.TorqueOn, BusOk: o.Health.BusOK, FaultCode: text(o.Health.FaultCode), MotionAllowed: o.Health.MotionAllowed},
	}
	for i := range o.Readings {
		out.Readings = append(out.Readings, readingPB(&o.Readings[i]))
	}
	return out
}

func latchPB(l body.Latch) *driverv1.Latch {
	return &driverv1.Latch{Stopped: l.Stopped, Number: l.Number, Reason: text(l.Reason)}
}

func latchFrom(p *driverv1.Latch) body.Latch {
	return body.Latch{Stopped: p.GetStopped(), Number: p.GetNumber(), Reason: p.GetReason()}
}

func observationFrom(p *driverv1.Observation) (body.Observation, error) {
	h := p.GetHealth()
	o := body.Observation{
		At: units.Instant(p.GetAtNs()), Standstill: p.GetStandstill(), Holding: body.HoldReason(p.GetHolding()), Applied: p.GetApplied(),
		JointsRad: p.GetJointsRad(), GoalRad: p.GetGoalRad(), Latch: latchFrom(p.GetLatch()),
		Health: body.Health{TorqueOn: h.GetTorqueOn(), BusOK: h.GetBusOk(), FaultCode: h.GetFaultCode(), MotionAllowed: h.GetMotionAllowed()},
	}
	for _, r := range p.GetReadings() {
		reading, err := readingFrom(r)
		if err != nil {
			return body.Observation{}, err
		}
		o.Readings = append(o.Readings, reading)
	}
	return o, nil
}

func readingPB(r *body.Reading) *driverv1.Reading {
	out := &driverv1.Reading{Fact: text(r.Fact), Witness: text(r.Witness), AtNs: int64(r.At), Sigma: r.Sigma}
	switch r.Kind {
	case body.Number:
		out.Value = &driverv1.Reading_Number{Number: r.Number}
	case body.Text:
		out.Value = &driverv1.Reading_Text{Text: strings.ToValidUTF8(r.Text, "\uFFFD")} // a value: never cut
	case body.Flag:
		out.Value = &driverv1.Reading_Flag{Flag: r.Flag}
	case body.Point:
		out.Value = &driverv1.Reading_Point{Point: vectorPB(r.Point)}
	case body.Poses:
		poses := &driverv1.Poses{}
		for i := range r.Objects {
			o := &r.Objects[i]
			poses.Objects = append(poses.Objects, &driverv1.SeenObject{
				Label: text(o.Label), Position: vectorPB(o.Pose.Position), Orientation: o.Pose.Orientation[:], Size: vectorPB(o.SizeM),
			})
		}
		out.Value = &driverv1.Reading_Poses{Poses: poses}
	}
	return out
}

func readingFrom(p *driverv1.Reading) (body.Reading, error) {
	r := body.Reading{Fact: p.GetFact(), Witness: p.GetWitness(), At: units.Instant(p.GetAtNs()), Sigma: p.GetSigma()}
	switch v := p.GetValue().(type) {
	case *driverv1.Reading_Number:
		r.Kind, r.Number = body.Number, v.Number
	case *driverv1.Reading_Text:
		r.Kind, r.Text = body.Text, v.Text
	case *driverv1.Reading_Flag:
		r.Kind, r.Flag = body.Flag, v.Flag
	case *driverv1.Reading_Point:
		r.Kind, r.Point = body.Point, VectorFrom(v.Point)
	case *driverv1.Reading_Poses:
		r.Kind, r.Objects = body.Poses, make([]body.SeenObject, 0, len(v.Poses.GetObjects()))
		for _, o := range v.Poses.GetObjects() {
			q, err := OrientationFrom(o.GetOrientation())
			if err != nil {
				return r, err
			}
			pose := units.Pose{Position: VectorFrom(o.GetPosition()), Orientation: q}
			r.Objects = append(r.Objects, body.SeenObject{Label: o.GetLabel(), Pose: pose, SizeM: VectorFrom(o.GetSize())})
		}
	default:
		return r, errors.New("remote: the reading of " + r.Fact + " has no value")
	}
	return r, nil
}

func vectorPB(v units.Vec3) *driverv1.Vector { return &driverv1.Vector{X: v[0], Y: v[1], Z: v[2]} }

// VectorFrom reads a vector; a missing one is zero.
func VectorFrom(p *driverv1.Vector) units.Vec3 { return units.Vec3{p.GetX(), p.GetY(), p.GetZ()} }

// OrientationFrom reads a quaternion, which has four parts.
func OrientationFrom(q []float64) (units.Quat, error) {
	if len(q) != 4 {
		return units.Quat{}, errors.New("remote: an orientation has four parts: w, x, y, z")
	}
	return units.Quat(q), nil
}

// rejectionsPB takes every refusal out of an error; ok is false if something in it is none.
func rejectionsPB(err error) (out []*driverv1.Rejection, ok bool) {
	if many, is := err.(interface{ Unwrap() []error }); is { //nolint:errorlint // the parts of a join, one by one
		for _, part := range many.Unwrap() {
			list, ok := rejectionsPB(part)
			if !ok {
				return nil, false
			}
			out = append(out, list...)
		}
		return out, len(out) > 0
	}
	var r reject.Rejection
	if !errors.As(err, &r) {
		return nil, false
	}
	return []*driverv1.Rejection{{
		Code: text(string(r.Code)), Rule: text(r.Rule), Field: text(r.Field), Got: text(r.Got), Limit: text(r.Limit), Unit: text(r.Unit),
		Retry: text(string(r.Retry)), AfterMs: int64(r.AfterMS), Says: text(r.Says),
	}}, true
}

// refusal joins the refusals of a reply into one error; nil if there are none.
func refusal(list []*driverv1.Rejection) error {
	errs := make([]error, 0, len(list))
	for _, p := range list {
		errs = append(errs, reject.Rejection{
			Code: reject.Code(p.GetCode()), Rule: p.GetRule(), Field: p.GetField(), Got: p.GetGot(), Limit: p.GetLimit(), Unit: p.GetUnit(),
			Retry: reject.Retry(p.GetRetry()), AfterMS: int(p.GetAfterMs()), Says: p.GetSays(),
		})
	}
	return errors.Join(errs...)
}
