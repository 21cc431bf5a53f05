package arm_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"interlock/arm"
	"interlock/units"
)

const tick = 20 * time.Millisecond

func space(t testing.TB, keepOuts ...arm.KeepOut) *arm.Space {
	t.Helper()
	s, ok := arm.SO101().Space(keepOuts...)
	if !ok {
		t.Fatal("no space")
	}
	return s
}

// A line into the table, into the arm itself or into a keep-out is blocked, with the configuration at which it is; so is
// one that ends just before but could not stop there. A gap in the numbers is no free line.
//
// Verifies: V101
func TestLineRefusesTableSelfAndKeepOut(t *testing.T) {
	c := arm.SO101()
	home := arm.Home().With(1)
	low := arm.DLS(c, cm(22, 3, 2), arm.PublishedDLS()).Joints.With(1)
	under := arm.DLS(c, cm(22, 3, -1), arm.PublishedDLS()).Joints.With(1)
	wall := arm.KeepOut{Name: "wall", MinM: units.Vec3{0.15, 0.1, 0}, MaxM: units.Vec3{0.4, 0.15, 0.5}}
	aside := arm.Best(c, cm(15, 22, 15)).Joints.With(1)
	through := arm.Joints{-0.6, -0.2, 0.6, 1.0, math.Pi / 2}.With(1)
	for _, row := range []struct {
		name     string
		from, to arm.Servos
		over     time.Duration
		outs     []arm.KeepOut
		rule     string
	}{
		{"into the table", low, under, time.Second, nil, arm.MeetsTable},
		{"folded onto the base", arm.Servos{0, -0.5, -0.3, 0, 1.5, 0}, arm.Servos{0, -0.5, 1.6, -1.6, 1.5, 0}, time.Second, nil, arm.MeetsSelf},
		{"through a wall", through, aside, time.Second, []arm.KeepOut{wall}, arm.MeetsKeepOut},
		{"past the wall that is not there", through, aside, time.Second, nil, ""},
		{"down to where it stands", home, low, 2 * time.Second, nil, ""},
		{"down, too fast to stop there", home, low, 150 * time.Millisecond, nil, arm.MeetsTable},
		{"nowhere", home, home, tick, nil, ""},
	} {
		b, blocked := space(t, row.outs...).Line(row.from[:], row.to[:], row.over)
		if blocked != (row.rule != "") || b.Rule != row.rule {
			t.Errorf("%s: %+v, %v", row.name, b, blocked)
			continue
		}
		if blocked && (!(b.ClearM < b.LeastM) || b.Part == "" || b.At == (arm.Servos{}) || b.T <= 0) {
			t.Errorf("%s: %+v", row.name, b)
		}
	}
	s := space(t)
	for _, bad := range [][]float64{nil, {1, 2}, {0, 0, 0, 0, 0, math.NaN()}, {0, math.Inf(1), 0, 0, 0, 0}} {
		if _, blocked := s.Line(home[:], bad, tick); !blocked {
			t.Errorf("%v is free", bad)
		}
	}
	if _, ok := c.Space(arm.KeepOut{Name: "flat"}); ok {
		t.Error("a keep-out without a volume was taken")
	}
}

// What the sweep lets pass is passed line by line too, whatever the tick at which it is played: a driver never refuses
// what its gate cleared.
//
// Verifies: V102
func TestLinesOfASweptPathAreFree(t *testing.T) {
	c := arm.SO101()
	wall := arm.KeepOut{Name: "wall", MinM: units.Vec3{-0.3, 0.25, 0}, MaxM: units.Vec3{0.4, 0.3, 0.5}}
	rng := rand.New(rand.NewPCG(101, 2026))
	limits := speeds(units.RadFromDeg(240), 1)
	n, lines, near := 0, 0, 0
	outs := []arm.KeepOut{wall}
	s, from := space(t, outs...), arm.Home().With(1)
	for n < 1500 { // one path after another, as a robot goes
		to := randomJoints(rng, c).With(1.5 * rng.Float64())
		if n%3 == 0 { // a small move, as between the phases of a grasp
			for i := range to {
				to[i] = from[i] + 0.2*(to[i]-from[i])
			}
		}
		m, ok := c.MinJerk(from, to, time.Duration(rng.IntN(2))*arm.LeastMove, limits)
		if !ok {
			t.Fatal("no motion")
		}
		if _, blocked := c.Sweep(arm.Trajectory{{Name: "m", Segment: m}}, outs); blocked {
			continue
		}
		n++
		over := time.Duration(4+rng.IntN(20)) * 2 * time.Millisecond
		if n%4 > 0 {
			over = tick
		}
		last := from
		for at := over; ; at += over {
			next := m.At(at)
			if b, blocked := s.Line(last[:], next[:], over); blocked {
				t.Fatalf("path %d, at %v of %v in lines of %v: %+v", n, at, m.T, over, b)
			}
			lines++
			if last = next; at >= m.T {
				break
			}
		}
		if _, blocked := s.Line(last[:], push(last, from, to), tick); blocked {
			near++ // going on like that is not free: the path ended near something
		}
		from = to
	}
	t.Logf("%d paths, %d lines, %d end near something", n, lines, near)
	if near < 100 {
		t.Errorf("only %d paths end near something", near)
	}
}

// push returns a configuration a little further along the line.
func push(at, from, to arm.Servos) []float64 {
	q := at
	for i := range q {
		q[i] += 0.05 * (to[i] - from[i])
	}
	return q[:]
}

// An arm that stands too near may leave, half way too, and never go nearer; a line sent again and again does not creep.
//
// Verifies: V103
func TestLineLetsAnArmLeaveButNeverCreep(t *testing.T) {
	c := arm.SO101()
	s := space(t)
	home := arm.Home().With(1)
	at := func(zCm float64) arm.Servos { return arm.DLS(c, cm(22, 3, zCm), arm.PublishedDLS()).Joints.With(1) }
	low, lower, higher := at(0.5), at(0.3), at(0.55)
	for name, free := range map[string]bool{
		"up": !second(s.Line(low[:], home[:], time.Second)), "a little up": !second(s.Line(low[:], higher[:], tick)),
		"and on": !second(s.Line(higher[:], home[:], time.Second)), "not down": second(s.Line(low[:], lower[:], tick)),
		"stay": !second(s.Line(low[:], low[:], tick)),
	} {
		if !free {
			t.Error(name)
		}
	}
	for _, start := range []arm.Servos{low, at(0.8)} {
		q, refused := start, 0
		for range 20000 {
			next := q
			next[arm.Lift] += 2e-7
			if second(s.Line(q[:], next[:], 2*time.Millisecond)) {
				refused++
				continue
			}
			q = next
		}
		b, _ := c.Sweep(moveTo(c, home, q), nil)
		if fell := c.Tip(start.Joints())[2] - c.Tip(q.Joints())[2]; !(fell < 0.0012) || refused == 0 {
			t.Errorf("crept %.4f mm, refused %d times: %+v", fell*1e3, refused, b)
		}
	}
}

func second(_ arm.Blocked, blocked bool) bool { return blocked }

// Verifies: V104
func TestLineAllocatesNothing(t *testing.T) {
	s := space(t, arm.KeepOut{Name: "a", MinM: units.Vec3{0.1, 0.1, 0}, MaxM: units.Vec3{0.2, 0.2, 0.2}})
	from := arm.Home().With(1)
	to := from
	to[arm.Lift] += 0.04
	if n := testing.AllocsPerRun(100, func() { s.Line(from[:], to[:], tick) }); n != 0 {
		t.Errorf("a line allocates %v times", n)
	}
}

// BenchmarkLine times the setpoints of moves over the table at full speed.
func BenchmarkLine(b *testing.B) {
	c := arm.SO101()
	s := space(b)
	var lines [][2]arm.Servos
	for _, p := range tablePoints() {
		m := moveTo(c, arm.Home().With(1), arm.Best(c, p).Joints.With(1))[0]
		for at := time.Duration(0); at < m.T; at += tick {
			lines = append(lines, [2]arm.Servos{m.At(at), m.At(at + tick)})
		}
	}
	spread(b, len(lines), func(i int) { s.Line(lines[i][0][:], lines[i][1][:], tick) })
}
