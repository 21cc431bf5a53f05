package lab_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock/body"
	"interlock/body/guard"
	"interlock/body/sim"
	"interlock/contract"
	contractv1 "interlock/contract/v1"
	"interlock/eval"
	"interlock/eval/lab"
	"interlock/robot"
	"interlock/robot/gate"
	"interlock/robot/skill"
	"interlock/transport"
	"interlock/transport/inproc"
)

// troupe has crews that are no processes: what the lab does with a crew can be seen without any.
type troupe struct {
	t        *testing.T
	contract *contract.Contract
	breaks   error                        // what moving the time fails with from the 100th tick on; nil: nothing
	other    func(m *contractv1.Manifest) // changes what the robot offers
	mu       sync.Mutex
	out      []*player // taken and not given back
	taken    int
}

func (f *troupe) Take(context.Context) (lab.Crew, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := &player{troupe: f}
	f.taken++
	f.out = append(f.out, p)
	return p, nil
}

func (f *troupe) Give(c lab.Crew) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.out, func(p *player) bool { return p == c })
	if i < 0 {
		f.t.Error("a crew was given back twice")
		return nil
	}
	f.out = slices.Delete(f.out, i, i+1)
	return nil
}

// player is one of its crews.
type player struct {
	troupe *troupe
	driver *sim.Driver
	guard  *guard.Guard
	end    func() error
	ticks  int
	failed error
}

func (p *player) SetUp(cfg sim.Config, lie sim.Lie) error {
	d, err := sim.New(cfg)
	if err != nil {
		return err
	}
	var inner body.Stepper = d
	if lie != "" {
		if inner, err = sim.NewLiar(d, lie); err != nil {
			return err
		}
	}
	p.driver, p.guard = d, guard.New(inner, lab.GuardConfig(p.troupe.contract))
	return nil
}

type ticking struct {
	body.Stepper
	tick func(time.Duration) error
}

func (k ticking) Advance(by time.Duration) error { return k.tick(by) }

func (p *player) Play(ctx context.Context, tick func(time.Duration) error) (transport.Client, error) {
	c := p.troupe.contract
	planner, err := skill.NewPlanner(c, skill.Solver(c.Solver))
	ok(p.troupe.t, err)
	a := robot.Align(c, p.driver.Describe(), planner)
	r, err := robot.New(robot.Config{
		Contract: c, Alignment: a, Gate: gate.New(c, a, planner), Body: p.guard, Pacer: robot.Lockstep(ticking{p.guard, tick}), MaxMissions: 8,
	})
	ok(p.troupe.t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	p.end = func() error { cancel(); return <-ended }
	return offering{inproc.New(r), p.troupe.other}, nil
}

// offering is a client whose robot says that it offers something else.
type offering struct {
	transport.Client
	other func(m *contractv1.Manifest)
}

func (o offering) Describe(ctx context.Context) (*contractv1.Manifest, error) {
	m, err := o.Client.Describe(ctx)
	if o.other != nil && err == nil {
		o.other(m)
	}
	return m, err
}

// Claim sees to it that no real time bounds an answer that the plant's time bounds.
func (o offering) Claim(ctx context.Context, q *contractv1.ClaimRequest) (*contractv1.Task, error) {
	if deadline, bounded := ctx.Deadline(); bounded {
		return nil, fmt.Errorf("a claim in lockstep must be answered by %v", deadline)
	}
	return o.Client.Claim(ctx, q)
}

func (p *player) Advance(by time.Duration) error {
	if p.ticks++; p.ticks >= 100 && p.troupe.breaks != nil {
		p.failed = p.troupe.breaks
		return p.failed
	}
	return p.guard.Advance(by)
}

func (p *player) Look() (body.Truth, error)        { return p.driver.Truth(), nil }
func (p *player) Watch() (body.Observation, error) { return p.guard.Observe() }
func (p *player) Rest(context.Context) (err error) {
	if p.end != nil {
		err = p.end()
		p.end = nil
	}
	if p.failed != nil {
		return p.failed
	}
	return err
}

// crewed is a suite, the lab that plays it folded, and the one that plays it by the troupe.
func crewed(t *testing.T, f *troupe) (suite eval.Suite, folded, apart *lab.Lab) {
	t.Helper()
	suite, folded = load(t, "seven.yaml")
	f.t = t
	f.contract, _ = shipped(t)
	apart, err := lab.New(f.contract, lab.Options{Crews: f})
	ok(t, err)
	return suite, folded, apart
}

// A lab that is handed crews plays the same episodes to the same end, says in the set-up hash that it did, and gives
// every crew back.
//
// Verifies: E101, E108
func TestCrewsPlayTheSame(t *testing.T) {
	f := &troupe{}
	suite, folded, apart := crewed(t, f)
	plan := eval.Plan{Agents: []string{"careful", "substituter", lab.TruthReader}, Gates: []bool{true}, Workers: 2}
	a, b := play(t, suite, folded, plan), play(t, suite, apart, plan)
	if a.Last().OutcomeSignature != b.Last().OutcomeSignature {
		t.Errorf("signatures %s folded, %s by crews", a.Last().OutcomeSignature, b.Last().OutcomeSignature)
	}
	if a.SetupHash == b.SetupHash || a.Bench.Arrangement != "" || b.Bench.Arrangement != eval.Processes {
		t.Errorf("the set-up does not say how the robot was divided: %q, %q", a.Bench.Arrangement, b.Bench.Arrangement)
	}
	if _, err := eval.RunPairs(&a, &b); err != nil {
		t.Errorf("the two runs are not paired: %v", err)
	}
	if len(f.out) != 0 || f.taken == 0 {
		t.Errorf("%d of %d crews were not given back", len(f.out), f.taken)
	}
}

// An episode under which our own machinery failed counts for nobody, whatever the robot then said, and says why.
//
// Verifies: E105
func TestWhatFailsUnderAnEpisodeVoidsIt(t *testing.T) {
	breaks := errors.New("the plant's process ended")
	f := &troupe{breaks: breaks}
	suite, _, apart := crewed(t, f)
	s := suite.Scenarios[0]
	_, err := apart.Episode(t.Context(), eval.EpisodeSpec{ID: "x", Scenario: &s, Setup: s.Varied(0), Agent: "careful", Gate: true, Body: "sim"})
	if !errors.Is(err, breaks) || !strings.HasPrefix(err.Error(), breaks.Error()) {
		t.Errorf("the episode ended with %v", err)
	}
	if len(f.out) != 0 {
		t.Error("the crew was not given back")
	}
}

// The gate is off in one process only, and a robot that offers something else than was asked for is not played with.
//
// Verifies: E104, E109
func TestWhatCrewsDoNotPlay(t *testing.T) {
	f := &troupe{}
	suite, _, apart := crewed(t, f)
	s := suite.Scenarios[0]
	spec := eval.EpisodeSpec{ID: "x", Scenario: &s, Setup: s.Varied(0), Agent: "careful", Body: "sim"}
	if _, err := apart.Episode(t.Context(), spec); err == nil || f.taken != 0 {
		t.Errorf("the gate was off: %v, %d crews taken", err, f.taken)
	}
	spec.Gate = true
	if _, err := apart.Episode(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	f.other = func(m *contractv1.Manifest) { m.ManifestHash = "another" }
	if _, err := apart.Episode(t.Context(), spec); err == nil {
		t.Error("an episode was played with a robot that offers something else")
	}
	if len(f.out) != 0 {
		t.Error("a crew was not given back")
	}
}
