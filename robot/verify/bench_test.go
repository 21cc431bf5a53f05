package verify

import (
	"os"
	"testing"
	"time"

	"interlock/contract"
	"interlock/units"
	"interlock/world"
)

// bench is a contract small enough to read: one motion with two postconditions, and gestures that promise other things.
func bench(t testing.TB) *contract.Contract {
	t.Helper()
	src, err := os.ReadFile("testdata/bench.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := contract.Load("testdata/bench.yaml", src)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func at(msec int) units.Instant { return units.Instant(0).Add(time.Duration(msec) * time.Millisecond) }

// args is the call that the tests judge: the tip at (20, 5, 15) cm.
func args() contract.Args {
	number := func(v float64) world.Value { return world.Value{Kind: world.KindNumber, Number: v} }
	return contract.Args{{Name: "x_cm", Value: number(20)}, {Name: "y_cm", Value: number(5)}, {Name: "z_cm", Value: number(15)}}
}

// reading is what one sensor says at one time.
func tip(xCm float64, ms int) world.Fact {
	p := units.Vec3{units.MetresFromCm(xCm), units.MetresFromCm(5), units.MetresFromCm(15)}
	return world.Fact{Name: "tip", Value: world.Value{Kind: world.KindPoint, Point: p}, Witness: "encoders", At: at(ms)}
}

func number(name, witness string, v float64, ms int) world.Fact {
	return world.Fact{Name: name, Value: world.Value{Kind: world.KindNumber, Number: v}, Witness: witness, At: at(ms)}
}

// sensors makes the readings of one tick.
type sensors func(now int) []world.Fact

// run starts a motion at 1,000 ms that ends at 2,000 ms, and observes every 20 ms until the verdict or 10 s.
func run(t testing.TB, m Motion, s sensors) (Result, int) {
	t.Helper()
	m.StartedAt, m.EndedAt = at(1000), at(2000)
	w, err := New(m)
	if err != nil {
		t.Fatal(err)
	}
	now := 2000
	for ; w.Result().State == Pending && now <= 10000; now += 20 {
		w.Observe(world.NewSnapshot(at(now), s(now)))
	}
	return w.Result(), now - 20
}

func moveTo(t testing.TB) Motion {
	return Motion{
		Capability: bench(t).Capability("move_to"), Args: args(), ArgsJSON: `{"x_cm":20,"y_cm":5,"z_cm":15}`,
		Mode: "sim", Phase: "settle", Attempt: 1, BudgetLeft: 3,
	}
}
