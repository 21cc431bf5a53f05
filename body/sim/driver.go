package sim

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"interlock/body"
	"interlock/reject"
	"interlock/units"
)

// Driver is a simulated body. It implements body.Stepper; it knows no latch, no expiry and no speed limit, which are
// body/guard's. Safe for concurrent use: a Halt from another goroutine waits for a running Advance.
type Driver struct {
	cfg Config

	mu      sync.Mutex
	open    bool
	world   World
	path    path
	applied uint64
	still   stillness
	camera  camera
	faults  faults
	random  *rand.Rand // dropped readings
}

var _ body.Stepper = (*Driver)(nil)

// path is the straight line in joint space that the goal follows.
type path struct {
	from, to [NumJoints]float64
	left     int // steps left to go
	total    int
}

// ErrDiverged is returned by Advance when the state is no longer finite; nothing it reports can be used any more.
var ErrDiverged = errors.New("sim: the state is not finite")

// New builds a simulated body; the error says what in the configuration cannot be simulated. The slices of the
// configuration are not kept.
func New(cfg Config) (*Driver, error) {
	cfg.Objects = append([]Object(nil), cfg.Objects...)
	cfg.Faults = append([]Fault(nil), cfg.Faults...)
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	d := &Driver{cfg: cfg, world: cfg.world()}
	d.path = path{from: cfg.StartRad, to: cfg.StartRad}
	d.random = rand.New(rand.NewPCG(cfg.Seed, dropStream))
	d.camera = newCamera(cfg.Camera, cfg.Seed, len(cfg.Objects))
	d.faults = newFaults(&d.cfg)
	d.faults.act(&d.world) // what is wrong from the start is wrong in the first reading too
	return d, nil
}

// Streams of the seeded generators.
const (
	cameraStream = 1
	dropStream   = 2
)

// Describe implements body.Driver.
func (d *Driver) Describe() body.Description {
	desc := body.Description{Name: "sim", Mode: body.ModeSim, Step: Step}
	for _, j := range joints {
		desc.Joints = append(desc.Joints, body.Joint{Name: j.name, MinRad: j.minRad, MaxRad: j.maxRad, MaxVelRadS: servoSpeed})
	}
	desc.Witnesses = []body.Witness{
		{Name: encoders, Facts: []string{FactTip}},
		{Name: gripperEncoder, Facts: []string{FactJawGap}},
		{Name: gripperCurrent, Facts: []string{FactJawLoad}},
		{Name: contactSensor, Facts: []string{FactTableForce}},
	}
	if d.cfg.Camera.RateHz > 0 {
		desc.Witnesses = append(desc.Witnesses, body.Witness{Name: cameraWitness, Facts: []string{FactObjects}})
	}
	return desc
}

// Open implements body.Driver: the goal is the present position, so nothing moves but the servos' sag under gravity.
func (d *Driver) Open() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open {
		return body.ErrOpen
	}
	d.open = true
	d.setGoal(d.world.angle)
	d.still = stillness{angles: d.world.angle, tip: d.world.tip()}
	d.camera.look(&d.world)
	return nil
}

// Send implements body.Driver. It refuses a setpoint of the wrong length (WRONG_TYPE), one that is not finite
// (NOT_FINITE) and one outside a joint's range (OUT_OF_RANGE); nothing is clipped.
func (d *Driver) Send(s body.Setpoint) (body.Sent, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.open {
		return body.Sent{}, body.ErrNotOpen
	}
	if err := checkSetpoint(s); err != nil {
		return body.Sent{}, err
	}
	d.path.from = d.world.goal
	copy(d.path.to[:], s.PositionsRad)
	d.path.total = max(1, int((s.Over+Step-1)/Step))
	d.path.left = d.path.total
	d.applied++
	return body.Sent{PositionsRad: append([]float64(nil), s.PositionsRad...), Applied: d.applied}, nil
}

func checkSetpoint(s body.Setpoint) error {
	if len(s.PositionsRad) != NumJoints {
		return reject.New(reject.WrongType, fmt.Sprintf("a setpoint has %d joint positions, not %d", NumJoints, len(s.PositionsRad))).In("positions_rad")
	}
	if s.Over < 0 {
		return reject.New(reject.OutOfRange, "a motion cannot take negative time").In("over")
	}
	for i, q := range s.PositionsRad {
		field := "positions_rad." + joints[i].name
		if !units.Finite(q) {
			return reject.New(reject.NotFinite, "a joint position is not finite").In(field)
		}
		if !(q >= joints[i].minRad && q <= joints[i].maxRad) {
			return reject.New(reject.OutOfRange, fmt.Sprintf("%s goes from %v to %v rad", joints[i].name, joints[i].minRad, joints[i].maxRad)).In(field)
		}
	}
	return nil
}

// Halt implements body.Driver: the goal stays where it is now, with torque on. body/guard decelerates before.
func (d *Driver) Halt() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.path.left = 0
	return nil
}

// Close implements body.Driver. The arm keeps its pose.
func (d *Driver) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open, d.path.left = false, 0
	return nil
}

// Advance implements body.Stepper. It allocates nothing but at camera frames of a body with faults.
func (d *Driver) Advance(by time.Duration) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case !d.open:
		return body.ErrNotOpen
	case by <= 0 || by%Step != 0:
		return fmt.Errorf("sim: cannot advance by %v: steps are %v", by, Step)
	}
	for range by / Step {
		d.step()
	}
	if !d.world.finite() {
		return ErrDiverged
	}
	return nil
}

func (d *Driver) step() {
	d.follow()
	d.faults.act(&d.world)
	d.world.Step()
	d.still.note(&d.world)
	d.camera.tick(&d.world)
}

// follow moves the goal along its path; a stuck joint's servo does not hear it.
func (d *Driver) follow() {
	p := &d.path
	if p.left == 0 {
		return
	}
	p.left--
	done := float64(p.total-p.left) / float64(p.total)
	for j := range p.to {
		if d.faults.stuck[j] {
			continue
		}
		q := p.from[j] + (p.to[j]-p.from[j])*done
		if p.left == 0 {
			q = p.to[j]
		}
		d.world.goal[j] = q
	}
}

func (d *Driver) setGoal(q [NumJoints]float64) {
	d.world.goal = q
	d.path = path{from: q, to: q}
}

// now is the plant's time.
func (d *Driver) now() units.Instant { return instant(d.world.steps) }

func instant(steps int64) units.Instant { return units.Instant(steps * int64(Step)) }

// World returns a copy of the physical state: a twin that goes on by itself.
func (d *Driver) World() World {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.world
}

// Standstill limits of DESIGN section 6: 0.02 rad/s and 2 mm over 100 ms.
const (
	stillSteps  = 50
	stillAngle  = 0.02 * stillSteps * dt // rad: 0.02 rad/s over the window; one step's speed would be a contact's jitter
	stillTravel = 0.002                  // m, of the tip
)

// stillness measures standstill: for how many steps every joint and the tip have stayed where that began.
type stillness struct {
	steps  int
	angles [NumJoints]float64
	tip    vec
}

func (s *stillness) note(w *World) {
	stays := w.tip().sub(s.tip).norm() < stillTravel
	for j, q := range w.angle {
		stays = stays && math.Abs(q-s.angles[j]) < stillAngle
	}
	if stays {
		s.steps++
		return
	}
	s.steps, s.angles, s.tip = 0, w.angle, w.tip()
}

func (s *stillness) still() bool { return s.steps >= stillSteps }
