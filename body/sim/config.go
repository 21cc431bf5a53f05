package sim

import (
	"fmt"
	"math"

	"interlock/units"
)

// Config says which world a simulated body stands in. The zero value is an empty table with the arm stretched out and
// no camera frames; DefaultConfig is what most callers start from.
type Config struct {
	StartRad [NumJoints]float64 // joint angles at the start
	Objects  []Object           // cubes, at most MaxCubes
	Boxes    []Box              // fixed scenery that only cubes meet, at most MaxBoxes
	Tray     bool               // adds the walls of TrayRegion; its floor is the table
	Camera   Camera
	Seed     uint64 // of the camera's noise and of dropped readings
	Faults   []Fault
}

// Object is one labelled cube.
type Object struct {
	Label    string
	Position units.Vec3 // centre, base frame, metres
	YawRad   float64
	EdgeM    float64 // 0: DefaultEdgeM
	MassKg   float64 // 0: DefaultMassKg
}

// Box is one fixed, axis-aligned box. Let floors be thick (4 cm): a falling cube moves millimetres per step and goes
// through thin ones.
type Box struct {
	Centre units.Vec3 // base frame, metres
	Half   units.Vec3 // half edge lengths, metres
}

// Camera is how the simulated camera sees the objects. All noise is on what is reported, never in the state.
type Camera struct {
	RateHz    float64 // frames a second; 0: no camera, and no reading of objects
	SigmaMM   float64 // standard deviation of the noise on each axis of each position, millimetres
	YawSigma  float64 // standard deviation of the noise on each yaw, radians
	TellSigma bool    // whether the reading tells SigmaMM; an honest camera does
}

// The cube of the published experiment: 3 cm, 27 g.
const (
	DefaultEdgeM  = 0.03
	DefaultMassKg = 0.027
)

// cameraHz is the default frame rate.
const cameraHz = 30

// HomeRad is the arm's home configuration with the jaw open wide enough to clear a cube.
func HomeRad() [NumJoints]float64 {
	return [NumJoints]float64{0, units.RadFromDeg(-40), units.RadFromDeg(35), units.RadFromDeg(75), units.RadFromDeg(90), 1.0}
}

// DefaultConfig is the arm at home on an empty table, with an exact camera at 30 Hz.
func DefaultConfig() Config {
	return Config{StartRad: HomeRad(), Camera: Camera{RateHz: cameraHz, TellSigma: true}}
}

// TrayRegion is the inside of the tray on the table: corners in metres, base frame.
func TrayRegion() (minM, maxM [2]float64) { return [2]float64{0.10, -0.20}, [2]float64{0.20, -0.10} }

// trayWalls are four walls 1 cm high and 1 cm thick around TrayRegion, reaching 4 cm below the table.
func trayWalls() []Box {
	const high, thick, deep = 0.01, 0.01, 0.04
	low, top := TrayRegion()
	z, hz := (high-deep)/2, (high+deep)/2
	midX, midY := (low[0]+top[0])/2, (low[1]+top[1])/2
	halfX, halfY := (top[0]-low[0])/2, (top[1]-low[1])/2
	alongX := units.Vec3{halfX + thick, thick / 2, hz}
	alongY := units.Vec3{thick / 2, halfY, hz}
	return []Box{
		{units.Vec3{midX, low[1] - thick/2, z}, alongX},
		{units.Vec3{midX, top[1] + thick/2, z}, alongX},
		{units.Vec3{low[0] - thick/2, midY, z}, alongY},
		{units.Vec3{top[0] + thick/2, midY, z}, alongY},
	}
}

// allBoxes is the scenery with the tray's walls.
func (c *Config) allBoxes() []Box {
	boxes := append([]Box(nil), c.Boxes...)
	if c.Tray {
		boxes = append(boxes, trayWalls()...)
	}
	return boxes
}

// validate reports the first thing in the configuration that cannot be simulated.
func (c *Config) validate() error {
	for j, q := range c.StartRad {
		if !(q >= joints[j].minRad && q <= joints[j].maxRad) {
			return fmt.Errorf("sim: start of joint %s is %v rad; its range is %v to %v", joints[j].name, q, joints[j].minRad, joints[j].maxRad)
		}
	}
	if err := c.validateObjects(); err != nil {
		return err
	}
	if n := len(c.allBoxes()); n > MaxBoxes {
		return fmt.Errorf("sim: %d boxes, at most %d (a tray takes 4)", n, MaxBoxes)
	}
	for i, b := range c.Boxes {
		if !b.Centre.Finite() || !b.Half.Finite() || !(math.Min(b.Half[0], math.Min(b.Half[1], b.Half[2])) > 0) {
			return fmt.Errorf("sim: box %d needs finite numbers and positive sizes", i)
		}
	}
	if err := c.Camera.validate(); err != nil {
		return err
	}
	for i := range c.Faults {
		if err := c.Faults[i].validate(c); err != nil {
			return fmt.Errorf("sim: fault %d (%s): %w", i, c.Faults[i].Kind, err)
		}
	}
	return nil
}

// Sizes and masses that the contact model was tried with, with some room.
const (
	minEdgeM, maxEdgeM   = 0.01, 0.10
	minMassKg, maxMassKg = 0.005, 2.0
	farM                 = 5.0 // nothing lies further from the base than this
)

func (c *Config) validateObjects() error {
	if len(c.Objects) > MaxCubes {
		return fmt.Errorf("sim: %d objects, at most %d", len(c.Objects), MaxCubes)
	}
	seen := map[string]bool{}
	for i, o := range c.Objects {
		edge, mass := o.edge(), o.mass()
		switch {
		case o.Label == "":
			return fmt.Errorf("sim: object %d has no label", i)
		case seen[o.Label]:
			return fmt.Errorf("sim: two objects are called %q", o.Label)
		case !units.Finite(o.YawRad) || !(o.Position.Norm() <= farM):
			return fmt.Errorf("sim: the pose of %q is not finite or further than %v m away", o.Label, farM)
		case !(edge >= minEdgeM && edge <= maxEdgeM):
			return fmt.Errorf("sim: the edge of %q is %v m; possible are %v to %v", o.Label, edge, minEdgeM, maxEdgeM)
		case !(mass >= minMassKg && mass <= maxMassKg):
			return fmt.Errorf("sim: the mass of %q is %v kg; possible are %v to %v", o.Label, mass, minMassKg, maxMassKg)
		}
		seen[o.Label] = true
	}
	return nil
}

func (o *Object) edge() float64 {
	if o.EdgeM == 0 {
		return DefaultEdgeM
	}
	return o.EdgeM
}

func (o *Object) mass() float64 {
	if o.MassKg == 0 {
		return DefaultMassKg
	}
	return o.MassKg
}

func (c Camera) validate() error {
	switch {
	case !(c.RateHz >= 0 && c.RateHz <= 500):
		return fmt.Errorf("sim: a camera of %v Hz; possible are 0 to 500", c.RateHz)
	case !(c.SigmaMM >= 0 && c.SigmaMM <= 100):
		return fmt.Errorf("sim: camera noise of %v mm; possible are 0 to 100", c.SigmaMM)
	case !(c.YawSigma >= 0 && c.YawSigma <= math.Pi):
		return fmt.Errorf("sim: camera noise of %v rad; possible are 0 to π", c.YawSigma)
	}
	return nil
}

// world builds the world at the start.
func (c *Config) world() World {
	w := newWorld(c.StartRad)
	for i := range c.Objects {
		o := &c.Objects[i]
		w.addCube(o.edge(), o.mass(), fromVec3(o.Position), o.YawRad)
	}
	for _, b := range c.allBoxes() {
		w.boxes[w.numBoxes] = fixedBox{fromVec3(b.Centre), fromVec3(b.Half)}
		w.numBoxes++
	}
	return w
}
