package sim

import (
	"math"
	"math/rand/v2"

	"interlock/body"
	"interlock/units"
)

// camera takes frames of the objects at its rate; between frames it shows the last one, with that frame's time.
type camera struct {
	cfg    Camera
	random *rand.Rand
	count  int // objects
	frames int64
	at     int64 // step of the last frame
	seen   [MaxCubes]units.Pose
}

func newCamera(cfg Camera, seed uint64, count int) camera {
	return camera{cfg: cfg, count: count, random: rand.New(rand.NewPCG(seed, cameraStream))}
}

// tick takes a frame when one is due: frame n at the first step not before n/RateHz.
func (c *camera) tick(w *World) {
	if c.cfg.RateHz > 0 && float64(w.steps)*dt >= float64(c.frames+1)/c.cfg.RateHz {
		c.frames++
		c.look(w)
	}
}

// look takes a frame now. Noise is drawn in the order of the objects: x, y, z, yaw.
func (c *camera) look(w *World) {
	c.at = w.steps
	for i := range c.count {
		p := units.Pose{Position: w.cubes[i].at.vec3(), Orientation: w.cubes[i].turnQ}
		if c.cfg.SigmaMM > 0 {
			for k := range p.Position {
				p.Position[k] += units.MetresFromMm(c.cfg.SigmaMM) * c.random.NormFloat64()
			}
		}
		if c.cfg.YawSigma > 0 {
			p.Orientation = yawed(p.Orientation, c.cfg.YawSigma*c.random.NormFloat64())
		}
		c.seen[i] = p
	}
}

// yawed turns an orientation about the base's z by an angle.
func yawed(q units.Quat, rad float64) units.Quat {
	c, s := math.Cos(rad/2), math.Sin(rad/2)
	return units.Quat{c*q[0] - s*q[3], c*q[1] - s*q[2], c*q[2] + s*q[1], c*q[3] + s*q[0]}
}

// reading is the last frame.
func (c *camera) reading(objects []Object) body.Reading {
	r := body.Reading{Fact: FactObjects, Witness: cameraWitness, Kind: body.Poses, At: instant(c.at)}
	if c.cfg.TellSigma {
		r.Sigma = c.cfg.SigmaMM
	}
	r.Objects = make([]body.SeenObject, len(objects))
	for i := range objects {
		e := objects[i].edge()
		r.Objects[i] = body.SeenObject{Label: objects[i].Label, Pose: c.seen[i], SizeM: units.Vec3{e, e, e}}
	}
	return r
}
