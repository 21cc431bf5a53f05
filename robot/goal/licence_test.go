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
