package plant

import (
	"context"
	"math"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"interlock/body"
	"interlock/body/remote"
	"interlock/body/sim"
)

// counted is a plant that counts what it is sent.
type counted struct {
	*Plant
	sent int
}

func (c *counted) Send(s body.Setpoint) (body.Sent, error) {
	c.sent++
	return c.Plant.Send(s)
}

// strides is a plant on sockets, and a line to it.
func strides(t *testing.T) (*counted, *Strides) {
	t.Helper()
	inside, err := New(sim.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	p := &counted{Plant: inside}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	t.Cleanup(func() { cancel(); all.Wait() })
	at := func(name string) string { return "unix:" + filepath.Join(dir, name) }
	handlers := map[string]http.Handler{"d": remote.DriverHandler(p), "l": remote.LabHandler(Serve(inside))}
	for name, h := range handlers {
		l, err := remote.Listen(at(name))
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() { _ = remote.Serve(ctx, l, h) })
	}
	lab := DialLab(at("l"))
	t.Cleanup(lab.Close)
	s := &Strides{Stepped: Stepped{Driver: remote.Expect(at("d"), inside.Describe(), remote.Options{CallTimeout: 10 * time.Second}), Lab: lab}}
	return p, s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// script is what a guard tells its body, step by step; nil: nothing.
type script [][]float64

// line is n steps on a straight line, as a guard plays a setpoint.
func (s script) line(from, to []float64, n int) script {
	for k := 1; k <= n; k++ {
		q := make([]float64, len(to))
		for j := range q {
			q[j] = from[j] + (to[j]-from[j])*(float64(k)/float64(n))
			if k == n {
				q[j] = to[j]
			}
		}
		s = append(s, q)
	}
	return s
}

// play steps a body through a tick of the script.
func play(t testing.TB, b body.Stepper, tick script) {
	for _, q := range tick {
		if q != nil {
			_, err := b.Send(body.Setpoint{PositionsRad: q})
			must(t, err)
		}
		must(t, b.Advance(sim.Step))
	}
}

// Whatever a guard tells its body, straight or bent, with a gripper that is stuck for a while or not: over the line the
// world comes to the same bits as step by step in one process.
//
// Verifies: E102
func TestStridesMoveToTheSameBits(t *testing.T) {
	p, s := strides(t)
	rapid.Check(t, func(r *rapid.T) {
		cfg := sim.DefaultConfig()
		if rapid.Bool().Draw(r, "stuck") {
			cfg.Faults = []sim.Fault{{
				Kind: sim.StuckGripper, After: time.Duration(rapid.IntRange(0, 30).Draw(r, "after")) * sim.Step,
				For: time.Duration(rapid.IntRange(1, 30).Draw(r, "for")) * sim.Step,
			}}
		}
		must(t, p.SetUp(cfg, "", true))
		fresh := &Strides{Stepped: s.Stepped}
		must(t, fresh.Open())
		defer func() { must(t, fresh.Close()) }()
		ref, err := sim.New(cfg)
		must(t, err)
		must(t, ref.Open())
		at := append([]float64(nil), cfg.StartRad[:]...)
		for range rapid.IntRange(1, 6).Draw(r, "ticks") {
			var tick script
			to := append([]float64(nil), at...)
			for j := range to {
				to[j] += rapid.Float64Range(-0.02, 0.02).Draw(r, "rad")
			}
			switch rapid.IntRange(0, 4).Draw(r, "kind") {
			case 0: // a setpoint
				tick = tick.line(at, to, 10)
			case 1: // a shorter one, and rest
				tick = append(tick.line(at, to, 6), nil, nil, nil, nil)
			case 2: // two lines, as a ramp is none
				mid := append([]float64(nil), to...)
				mid[0] += 0.01
				tick = tick.line(at, mid, 4).line(mid, to, 6)
			case 3: // it pauses on its way
				mid := append([]float64(nil), to...)
				mid[1] -= 0.01
				tick = append(tick.line(at, mid, 4), nil, nil).line(mid, to, 4)
			case 4:
				tick, to = make(script, 10), at
			}
			at = to
			play(t, ref, tick)
			play(t, fresh, tick)
			must(t, fresh.CatchUp())
			if p.driver.World() != ref.World() {
				r.Fatalf("after %v the worlds differ", tick)
			}
			if rapid.Bool().Draw(r, "look") {
				o, err := fresh.Observe()
				must(t, err)
				if o.At != p.driver.Truth().Now() {
					r.Fatalf("observed at %v, the plant's time is %v", o.At, p.driver.Truth().Now())
				}
			}
		}
	})
}

// A setpoint that a guard plays goes over the line as one command; what is bent goes step by step; nothing goes as
// nothing. What the plant refuses is told, not lost.
//
// Verifies: E102
func TestStridesAreFew(t *testing.T) {
	p, s := strides(t)
	cfg := sim.DefaultConfig()
	must(t, p.SetUp(cfg, "", true))
	must(t, s.Open())
	defer func() { must(t, s.Close()) }()
	at := cfg.StartRad[:]
	to := append([]float64{at[0] + 0.02}, at[1:]...)
	mid := append([]float64{at[0] + 0.03}, at[1:]...)
	for _, c := range []struct {
		name string
		tick script
		want int
	}{
		{"straight", script{}.line(at, to, 10), 1},
		{"rest", make(script, 10), 0},
		{"bent", script{}.line(to, mid, 4).line(mid, at, 6), 10},
	} {
		_, err := s.Observe()
		must(t, err)
		p.sent = 0
		play(t, s, c.tick)
		must(t, s.CatchUp())
		if p.sent != c.want {
			t.Errorf("%s: %d commands, want %d", c.name, p.sent, c.want)
		}
	}
	bad := append([]float64{math.Inf(1)}, at[1:]...)
	play(t, s, script{bad})
	if err := s.CatchUp(); err == nil {
		t.Error("a setpoint that the plant refused was lost")
	}
}

// A plant that was sent nothing is not looked at when somebody takes its lease: what its sensors tell next is what they
// would have told.
//
// Verifies: E102
func TestTakingTheLeaseReadsNoSensor(t *testing.T) {
	cfg := sim.DefaultConfig()
	cfg.Faults = []sim.Fault{{Kind: sim.Dropped, Fact: sim.FactTip, Amount: 0.5}}
	seen := map[bool][]int{}
	for _, taken := range []bool{false, true} {
		p, err := New(sim.DefaultConfig())
		must(t, err)
		must(t, p.SetUp(cfg, "", true))
		if taken {
			_, err := p.Acquire("somebody")
			must(t, err)
		}
		for range 40 {
			o, err := p.Watch(0)
			must(t, err)
			seen[taken] = append(seen[taken], len(o.Readings))
		}
	}
	for i := range seen[true] {
		if seen[true][i] != seen[false][i] {
			t.Fatalf("look %d has %d readings, %d if nobody took the lease", i, seen[true][i], seen[false][i])
		}
	}
}
