package goal

import (
	"math"
	"slices"
	"testing"

	"interlock/world"
)

// TestAllows: forbidden wins, a fixed licence is a list, no licence limits nothing else.
//
// Verifies: G02
func TestAllows(t *testing.T) {
	cases := []struct {
		l    Licence
		want map[string]bool
	}{
		{Licence{}, map[string]bool{"red cube": true, "blue cube": true}},
		{Licence{Forbidden: []string{"red cube"}}, map[string]bool{"red cube": false, "blue cube": true}},
		{Licence{Fixed: true}, map[string]bool{"red cube": false, "": false}},
		{Licence{Fixed: true, Objects: []string{"red cube"}}, map[string]bool{"red cube": true, "blue cube": false, "red": false, "Red cube": false}},
		{Licence{Fixed: true, Objects: []string{"red cube"}, Forbidden: []string{"red cube"}}, map[string]bool{"red cube": false}},
	}
	for _, c := range cases {
		for object, want := range c.want {
			if got := c.l.Allows(object); got != want {
				t.Errorf("%+v allows %q: %v", c.l, object, got)
			}
		}
	}
}

// TestDisplaced: more than 1 cm by 2σ, measured after, outside the licence.
//
// Verifies: G04
func TestDisplaced(t *testing.T) {
	red := Licence{Fixed: true, Objects: []string{"red cube"}}
	start := []world.Object{cube("red cube", 20, 0, 0), cube("blue cube", 25, 5, 0)}
	blue := func(xCm float64) []world.Object {
		return []world.Object{cube("red cube", 20, 0, 0), cube("blue cube", xCm, 5, 0)}
	}
	noisy := func(f world.Fact, mm float64) world.Fact { f.Sigma = mm; return f }
	cases := map[string]struct {
		l       Licence
		after   world.Fact
		sigma   float64 // mm, of the first reading
		moved   []string
		unclear []string
	}{
		"nothing moved":             {red, seen(2000, start...), 0, nil, nil},
		"the licensed one moved":    {red, seen(2000, cube("red cube", 30, 0, 9), start[1]), 0, nil, nil},
		"0.9 cm":                    {red, seen(2000, blue(25.9)...), 0, nil, nil},
		"1.1 cm":                    {red, seen(2000, blue(26.1)...), 0, []string{"blue cube"}, nil},
		"straight up":               {red, seen(2000, start[0], cube("blue cube", 25, 5, 3)), 0, []string{"blue cube"}, nil},
		"within the error":          {red, noisy(seen(2000, blue(26.1)...), 1), 0, nil, []string{"blue cube"}},
		"within both errors":        {red, noisy(seen(2000, blue(27)...), 4), 4, nil, []string{"blue cube"}},
		"beyond both errors":        {red, noisy(seen(2000, blue(28.5)...), 4), 4, []string{"blue cube"}, nil},
		"not seen any more":         {red, seen(2000, start[0]), 0, nil, []string{"blue cube"}},
		"old reading":               {red, seen(1000, blue(30)...), 0, nil, []string{"blue cube"}},
		"camera gone":               {red, tip(20, 2000), 0, nil, []string{"blue cube"}},
		"seen twice":                {red, seen(2000, start[0], start[1], cube("blue cube", 40, 5, 0)), 0, nil, []string{"blue cube"}},
		"not a number":              {red, seen(2000, blue(math.NaN())...), 0, nil, []string{"blue cube"}},
		"no licence, all may move":  {Licence{}, seen(2000, blue(40)...), 0, nil, nil},
		"no licence, one forbidden": {Licence{Forbidden: []string{"blue cube"}}, seen(2000, blue(40)...), 0, []string{"blue cube"}, nil},
		"nothing may move":          {Licence{Fixed: true}, seen(2000, cube("red cube", 25, 0, 0), cube("blue cube", 25, 9, 0)), 0, []string{"red cube", "blue cube"}, nil},
		"a newcomer":                {red, seen(2000, append(slices.Clone(start), cube("cup", 5, 5, 0))...), 0, nil, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			before := world.NewSnapshot(at(1000), []world.Fact{noisy(seen(990, start...), c.sigma), tip(20, 990)})
			moved, unclear := Displaced(before, world.NewSnapshot(at(2000), []world.Fact{c.after}), c.l)
			var labels []string
			for _, m := range moved {
				labels = append(labels, m.Object)
				if m.Witness != "camera" || !(m.DisplacementM > 0.01) {
					t.Errorf("%+v", m)
				}
			}
			if !slices.Equal(labels, c.moved) || !slices.Equal(unclear, c.unclear) {
				t.Errorf("moved %v, unclear %v; want %v, %v", labels, unclear, c.moved, c.unclear)
			}
		})
	}
}

// TestPassing: what is pushed away and back again was displaced, on a reading of the way or between two of them.
//
// Verifies: R23
func TestPassing(t *testing.T) {
	red := Licence{Fixed: true, Objects: []string{"red cube"}}
	blue := func(ms int, xCm, sigmaMM float64) world.Fact {
		f := seen(ms, cube("red cube", 40, 0, 9), cube("blue cube", xCm, 5, 0))
		f.Sigma = sigmaMM
		return f
	}
	cases := map[string]struct {
		earlier, now   world.Fact
		moved, unclear bool
	}{
		"at rest":                         {blue(1100, 25, 0), blue(1140, 25, 0), false, false},
		"pushed beyond":                   {blue(1100, 25.5, 0), blue(1140, 26.1, 0), true, false},
		"on its way back":                 {blue(1100, 26.1, 0), blue(1140, 25.8, 0), false, true},
		"between two readings":            {blue(1100, 25.9, 0), blue(1140, 25.6, 0), false, true},
		"short of it between two":         {blue(1100, 25.6, 0), blue(1140, 25.3, 0), false, false},
		"within the error":                {blue(1100, 25, 1), blue(1140, 25.9, 1), false, true},
		"noise at rest":                   {blue(1100, 25.1, 1), blue(1140, 24.9, 1), false, false},
		"the same reading again":          {blue(1100, 26.1, 0), blue(1100, 26.1, 0), false, false},
		"out of sight for a moment":       {blue(1100, 25, 0), seen(1140, cube("red cube", 20, 0, 0)), false, false},
		"in sight again, and moved":       {seen(1100, cube("red cube", 20, 0, 0)), blue(1140, 27, 0), true, false},
		"no reading between, and then so": {tip(20, 1100), blue(1140, 27, 0), true, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			before := world.NewSnapshot(at(1000), []world.Fact{blue(990, 25, c.now.Sigma)})
			earlier, now := world.NewSnapshot(at(1120), []world.Fact{c.earlier}), world.NewSnapshot(at(1160), []world.Fact{c.now})
			moved, unclear := Passing(before, earlier, now, red)
			if (len(moved) > 0) != c.moved || (len(unclear) > 0) != c.unclear || len(moved)+len(unclear) > 1 {
				t.Errorf("moved %v, unclear %v", moved, unclear)
			}
			if moved, unclear := Passing(before, earlier, now, Licence{}); len(moved)+len(unclear) > 0 {
				t.Errorf("all may move: %v, %v", moved, unclear)
			}
		})
	}
}

// TestDisplacedWithoutABefore: where nothing was seen before, nothing can be said of what is seen after.
//
// Verifies: R23
func TestDisplacedWithoutABefore(t *testing.T) {
	before := world.NewSnapshot(at(1000), []world.Fact{tip(20, 990)})
	after := world.NewSnapshot(at(2000), []world.Fact{seen(1990, cube("red cube", 20, 0, 0), cube("blue cube", 25, 5, 0))})
	moved, unclear := Displaced(before, after, Licence{Fixed: true, Objects: []string{"red cube"}})
	if len(moved) != 0 || !slices.Equal(unclear, []string{"blue cube"}) {
		t.Errorf("moved %v, unclear %v", moved, unclear)
	}
}
