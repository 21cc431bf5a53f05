package skill_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"interlock/arm"
	"interlock/body"
	"interlock/body/guard"
	"interlock/body/sim"
	"interlock/contract"
	contractv1 "interlock/contract/v1"
	"interlock/robot"
	"interlock/robot/gate"
	"interlock/robot/skill"
	"interlock/transport"
	"interlock/transport/inproc"
	"interlock/units"
)

const shippedFile = "../../robots/so101-tabletop.yaml"

// shipped is the contract of the robot, with pieces of its text replaced: pairs of what is there once and what is instead.
func shipped(t testing.TB, edits ...string) *contract.Contract {
	t.Helper()
	c, err := contract.Load("test.yaml", []byte(edited(t, edits...)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func edited(t testing.TB, edits ...string) string {
	t.Helper()
	src, err := os.ReadFile(shippedFile)
	if err != nil {
		t.Fatal(err)
	}
	text := string(src)
	for i := 0; i < len(edits); i += 2 {
		if strings.Count(text, edits[i]) != 1 {
			t.Fatalf("the contract file does not hold %q once", edits[i])
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	return text
}

// play says what is on a stage.
type play struct {
	edits   []string // of the contract
	sources skill.Sources
	open    bool // without a geometry in the guard
}

// stage is a whole robot folded into one process in virtual time: simulator, guard, robot, line.
type stage struct {
	t      *testing.T
	truth  body.Truth
	guard  *guard.Guard
	client transport.Client
	pacer  *pausing
}

// onStage plays a test on a stage of its own, in a bubble.
func onStage(t *testing.T, p play, test func(*testing.T, *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := shipped(t, p.edits...)
		plant, err := sim.New(sim.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		planner, err := skill.NewPlanner(c, skill.Solver(c.Solver))
		if err != nil {
			t.Fatal(err)
		}
		if planner, err = planner.WithSources(p.sources); err != nil {
			t.Fatal(err)
		}
		s := &stage{t: t, truth: plant.Truth(), guard: guard.New(plant, guardOf(t, c, !p.open))}
		s.pacer = &pausing{inner: robot.Lockstep(s.guard)}
		a := robot.Align(c, plant.Describe(), planner)
		r, err := robot.New(robot.Config{Contract: c, Alignment: a, Gate: gate.New(c, a, planner), Body: s.guard, Pacer: s.pacer, MaxMissions: 8})
		if err != nil {
			t.Fatal(err)
		}
		s.client = inproc.New(r)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		defer func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("the robot ended with %v", err)
			}
		}()
		synctest.Wait()
		test(t, s)
	})
}

func guardOf(t testing.TB, c *contract.Contract, geometry bool) guard.Config {
	t.Helper()
	chain := arm.SO101()
	cfg := guard.Config{Tip: func(q []float64) units.Vec3 {
		s, _ := arm.ServosOf(q)
		return chain.Tip(s.Joints())
	}}
	for _, k := range c.Capabilities {
		cfg.Ceiling.TipSpeedMPS = max(cfg.Ceiling.TipSpeedMPS, k.Limits.TipSpeedMPS)
		cfg.Ceiling.JointSpeedRadS = max(cfg.Ceiling.JointSpeedRadS, k.Limits.JointSpeedRadS)
	}
	if geometry {
		space, ok := chain.Space()
		if !ok {
			t.Fatal("no space")
		}
		cfg.Geometry = space
	}
	return cfg
}

// pausing is a pacer that a test stops at a tick.
type pausing struct {
	inner robot.Pacer
	mu    sync.Mutex
	ticks int
	at    int
	until chan struct{}
}

// Tick implements robot.Pacer.
func (p *pausing) Tick(ctx context.Context) error {
	p.mu.Lock()
	p.ticks++
	wait := p.until
	if p.ticks != p.at {
		wait = nil
	}
	p.mu.Unlock()
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return p.inner.Tick(ctx)
}

// during starts a mission, lets act happen in its n-th tick from the start, and returns the mission's events.
func (s *stage) during(id, verb, args string, n int, act func()) []*contractv1.Event {
	s.t.Helper()
	s.pacer.mu.Lock()
	resume := make(chan struct{})
	s.pacer.at, s.pacer.until = s.pacer.ticks+n, resume
	s.pacer.mu.Unlock()
	s.begin(id, verb, args)
	synctest.Wait() // the robot stands in that tick
	acted := make(chan struct{})
	go func() { act(); close(acted) }()
	synctest.Wait() // what was asked lies at the robot's door
	close(resume)
	<-acted
	return s.events(id)
}

// begin starts a mission that must be accepted.
func (s *stage) begin(id, verb, args string) {
	s.t.Helper()
	ack, err := s.client.Start(s.t.Context(), &contractv1.StartRequest{MissionId: id, Capability: verb, ArgsJson: []byte(args)})
	if err != nil || !ack.GetAccepted() {
		s.t.Fatalf("%s %s %s: %v, %v", id, verb, args, ack.GetRejections(), err)
	}
}

// do plays a mission to its end and returns its events.
func (s *stage) do(id, verb, args string) []*contractv1.Event {
	s.t.Helper()
	s.begin(id, verb, args)
	return s.events(id)
}

func (s *stage) events(id string) (all []*contractv1.Event) {
	s.t.Helper()
	for e, err := range s.client.Events(s.t.Context(), &contractv1.EventsRequest{MissionId: id}) {
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, e)
	}
	if len(all) == 0 {
		s.t.Fatalf("mission %s has no events", id)
	}
	return all
}

// kinds are the words of events, with the phase of those that name one.
func kinds(events []*contractv1.Event) (words []string) {
	for _, e := range events {
		w := e.GetKind().String()
		if w == "PHASE" {
			w += " " + e.GetPhase()
		}
		words = append(words, w)
	}
	return words
}

// ending is the last word, as KIND or KIND(reason up to the first colon or blank).
func ending(events []*contractv1.Event) string {
	e := events[len(events)-1]
	reason, _, _ := strings.Cut(e.GetReason(), ":")
	reason, _, _ = strings.Cut(reason, " ")
	if reason == "" {
		return e.GetKind().String()
	}
	return e.GetKind().String() + "(" + reason + ")"
}

// measured is what the encoders read.
func (s *stage) measured() arm.Servos {
	s.t.Helper()
	o, err := s.guard.Observe()
	q, ok := arm.ServosOf(o.JointsRad)
	if err != nil || !ok {
		s.t.Fatalf("%v, %v", o.JointsRad, err)
	}
	return q
}

// pressed is the largest force on the table so far, newtons.
func (s *stage) pressed() float64 { return s.truth.PeakTableForceN() }

const roboTick = 20 * time.Millisecond
