package goal

import (
	"bytes"
	"os"
	"testing"
	"time"

	"interlock/contract"
	"interlock/units"
	"interlock/world"
)

// bench is a contract with two cubes and a tray; closed says whether anything else may exist.
func bench(t testing.TB, closed bool) *contract.Contract {
	t.Helper()
	src, err := os.ReadFile("testdata/bench.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if closed {
		src = bytes.Replace(src, []byte("vocabulary:\n"), []byte("vocabulary:\n  closed: true\n"), 1)
	}
	c, err := contract.Load("testdata/bench.yaml", src)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func at(ms int) units.Instant { return units.Instant(0).Add(time.Duration(ms) * time.Millisecond) }

// cube is an object of 3 cm whose centre is at x, y and whose bottom is at the height, all in cm.
func cube(label string, xCm, yCm, bottomCm float64) world.Object {
	o := world.Object{Label: label, SizeM: units.Vec3{0.03, 0.03, 0.03}}
	o.Pose.Position = units.Vec3{units.MetresFromCm(xCm), units.MetresFromCm(yCm), units.MetresFromCm(bottomCm + 1.5)}
	o.Pose.Orientation = units.YawQuat(0)
	return o
}

func seen(ms int, objects ...world.Object) world.Fact {
	return world.Fact{Name: "objects", Value: world.Value{Kind: world.KindPoses, Objects: objects}, Witness: "camera", At: at(ms)}
}

func tip(xCm float64, ms int) world.Fact {
	p := units.Vec3{units.MetresFromCm(xCm), 0, 0.1}
	return world.Fact{Name: "tip", Value: world.Value{Kind: world.KindPoint, Point: p}, Witness: "encoders", At: at(ms)}
}

// measure watches the goal from 1,000 ms on, a look every 20 ms.
func measure(g *Goal, facts func(now int) []world.Fact) Measurement {
	w := g.Watch(at(1000))
	for now := 1000; now < 10000; now += 20 {
		if _, settled := w.Observe(world.NewSnapshot(at(now), facts(now))); settled {
			return w.Measurement()
		}
	}
	return Measurement{}
}

func request(goal string) Request {
	return Request{Words: "lift the red cube", Provenance: Person, Goal: goal, MaxMissions: 3}
}

const redLifted = `lifted("red cube")`
