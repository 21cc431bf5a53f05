package guard_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"interlock/body"
	"interlock/body/guard"
	"interlock/units"
)

// oracle says what a leased guard around the test's plant must say of a setpoint, from the rules as they are promised and from
// the plant's own state, with no line of the guard's.
type oracle struct {
	plant   *plant
	latch   body.Latch
	epoch   uint64
	until   units.Instant // of the lease
	command []float64     // where the arm was last told to be
}

// verdict of an oracle: it does not say whether a speed that is within a thousandth of its limit is within it.
type verdict uint8

const (
	allow verdict = iota
	refuse
	either
)

func (o *oracle) says(s body.Setpoint, now units.Instant) verdict {
	switch {
	case o.latch.Stopped || s.Stop != o.latch.Number,
		s.Epoch != o.epoch || now >= o.until,
		s.Expires <= now || s.Expires > now+units.Instant(time.Second),
		s.Over < 0, len(s.PositionsRad) != 2:
		return refuse
	}
	over := math.Max(math.Ceil(s.Over.Seconds()/0.002-1e-9), 1) * 0.002
	worst := 0.0 // share of a limit
	for i, q := range s.PositionsRad {
		j := o.plant.Describe().Joints[i]
		if math.IsNaN(q) || !(q >= j.MinRad && q <= j.MaxRad) {
			return refuse
		}
		way := math.Abs(q - o.command[i])
		worst = max(worst, way/over/2)
		if i == 0 { // the tip is 0.3 m from the first joint
			worst = max(worst, 0.3*way/over/0.3)
		}
	}
	switch {
	case worst > 1.001:
		return refuse
	case worst < 0.999:
		return allow
	}
	return either
}

// drawn is a setpoint that is right but for what chance spoils: most often nothing or one thing.
func (o *oracle) drawn(r *rand.Rand, now units.Instant) body.Setpoint {
	s := body.Setpoint{
		PositionsRad: []float64{o.command[0] + r.NormFloat64()*0.1, o.command[1] + r.NormFloat64()*0.1},
		Over:         time.Duration(r.IntN(400)) * time.Millisecond / 2, Expires: now.Add(time.Duration(1 + r.IntN(1e9))), Stop: o.latch.Number, Epoch: o.epoch,
	}
	for range r.IntN(3) {
		i := r.IntN(2)
		switch r.IntN(12) {
		case 0:
			s.PositionsRad[i] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e308, -1e308}[r.IntN(5)]
		case 1:
			j := o.plant.Describe().Joints[i]
			s.PositionsRad[i] = []float64{j.MinRad, j.MaxRad, math.Nextafter(j.MinRad, -9), math.Nextafter(j.MaxRad, 9)}[r.IntN(4)]
			s.Over = time.Second
		case 2:
			s.PositionsRad = s.PositionsRad[:1]
			return s
		case 3:
			s.PositionsRad = append(s.PositionsRad, 0)
			return s
		case 4:
			s.Over = time.Duration(r.Int64N(3)-2) * time.Millisecond
		case 5:
			s.Expires = now.Add(time.Duration(r.IntN(2)))
		case 6:
			s.Expires = now.Add(time.Second + time.Duration(r.IntN(2)))
		case 7:
			s.Expires = []units.Instant{0, math.MaxInt64, math.MinInt64, now.Add(time.Hour), now.Add(-time.Hour)}[r.IntN(5)]
		case 8:
			s.Stop += uint64(r.IntN(3)) - 1
		case 9:
			s.Epoch += uint64(r.IntN(3)) - 1
		case 10:
			s.Epoch = 0
		case 11:
			s.PositionsRad[i] *= 1 + 5*r.Float64()
		}
	}
	return s
}

// Validation stands beside the hardware: with nothing in front of it, the guard alone refuses every command that an oracle of
// the promised rules refuses, and takes what the oracle allows; what is refused moves nothing.
//
// Verifies: P08, P09, P11, D28
func TestTheGuardAloneAgreesWithAnOracle(t *testing.T) {
	const commands = 100 // of each seed
	said := map[verdict]int{}
	for seed := range seeds(t, 200) {
		r := rand.New(rand.NewPCG(seed, 11))
		p := newPlant()
		cfg := config()
		cfg.Leased = true
		g := guard.New(p, cfg)
		if err := g.Open(); err != nil {
			t.Fatal(err)
		}
		o := oracle{plant: p, command: []float64{0, 0}}
		now := func() units.Instant { return units.Instant(p.steps * int64(step)) }
		for range commands {
			o.turn(t, r, g, now)
			s := o.drawn(r, now())
			want := o.says(s, now())
			said[want]++
			_, err := g.Send(s)
			if want != either && (err == nil) != (want == allow) {
				t.Fatalf("seed %d: %+v at %v, command %v, latch %+v, lease %d until %v: answered by %v", seed, s, now(), o.command, o.latch, o.epoch, o.until, err)
			}
			if s.Epoch == o.epoch && now() < o.until {
				o.until = now().Add(units.LeaseTTL) // whatever the holder sends renews
			}
			was := len(p.writes)
			if err := g.Advance(time.Duration(1+r.IntN(60)) * step); err != nil {
				t.Fatal(err)
			}
			if err != nil && len(p.writes) > was {
				t.Fatalf("seed %d: %+v was refused, and %d commands reached the body", seed, s, len(p.writes)-was)
			}
			o.rest(t, g)
		}
	}
	if t.Logf("%d allowed, %d refused, %d at a limit", said[allow], said[refuse], said[either]); said[allow] == 0 || said[refuse] == 0 {
		t.Error("the commands show little")
	}
}

// rest lets the guard come to rest, so that its command is where the body is.
func (o *oracle) rest(t *testing.T, g *guard.Guard) {
	t.Helper()
	if err := g.Halt(); err != nil {
		t.Fatal(err)
	}
	if err := g.Advance(guard.RampTime + step); err != nil {
		t.Fatal(err)
	}
	o.command = append(o.command[:0], o.plant.at...)
}

// turn now and then stops, resets, waits, or changes who holds the lease.
func (o *oracle) turn(t *testing.T, r *rand.Rand, g *guard.Guard, now func() units.Instant) {
	t.Helper()
	if o.epoch == 0 || r.IntN(10) == 0 {
		if o.epoch != 0 {
			g.Release(o.epoch)
		}
		epoch, err := g.Acquire("test")
		if err != nil || epoch <= o.epoch {
			t.Fatalf("epoch %d after %d: %v", epoch, o.epoch, err)
		}
		o.epoch, o.until = epoch, now().Add(units.LeaseTTL)
	}
	switch r.IntN(16) {
	case 0:
		g.Stop("test")
	case 1, 2, 3, 4, 5, 6, 7, 8:
		if l := g.Latch(); l.Stopped {
			if err := g.Reset(l.Number); err != nil {
				t.Fatal(err)
			}
		}
	case 9:
		if err := g.Advance(units.LeaseTTL - step*time.Duration(r.IntN(3)-1)); err != nil { // to the end of the lease, or beyond
			t.Fatal(err)
		}
	}
	o.latch = g.Latch()
}
