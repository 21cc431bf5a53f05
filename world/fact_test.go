package world

import (
	"math"
	"reflect"
	"testing"
	"time"

	"interlock/units"
)

// truths is the domain of every table of logic.
var truths = [3]Truth{Unknown, False, True}

// TestKleene holds the operators against the definition: an answer only where the unknown cannot change it.
//
// Verifies: W02
func TestKleene(t *testing.T) {
	possible := func(x Truth) []bool {
		return map[Truth][]bool{True: {true}, False: {false}, Unknown: {true, false}}[x]
	}
	settled := func(answers map[bool]bool) Truth {
		switch {
		case answers[true] && answers[false]:
			return Unknown
		case answers[true]:
			return True
		}
		return False
	}
	for _, a := range truths {
		for _, b := range truths {
			and, or := map[bool]bool{}, map[bool]bool{}
			for _, x := range possible(a) {
				for _, y := range possible(b) {
					and[x && y], or[x || y] = true, true
				}
			}
			if got := a.And(b); got != settled(and) {
				t.Errorf("%s and %s is %s", a, b, got)
			}
			if got := a.Or(b); got != settled(or) {
				t.Errorf("%s or %s is %s", a, b, got)
			}
		}
		if got := a.Not().Not(); got != a || a != Unknown && a.Not() == a {
			t.Errorf("not %s is %s", a, a.Not())
		}
	}
	var forgotten Truth
	if forgotten != Unknown || Truth(9).Not() != Unknown || Truth(9).String() != "invalid" {
		t.Error("a forgotten or impossible truth is not unknown")
	}
}

// TestSnapshotRefuses: what is not finite or lies in the future is no fact.
//
// Verifies: P16
func TestSnapshotRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(-1)
	pose := func(p units.Vec3, q units.Quat) Value {
		return Value{Kind: KindPoses, Objects: []Object{{Label: "a", Pose: units.Pose{Orientation: units.YawQuat(0)}}, {Label: "b", Pose: units.Pose{Position: p, Orientation: q}}}}
	}
	level := units.YawQuat(0)
	cases := map[string]struct {
		f    Fact
		want bool
	}{
		"number":                   {Fact{Value: Value{Kind: KindNumber, Number: 1}}, true},
		"number not a number":      {Fact{Value: Value{Kind: KindNumber, Number: nan}}, false},
		"number infinite":          {Fact{Value: Value{Kind: KindNumber, Number: inf}}, false},
		"text, number ignored":     {Fact{Value: Value{Kind: KindText, Number: nan}}, true},
		"flag":                     {Fact{Value: Value{Kind: KindFlag, Flag: true}}, true},
		"point":                    {Fact{Value: Value{Kind: KindPoint, Point: units.Vec3{1, 2, 3}}}, true},
		"point with one bad":       {Fact{Value: Value{Kind: KindPoint, Point: units.Vec3{1, 2, nan}}}, false},
		"poses":                    {Fact{Value: pose(units.Vec3{}, level)}, true},
		"second pose bad":          {Fact{Value: pose(units.Vec3{0, inf, 0}, level)}, false},
		"second orientation bad":   {Fact{Value: pose(units.Vec3{}, units.Quat{1, 0, 0, nan})}, false},
		"error not a number":       {Fact{Value: Value{Kind: KindNumber}, Sigma: nan}, false},
		"measured now":             {Fact{Value: Value{Kind: KindNumber}, At: ms(100)}, true},
		"measured after now":       {Fact{Value: Value{Kind: KindNumber}, At: ms(100) + 1}, false},
		"measured long before now": {Fact{Value: Value{Kind: KindNumber}, At: ms(-5000)}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.f.Name = "f"
			s := NewSnapshot(ms(100), []Fact{c.f})
			if _, ok := s.Fact("f"); ok != c.want {
				t.Errorf("is a fact: %v", ok)
			}
		})
	}
}

// TestSnapshotOrder: sorted by name, the later of two stays, and the caller's slice is not kept.
func TestSnapshotOrder(t *testing.T) {
	number := func(name string, v float64, at int) Fact {
		return Fact{Name: name, Value: Value{Kind: KindNumber, Number: v}, At: ms(at)}
	}
	src := []Fact{number("b", 1, 50), number("a", 2, 10), number("b", 3, 40), number("c", 4, 10), number("a", 5, 10)}
	s := NewSnapshot(ms(100), src)
	src[0].Value.Number = 99
	got := map[string]float64{}
	names := []string{}
	for _, f := range s.Facts() {
		got[f.Name] = f.Value.Number
		names = append(names, f.Name)
	}
	if !reflect.DeepEqual(got, map[string]float64{"a": 5, "b": 1, "c": 4}) || !reflect.DeepEqual(names, []string{"a", "b", "c"}) {
		t.Errorf("%v in order %v", got, names)
	}
	if _, ok := s.Fact("d"); ok {
		t.Error("found what is not there")
	}
}

// TestFresh: exactly as old as allowed is fresh, a nanosecond more is not.
//
// Verifies: P16
func TestFresh(t *testing.T) {
	f := Fact{Name: "f", Value: Value{Kind: KindFlag}, At: ms(100)}
	for _, c := range []struct {
		now  units.Instant
		want bool
	}{{ms(100), true}, {ms(350), true}, {ms(350) + 1, false}, {ms(5000), false}} {
		s := NewSnapshot(c.now, []Fact{f})
		if _, ok := s.Fresh("f", 250*time.Millisecond); ok != c.want {
			t.Errorf("at %v: fresh %v", c.now, ok)
		}
	}
	if _, ok := NewSnapshot(ms(100), nil).Fresh("f", time.Hour); ok {
		t.Error("nothing is fresh")
	}
	if f.Age(ms(90)) >= 0 {
		t.Error("a fact from the future has an age")
	}
}

// TestBottom: the lowest corner, however the object lies.
func TestBottom(t *testing.T) {
	half := math.Sqrt(0.5)
	cases := map[string]struct {
		q    units.Quat
		want float64
	}{
		"upright":            {units.YawQuat(0), 0.10 - 0.03},
		"turned about z":     {units.YawQuat(1), 0.10 - 0.03},
		"on its side, x":     {units.Quat{half, half, 0, 0}, 0.10 - 0.02},
		"on its side, y":     {units.Quat{half, 0, half, 0}, 0.10 - 0.01},
		"not normalised":     {units.Quat{3, 0, 0, 0}, 0.10 - 0.03},
		"on an edge, 45 deg": {units.Quat{math.Cos(math.Pi / 8), math.Sin(math.Pi / 8), 0, 0}, 0.10 - half*(0.02+0.03)},
	}
	for name, c := range cases {
		o := Object{SizeM: units.Vec3{0.02, 0.04, 0.06}, Pose: units.Pose{Position: units.Vec3{1, 2, 0.10}, Orientation: c.q}}
		if got := o.BottomM(); !(math.Abs(got-c.want) <= 1e-12) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestBeliefIsNoFact: the two share no type that one could pass for the other.
//
// Verifies: P17
func TestBeliefIsNoFact(t *testing.T) {
	belief, fact := reflect.TypeFor[Belief](), reflect.TypeFor[Fact]()
	if belief.ConvertibleTo(fact) || fact.ConvertibleTo(belief) || belief.AssignableTo(fact) {
		t.Error("a belief converts to a fact")
	}
	snapshot := reflect.TypeFor[*Snapshot]()
	for i := range snapshot.NumMethod() {
		m := snapshot.Method(i).Type
		for j := range m.NumIn() {
			if m.In(j) == belief || m.In(j) == reflect.SliceOf(belief) {
				t.Errorf("a snapshot takes beliefs: %s", snapshot.Method(i).Name)
			}
		}
	}
}

// TestKindWords: the words of the contract file.
func TestKindWords(t *testing.T) {
	for k, want := range map[Kind]string{KindNumber: "number", KindText: "text", KindFlag: "flag", KindPoint: "point", KindPoses: "poses", 0: "unknown"} {
		if k.String() != want {
			t.Errorf("%d is %q", k, k)
		}
	}
}
