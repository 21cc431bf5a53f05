package contract_test

import (
	"testing"
	"time"

	"interlock/contract"
	"interlock/units"
	"interlock/world"
)

const ms = units.Instant(time.Millisecond)

// snapshot is a world at 1 s in which every fact of the robot file was measured 20 ms ago.
func snapshot(change ...func(map[string]*world.Fact)) *world.Snapshot {
	at := 980 * ms
	facts := map[string]*world.Fact{
		"tip":           {Name: "tip", Witness: "encoders", At: at, Value: world.Value{Kind: world.KindPoint, Point: units.Vec3{0.20, 0.05, 0.15}}},
		"jaw_gap_mm":    {Name: "jaw_gap_mm", Witness: "gripper_encoder", At: at, Value: world.Value{Kind: world.KindNumber, Number: 32}},
		"jaw_load_pct":  {Name: "jaw_load_pct", Witness: "gripper_current", At: at, Value: world.Value{Kind: world.KindNumber, Number: 80}},
		"table_force_n": {Name: "table_force_n", Witness: "contact_sensor", At: at, Value: world.Value{Kind: world.KindNumber}},
		"objects": {Name: "objects", Witness: "camera", At: at, Value: world.Value{Kind: world.KindPoses, Objects: []world.Object{
			cube("red cube", 0.20, 0.05, 0.14), cube("blue cube", 0.25, -0.10, 0.015),
		}}},
	}
	for _, c := range change {
		c(facts)
	}
	var list []world.Fact
	for _, f := range facts {
		list = append(list, *f)
	}
	return world.NewSnapshot(1000*ms, list)
}

func cube(label string, x, y, z float64) world.Object {
	return world.Object{Label: label, Pose: units.Pose{Position: units.Vec3{x, y, z}, Orientation: units.YawQuat(0)}, SizeM: units.Vec3{0.03, 0.03, 0.03}}
}

func number(name string, x float64) contract.ArgValue {
	return contract.ArgValue{Name: name, Value: world.Value{Kind: world.KindNumber, Number: x}}
}

func text(name, s string) contract.ArgValue {
	return contract.ArgValue{Name: name, Value: world.Value{Kind: world.KindText, Text: s}}
}

func target(x, y, z float64) contract.Args {
	return contract.Args{number("x_cm", x), number("y_cm", y), number("z_cm", z)}
}

func BenchmarkTruthComparison(b *testing.B) {
	c := load(b).Capability("move_to").Requires[0]
	in := contract.Inputs{Args: target(20, 5, 15), World: snapshot()}
	b.ReportAllocs()
	for b.Loop() {
		if t, _ := c.Truth(in); t != world.True {
			b.Fatal(t)
		}
	}
}

func BenchmarkEvalInvariant(b *testing.B) {
	c := load(b).Capability("move_to").Invariants[0]
	in := contract.Inputs{World: snapshot()}
	b.ReportAllocs()
	for b.Loop() {
		if o := c.Eval(in); o.Truth != world.True {
			b.Fatal(o)
		}
	}
}

func BenchmarkEvalEnsuresAt(b *testing.B) {
	c := load(b).Capability("move_to").Ensures[0]
	in := contract.Inputs{Args: target(20, 5, 15), World: snapshot()}
	b.ReportAllocs()
	for b.Loop() {
		if o := c.Eval(in); o.Truth != world.True {
			b.Fatal(o)
		}
	}
}

func BenchmarkEvalHeld(b *testing.B) {
	c := load(b).Capability("pick").Ensures[0]
	in := contract.Inputs{Args: contract.Args{text("name", "red cube")}, World: snapshot()}
	b.ReportAllocs()
	for b.Loop() {
		if o := c.Eval(in); o.Truth != world.True {
			b.Fatal(o)
		}
	}
}

func BenchmarkTruthHeld(b *testing.B) {
	c := load(b).Capability("pick").Ensures[0]
	in := contract.Inputs{Args: contract.Args{text("name", "red cube")}, World: snapshot()}
	b.ReportAllocs()
	for b.Loop() {
		if t, _ := c.Truth(in); t != world.True {
			b.Fatal(t)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		load(b)
	}
}
