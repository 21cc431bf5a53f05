package plant

import (
	"context"
	"errors"
	"fmt"
	"time"

	"interlock/body"
	"interlock/body/remote"
	driverv1 "interlock/body/remote/v1"
	"interlock/body/sim"
	"interlock/units"
)

// World is what a lab line reaches: a Plant, a driver process with its plant inside, or one in front of a plant.
type World interface {
	SetUp(cfg sim.Config, lie sim.Lie, lockstep bool) error
	Advance(by time.Duration) error
	// Truth is nil where the world is another process's: that one tells it.
	Truth() body.Truth
}

// Serve returns the lab line's service for the world; see remote.LabHandler.
func Serve(w World) driverv1.LabHandler { return labServer{w} }

type labServer struct{ world World }

func (s labServer) SetUp(_ context.Context, q *driverv1.Scene) (*driverv1.SetUpReply, error) {
	cfg, err := sceneFrom(q)
	if err == nil {
		err = s.world.SetUp(cfg, sim.Lie(q.GetLie()), q.GetLockstep())
	}
	if err != nil {
		return &driverv1.SetUpReply{Refused: err.Error()}, nil
	}
	return &driverv1.SetUpReply{}, nil
}

func (s labServer) Advance(_ context.Context, q *driverv1.AdvanceRequest) (*driverv1.AdvanceReply, error) {
	if err := s.world.Advance(time.Duration(q.GetByNs())); err != nil {
		return &driverv1.AdvanceReply{Refused: err.Error()}, nil
	}
	return &driverv1.AdvanceReply{}, nil
}

func (s labServer) Truth(context.Context, *driverv1.TruthRequest) (*driverv1.TruthReply, error) {
	t := s.world.Truth()
	if t == nil {
		return nil, errElsewhere
	}
	out := &driverv1.TruthReply{NowNs: int64(t.Now()), Tip: vector(t.TipInBase()), TableForceN: t.TableForceN(), PeakTableForceN: t.PeakTableForceN()}
	for _, label := range t.Labels() {
		o, ok := t.Object(label)
		if !ok {
			continue
		}
		out.Objects = append(out.Objects, &driverv1.TrueObject{
			Label: label, Position: vector(o.Pose.Position), Orientation: o.Pose.Orientation[:], Size: vector(o.SizeM),
			BottomM: o.BottomM, SpeedMps: o.SpeedMPS, JawsTouch: int32(o.JawsTouch), RobotForceN: o.RobotForce,
		})
	}
	return out, nil
}

// errElsewhere is what a process without a world answers to who asks for the truth.
var errElsewhere = errors.New("plant: the world is another process; ask it for the truth")

// Lab is the evaluation's end of a lab line.
type Lab struct {
	rpc   driverv1.LabClient
	close func()
}

// labCall is the deadline of one call on the lab line: a long Advance is real work.
const labCall = 10 * time.Second

// DialLab builds a client of a lab socket. Nothing is touched before the first call.
func DialLab(addr string) *Lab {
	client, base, options := remote.LabLine(addr)
	return &Lab{rpc: driverv1.NewLabClient(client, base, options...), close: client.CloseIdleConnections}
}

// Close ends the idle connections.
func (l *Lab) Close() { l.close() }

// SetUp builds the world anew.
func (l *Lab) SetUp(cfg sim.Config, lie sim.Lie, lockstep bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), labCall)
	defer cancel()
	p, err := l.rpc.SetUp(ctx, scenePB(cfg, lie, lockstep))
	switch {
	case err != nil:
		return err
	case p.GetRefused() != "":
		return errors.New(p.GetRefused())
	}
	return nil
}

// Advance moves the world's time in lockstep.
func (l *Lab) Advance(by time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), labCall)
	defer cancel()
	p, err := l.rpc.Advance(ctx, &driverv1.AdvanceRequest{ByNs: int64(by)})
	switch {
	case err != nil:
		return err
	case p.GetRefused() != "":
		return errors.New(p.GetRefused())
	}
	return nil
}

// Look reads what is so at this moment: a port to one instant, which does not change afterwards.
func (l *Lab) Look() (body.Truth, error) {
	ctx, cancel := context.WithTimeout(context.Background(), labCall)
	defer cancel()
	p, err := l.rpc.Truth(ctx, &driverv1.TruthRequest{})
	if err != nil {
		return nil, err
	}
	t := moment{reply: p, objects: map[string]body.TrueObject{}}
	for _, o := range p.GetObjects() {
		q, err := remote.OrientationFrom(o.GetOrientation())
		if err != nil {
			return nil, fmt.Errorf("truth of %q: %w", o.GetLabel(), err)
		}
		t.objects[o.GetLabel()] = body.TrueObject{
			Pose: units.Pose{Position: remote.VectorFrom(o.GetPosition()), Orientation: q}, SizeM: remote.VectorFrom(o.GetSize()),
			BottomM: o.GetBottomM(), SpeedMPS: o.GetSpeedMps(), JawsTouch: int(o.GetJawsTouch()), RobotForce: o.GetRobotForceN(),
		}
	}
	return t, nil
}

// moment is the truth of one instant.
type moment struct {
	reply   *driverv1.TruthReply
	objects map[string]body.TrueObject
}

func (t moment) TipInBase() units.Vec3    { return remote.VectorFrom(t.reply.GetTip()) }
func (t moment) TableForceN() float64     { return t.reply.GetTableForceN() }
func (t moment) PeakTableForceN() float64 { return t.reply.GetPeakTableForceN() }
func (t moment) Now() units.Instant       { return units.Instant(t.reply.GetNowNs()) }

func (t moment) Object(label string) (body.TrueObject, bool) {
	o, ok := t.objects[label]
	return o, ok
}

func (t moment) Labels() []string {
	labels := make([]string, 0, len(t.reply.GetObjects()))
	for _, o := range t.reply.GetObjects() {
		labels = append(labels, o.GetLabel())
	}
	return labels
}

// Stepped is a driver in another process whose time the lab line moves: a body.Stepper for lockstep.
type Stepped struct {
	*remote.Driver
	Lab *Lab
}

var _ body.Stepper = Stepped{}

// Advance implements body.Stepper.
func (s Stepped) Advance(by time.Duration) error {
	if !s.Opened() {
		return body.ErrNotOpen
	}
	return s.Lab.Advance(by)
}
