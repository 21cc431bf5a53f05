package verify

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"interlock/units"
	"interlock/world"

	"pgregory.net/rapid"
)

// TestSensorFaults: one sensor, one thing wrong with it. Only an honest one leads to success.
//
// Verifies: P16
// Verifies: P13
func TestSensorFaults(t *testing.T) {
	cases := map[string]struct {
		tip     sensors
		want    State
		missing []string
	}{
		"honest, at the target":        {func(now int) []world.Fact { return []world.Fact{tip(20, now)} }, Succeeded, nil},
		"honest, at the tolerance":     {func(now int) []world.Fact { return []world.Fact{tip(20.99, now)} }, Succeeded, nil},
		"honest, 1.1 cm off":           {func(now int) []world.Fact { return []world.Fact{tip(21.1, now)} }, Failed, nil},
		"done said, nothing moved":     {func(now int) []world.Fact { return []world.Fact{tip(13, now)} }, Failed, nil},
		"time stands still":            {func(int) []world.Fact { return []world.Fact{tip(20, 2000)} }, Unverified, []string{"tip"}},
		"time stands still, far off":   {func(int) []world.Fact { return []world.Fact{tip(13, 2000)} }, Unverified, []string{"tip"}},
		"time stood still on the way":  {func(int) []world.Fact { return []world.Fact{tip(20, 1500)} }, Unverified, []string{"tip"}},
		"only from before the start":   {func(int) []world.Fact { return []world.Fact{tip(20, 1000)} }, Unverified, []string{"tip"}},
		"always 300 ms late":           {func(now int) []world.Fact { return []world.Fact{tip(20, now-300)} }, Unverified, []string{"tip"}},
		"100 ms late":                  {func(now int) []world.Fact { return []world.Fact{tip(20, now-100)} }, Succeeded, nil},
		"from the future":              {func(now int) []world.Fact { return []world.Fact{tip(20, now+20)} }, Unverified, []string{"tip"}},
		"dropped for good":             {func(int) []world.Fact { return nil }, Unverified, []string{"tip"}},
		"dropped, the last one kept":   {kept(dropped), Succeeded, nil},
		"dropped and forgotten":        {dropped, Unverified, []string{"tip"}},
		"kept when it never came back": {kept(until(2100)), Unverified, []string{"tip"}},
		"not a number":                 {func(now int) []world.Fact { return []world.Fact{tip(math.NaN(), now)} }, Unverified, []string{"tip"}},
		"infinite":                     {func(now int) []world.Fact { return []world.Fact{tip(math.Inf(1), now)} }, Unverified, []string{"tip"}},
		"error not a number":           {sigma(math.NaN()), Unverified, []string{"tip"}},
		"error too large to tell":      {sigma(8), Unverified, nil},
		"error small enough":           {sigma(4), Succeeded, nil},
		"another sensor's reading":     {swapped, Unverified, []string{"tip"}},
		"of another kind":              {func(now int) []world.Fact { return []world.Fact{number("tip", "encoders", 20, now)} }, Unverified, []string{"tip"}},
		"metres taken for centimetres": {func(now int) []world.Fact { return []world.Fact{tip(0.2, now)} }, Failed, nil},
		"replayed from last time":      {replayed, Unverified, []string{"tip"}},
		"flickers faster than it must": {flickers, Failed, nil},
		"arrives late, but in time":    {arrives(3480), Succeeded, nil},
		"arrives too late":             {arrives(3520), Failed, nil},
		"slips out of the tolerance":   {slips, Failed, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, _ := run(t, moveTo(t), c.tip)
			if got.State != c.want || !slices.Equal(got.Missing, c.missing) {
				t.Fatalf("%s, missing %v; want %s, missing %v", got.State, got.Missing, c.want, c.missing)
			}
			if (got.Failure != nil) != (c.want == Failed) {
				t.Errorf("failure record %+v", got.Failure)
			}
			if c.want == Unverified && !slices.Equal(got.Unclear, []string{"tip_at_target"}) {
				t.Errorf("unclear %v", got.Unclear)
			}
		})
	}
}

func dropped(now int) []world.Fact {
	if now%40 == 0 {
		return nil
	}
	return []world.Fact{tip(20, now)}
}

// kept is what a robot sees that keeps the last reading of every sensor.
func kept(s sensors) sensors {
	known := world.NewSnapshot(0, nil)
	return func(now int) []world.Fact {
		known = world.NewSnapshot(at(now), s(now)).Keep(known)
		return known.Facts()
	}
}

func sigma(mm float64) sensors {
	return func(now int) []world.Fact {
		f := tip(20.1, now)
		f.Sigma = mm
		return []world.Fact{f}
	}
}

func swapped(now int) []world.Fact {
	f := tip(20, now)
	f.Witness = "gripper_encoder"
	return []world.Fact{f}
}

// replayed sends the readings of the motion again, with their old times.
func replayed(now int) []world.Fact { return []world.Fact{tip(20, 1001+now%900)} }

func flickers(now int) []world.Fact {
	if now%160 == 0 {
		return []world.Fact{tip(25, now)}
	}
	if now >= 3500 {
		return []world.Fact{tip(25, now)}
	}
	return []world.Fact{tip(20, now)}
}

func arrives(when int) sensors {
	return func(now int) []world.Fact {
		if now < when {
			return []world.Fact{tip(13, now)}
		}
		return []world.Fact{tip(20, now)}
	}
}

func slips(now int) []world.Fact {
	if now > 2150 {
		return []world.Fact{tip(22, now)}
	}
	return []world.Fact{tip(20, now)}
}

// TestVerdictTakesTheHold: a success takes the hold and not longer, a failure all the time it is given.
func TestVerdictTakesTheHold(t *testing.T) {
	_, when := run(t, moveTo(t), func(now int) []world.Fact { return []world.Fact{tip(20, now)} })
	if when != 2200 {
		t.Errorf("the verdict came at %d ms, want 2,200: the end of the motion and the hold", when)
	}
	_, when = run(t, moveTo(t), func(now int) []world.Fact { return []world.Fact{tip(13, now)} })
	if when != 3500 {
		t.Errorf("the failure came at %d ms, want 3,500: the end of the motion and within_ms", when)
	}
}

// TestEvidenceIsComplete: a success names the condition with the version of its predicates, the sensor, times, the value and the bound.
//
// Verifies: P13
func TestEvidenceIsComplete(t *testing.T) {
	got, _ := run(t, moveTo(t), func(now int) []world.Fact { return []world.Fact{tip(20.2, now-20)} })
	if got.State != Succeeded || len(got.Evidence) != 1 {
		t.Fatalf("%+v", got)
	}
	e := got.Evidence[0]
	if !strings.HasPrefix(e.Condition, "tip_at_target") || !strings.Contains(e.Condition, "at@3") {
		t.Errorf("condition %q does not name its predicate's version", e.Condition)
	}
	if e.Fact != "tip" || e.Witness != "encoders" || e.Observed == "" || !strings.Contains(e.Threshold, "10") {
		t.Errorf("%+v", e)
	}
	if e.StartedAtMS != 1000 || e.SourceAtMS <= e.StartedAtMS || e.AgeMS != 20 {
		t.Errorf("times %+v", e)
	}
}

// TestNoSuccessWithoutEvidence: whatever the sensors do, a success has complete evidence from after the end.
//
// Verifies: P13
func TestNoSuccessWithoutEvidence(t *testing.T) {
	c := bench(t)
	states := map[State]int{}
	rapid.Check(t, func(t *rapid.T) {
		m := Motion{Capability: c.Capability("open_gripper"), Mode: "sim", StartedAt: at(1000), EndedAt: at(2000)}
		w, err := New(m)
		if err != nil {
			t.Fatal(err)
		}
		gapOK := rapid.IntRange(0, 9).Draw(t, "gap ok")
		for now := 2000; now < 6000 && w.Result().State == Pending; now += 20 {
			gap, age := 45.0, rapid.SampledFrom([]int{0, 0, 0, 0, 0, 20, 300, 2000}).Draw(t, "age")
			if rapid.IntRange(0, 9).Draw(t, "gap") < gapOK-8 {
				gap = 3
			}
			f := tip(20, now-age)
			f.Witness = rapid.SampledFrom([]string{"encoders", "encoders", "encoders", "encoders", "encoders", ""}).Draw(t, "witness")
			w.Observe(world.NewSnapshot(at(now), []world.Fact{f, number("jaw_gap_mm", "gripper_encoder", gap, now-age)}))
		}
		r := w.Result()
		states[r.State]++
		if r.State != Succeeded {
			return
		}
		if len(r.Evidence) != 2 {
			t.Fatalf("evidence %+v", r.Evidence)
		}
		for _, e := range r.Evidence {
			if !complete(e) || e.SourceAtMS < 2000 || e.AgeMS > 250 {
				t.Fatalf("success rests on %+v", e)
			}
		}
	})
	if !testing.Short() && (states[Succeeded] == 0 || states[Unverified] == 0) { // a short run draws too few
		t.Errorf("the sensors are too much alike: %v", states)
	}
}

// TestJoint: all postconditions at once. One that held and was lost again does not count.
func TestJoint(t *testing.T) {
	open := Motion{Capability: bench(t).Capability("open_gripper"), Mode: "sim"}
	cases := map[string]struct {
		s    sensors
		want State
	}{
		"both": {func(now int) []world.Fact {
			return []world.Fact{tip(20, now), number("jaw_gap_mm", "gripper_encoder", 45, now)}
		}, Succeeded},
		"the second is lost while the first is awaited": {func(now int) []world.Fact {
			f := tip(20, now)
			if now > 2400 {
				f.Value.Point[2] = 0.02
			}
			gap := 10.0
			if now > 2700 {
				gap = 45
			}
			return []world.Fact{f, number("jaw_gap_mm", "gripper_encoder", gap, now)}
		}, Failed},
		"one false, one never seen": {func(now int) []world.Fact {
			return []world.Fact{number("jaw_gap_mm", "gripper_encoder", 10, now)}
		}, Failed},
		"one true, one never seen": {func(now int) []world.Fact {
			return []world.Fact{number("jaw_gap_mm", "gripper_encoder", 45, now)}
		}, Unverified},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got, _ := run(t, open, c.s); got.State != c.want {
				t.Errorf("%s, want %s", got.State, c.want)
			}
		})
	}
}

// TestFreshIsNotEnough: a reading that may be old is still none of this motion if it is from before it, or from its way.
//
// Verifies: P13
func TestFreshIsNotEnough(t *testing.T) {
	rest := Motion{Capability: bench(t).Capability("rest"), Mode: "sim"}
	docked := func(ms int) []world.Fact {
		return []world.Fact{{Name: "docked", Value: world.Value{Kind: world.KindFlag, Flag: true}, Witness: "dock", At: at(ms)}}
	}
	cases := map[string]struct {
		s        sensors
		want     State
		evidence int
	}{
		"from before the start": {func(int) []world.Fact { return docked(900) }, Unverified, 0},
		"at the start":          {func(int) []world.Fact { return docked(1000) }, Unverified, 0},
		"on the way":            {func(int) []world.Fact { return docked(1900) }, Unverified, 1},
		"one reading after":     {func(int) []world.Fact { return docked(2000) }, Unverified, 1},
		"reports every 120 ms":  {func(now int) []world.Fact { return docked(2000 + (now-2000)/120*120) }, Succeeded, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, _ := run(t, rest, c.s)
			if got.State != c.want || len(got.Evidence) != c.evidence {
				t.Errorf("%s with evidence %+v; want %s with %d", got.State, got.Evidence, c.want, c.evidence)
			}
		})
	}
}

// TestTheOldestWitnessCounts: where one condition reads two sensors, a hold needs new readings of both.
//
// Verifies: P13
func TestTheOldestWitnessCounts(t *testing.T) {
	offer := Motion{Capability: bench(t).Capability("hand_over"), Mode: "sim"}
	cases := map[string]struct {
		tipMS, gapMS func(now int) int
		want         State
	}{
		"both report":                {func(now int) int { return now }, func(now int) int { return now }, Succeeded},
		"the tip stopped on its way": {func(int) int { return 1990 }, func(now int) int { return now }, Unverified},
		"the tip stands still":       {func(int) int { return 2000 }, func(now int) int { return now }, Unverified},
		"the jaws stand still":       {func(now int) int { return now }, func(int) int { return 2000 }, Unverified},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, _ := run(t, offer, func(now int) []world.Fact {
				return []world.Fact{tip(20, c.tipMS(now)), number("jaw_gap_mm", "gripper_encoder", 45, c.gapMS(now))}
			})
			if got.State != c.want {
				t.Errorf("%s, want %s", got.State, c.want)
			}
		})
	}
}

// TestComplete leaves one thing out of the evidence at a time.
//
// Verifies: P13
func TestComplete(t *testing.T) {
	whole := world.Evidence{Condition: "c [p@1]", Fact: "f", Witness: "w", SourceAtMS: 5, AgeMS: 0, Observed: "1", Threshold: "2"}
	if !complete(whole) {
		t.Fatal("whole evidence is not complete")
	}
	for name, spoil := range map[string]func(*world.Evidence){
		"condition": func(e *world.Evidence) { e.Condition = "" }, "fact": func(e *world.Evidence) { e.Fact = "" },
		"witness": func(e *world.Evidence) { e.Witness = "" }, "value": func(e *world.Evidence) { e.Observed = "" },
		"threshold": func(e *world.Evidence) { e.Threshold = "" }, "age": func(e *world.Evidence) { e.AgeMS = -1 },
	} {
		e := whole
		spoil(&e)
		if complete(e) {
			t.Errorf("complete without %s", name)
		}
	}
}

// TestModes: a postcondition of another mode is skipped, and nothing left to measure is no success.
func TestModes(t *testing.T) {
	free := func(now int) []world.Fact { return []world.Fact{number("table_force_n", "contact_sensor", 0, now)} }
	home := bench(t).Capability("home")
	if got, _ := run(t, Motion{Capability: home, Mode: "sim"}, free); got.State != Succeeded {
		t.Errorf("in the simulator: %s", got.State)
	}
	if got, _ := run(t, Motion{Capability: home, Mode: "hardware"}, free); got.State != Unverified {
		t.Errorf("on hardware: %s", got.State)
	}
}

// TestSlowCamera: a source of 5 Hz takes longer, and is not asked for more than it can give.
func TestSlowCamera(t *testing.T) {
	pick := Motion{Capability: bench(t).Capability("pick"), Mode: "sim"}
	got, when := run(t, pick, func(now int) []world.Fact { return []world.Fact{cube(8, now/200*200)} })
	if got.State != Succeeded || when != 2200 {
		t.Errorf("%s at %d ms", got.State, when)
	}
	got, _ = run(t, pick, func(now int) []world.Fact { return []world.Fact{cube(4.1, now)} })
	if got.State != Unverified {
		t.Errorf("within the error of the camera: %s", got.State)
	}
	got, _ = run(t, pick, func(now int) []world.Fact { return []world.Fact{cube(3.5, now)} })
	if got.State != Failed || got.Failure.Source != "camera" {
		t.Errorf("below: %s %+v", got.State, got.Failure)
	}
}

// cube is the red cube with its bottom at the height.
func cube(bottomCm float64, ms int) world.Fact {
	o := world.Object{Label: "red cube", SizeM: units.Vec3{0.03, 0.03, 0.03}}
	o.Pose.Position = units.Vec3{0.2, 0, units.MetresFromCm(bottomCm) + 0.015}
	o.Pose.Orientation = units.YawQuat(0)
	return world.Fact{Name: "objects", Value: world.Value{Kind: world.KindPoses, Objects: []world.Object{o}}, Witness: "camera", At: at(ms)}
}

// TestResultIsFinal: what was decided stays, whatever comes.
func TestResultIsFinal(t *testing.T) {
	m := moveTo(t)
	m.StartedAt, m.EndedAt = at(1000), at(2000)
	w, err := New(m)
	if err != nil {
		t.Fatal(err)
	}
	for now := 2000; now <= 6000; now += 20 {
		x := 13.0
		if now > 3500 {
			x = 20
		}
		w.Observe(world.NewSnapshot(at(now), []world.Fact{tip(x, now)}))
	}
	if got := w.Result(); got.State != Failed || got.Failure.TimestampMS != 3500 {
		t.Errorf("%s %+v", got.State, got.Failure)
	}
}

// TestWrongMotion refuses what cannot be judged.
func TestWrongMotion(t *testing.T) {
	if _, err := New(Motion{}); !errors.Is(err, ErrMotion) {
		t.Errorf("no capability: %v", err)
	}
	m := moveTo(t)
	m.StartedAt, m.EndedAt = at(10), at(9)
	if _, err := New(m); !errors.Is(err, ErrMotion) {
		t.Errorf("ended before it started: %v", err)
	}
}

// TestStateWords names every state.
func TestStateWords(t *testing.T) {
	for s, want := range []string{"pending", "succeeded", "failed", "unverified", "invalid"} {
		if got := State(s).String(); got != want {
			t.Errorf("%d is %q, want %q", s, got, want)
		}
	}
}

// until is a sensor that dies.
func until(when int) sensors {
	return func(now int) []world.Fact {
		if now > when {
			return nil
		}
		return []world.Fact{tip(20, now)}
	}
}
