package sim

import (
	"math"

	"interlock/body"
)

// The facts the simulated body can witness.
const (
	FactTip        = "tip"           // point, metres, base frame
	FactJawGap     = "jaw_gap_mm"    // number
	FactJawLoad    = "jaw_load_pct"  // number, share of the servo's largest torque
	FactTableForce = "table_force_n" // number, sum of the normal forces between robot and table now
	FactObjects    = "objects"       // poses, base frame
)

// The witnesses.
const (
	encoders       = "encoders"
	gripperEncoder = "gripper_encoder"
	gripperCurrent = "gripper_current"
	contactSensor  = "contact_sensor"
	cameraWitness  = "camera"
)

// Observe implements body.Driver. What faults change is changed here, on the report.
func (d *Driver) Observe() (body.Observation, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.open {
		return body.Observation{}, body.ErrNotOpen
	}
	w := &d.world
	o := body.Observation{
		At:         d.now(),
		Readings:   d.readings(),
		Standstill: d.still.still(),
		Applied:    d.applied,
		JointsRad:  make([]float64, NumJoints),
		GoalRad:    append([]float64(nil), d.path.to[:]...),
		Health:     body.Health{TorqueOn: true, BusOK: true, MotionAllowed: true},
	}
	measured := d.measured()
	copy(o.JointsRad, measured[:])
	if d.path.left == 0 {
		copy(o.GoalRad, w.goal[:])
	}
	o.Readings = d.faults.report(o.Readings, o.At, d.random)
	return o, nil
}

// measured is what the joints' encoders read.
func (d *Driver) measured() [NumJoints]float64 {
	q := d.world.angle
	for j := range q {
		q[j] += d.faults.encoderError[j]
	}
	return q
}

func (d *Driver) readings() []body.Reading {
	w, at, q := &d.world, d.now(), d.measured()
	rs := []body.Reading{
		{Fact: FactTip, Witness: encoders, Kind: body.Point, Point: TipInBase(q), At: at},
		{Fact: FactJawGap, Witness: gripperEncoder, Kind: body.Number, Number: JawGapMM(q[jaw]), At: at},
		{Fact: FactJawLoad, Witness: gripperCurrent, Kind: body.Number, Number: math.Abs(w.effort[jaw]) / maxEffortNm * 100, At: at},
		{Fact: FactTableForce, Witness: contactSensor, Kind: body.Number, Number: w.tableN, At: at},
	}
	if d.cfg.Camera.RateHz > 0 {
		rs = append(rs, d.camera.reading(d.cfg.Objects))
	}
	return rs
}

// jawGaps is the distance between the centres of the two jaws' tip spheres against the jaw's angle, from MuJoCo 3.14 on
// the Menagerie model.
var jawGaps = [...]struct{ rad, mm float64 }{
	{-0.1745, 4.13}, {0, 16.31}, {0.2, 32.06}, {0.3, 39.89}, {0.5, 55.27}, {0.7, 70.12}, {1.0, 91.05}, {1.5, 121.21}, {1.7453, 133.36},
}

// tipSpheresMM is the two radii between those centres and the surfaces.
const tipSpheresMM = 1.5

// JawGapMM returns the free width between the jaws' tips, millimetres, for a jaw angle in radians. Beyond the table's
// ends (the joint's stops) the end value holds.
func JawGapMM(jawRad float64) float64 {
	if jawRad <= jawGaps[0].rad {
		return jawGaps[0].mm - tipSpheresMM
	}
	for i := 1; i < len(jawGaps); i++ {
		a, b := jawGaps[i-1], jawGaps[i]
		if jawRad <= b.rad {
			return a.mm + (b.mm-a.mm)*(jawRad-a.rad)/(b.rad-a.rad) - tipSpheresMM
		}
	}
	return jawGaps[len(jawGaps)-1].mm - tipSpheresMM
}
