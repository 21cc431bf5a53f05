package skill_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"interlock/arm"
	"interlock/body/sim"
	"interlock/contract"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot"
	"interlock/robot/gate"
	"interlock/robot/skill"
	"interlock/units"
)

// scripted is a source made of a function, which is asked for every setpoint. It counts, and notes what it is shown.
type scripted struct {
	from  *arm.Joints
	bound time.Duration
	next  func(ctx context.Context, s *scripted, elapsed time.Duration, seen arm.Servos) (skill.Answer, error)

	mu      sync.Mutex
	begun   int
	asked   int
	inside  int // questions that are being answered
	most    int // of them at one time
	seen    []arm.Servos
	endedBy error // of the last question's context, after it was answered
}

func (s *scripted) Describe() skill.SourceDescription {
	return skill.SourceDescription{Start: s.from, Bound: s.bound}
}

func (s *scripted) Begin(context.Context, []float64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun++
	return nil
}

func (s *scripted) Next(ctx context.Context, elapsed time.Duration, observedRad []float64) (skill.Answer, error) {
	q, ok := arm.ServosOf(observedRad)
	if !ok {
		return skill.Answer{}, errors.New("nothing was observed")
	}
	s.mu.Lock()
	s.asked++
	s.inside++
	s.most = max(s.most, s.inside)
	s.seen = append(s.seen, q)
	s.mu.Unlock()
	a, err := s.next(ctx, s, elapsed, q)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inside--
	s.endedBy = ctx.Err()
	return a, err
}

func home() *arm.Joints { h := arm.Home(); return &h }

// waver is a policy that waves as the contract's table does, once it sees the arm standing at home.
func waver(t testing.TB) *scripted {
	frames := shipped(t).Gestures[0].Tables[0].Keyframes[1:]
	at := arm.Home().With(arm.JawOpenRad)
	path := arm.Trajectory{}
	for _, k := range frames {
		to := at
		if k.Pose == "home" {
			to = arm.Home().With(arm.JawOpenRad)
		}
		for _, j := range k.Joints {
			to[slices.Index([]string{"pan", "lift", "elbow", "wrist_flex", "wrist_roll"}, j.Joint)] = units.RadFromDeg(j.Deg)
		}
		path = append(path, arm.Phase{Name: "wave", Segment: arm.Segment{From: at, To: to, T: k.Over}})
		at = to
	}
	var since time.Duration // when it saw the arm at home
	return &scripted{from: home(), bound: 6 * time.Second, next: func(_ context.Context, s *scripted, elapsed time.Duration, seen arm.Servos) (skill.Answer, error) {
		if elapsed < roboTick*2 {
			since = -1
		}
		if since < 0 {
			for j, want := range arm.Home() {
				if math.Abs(seen[j]-want) > 0.05 {
					return skill.Answer{Does: skill.Waits, Phase: "begin"}, nil
				}
			}
			since = elapsed
		}
		q, phase, _ := path.At(elapsed - since)
		does := skill.Goes
		if elapsed-since >= path.Duration() {
			does = skill.Ends
		}
		return skill.Answer{Does: does, PositionsRad: q[:], Phase: phase}, nil
	}}
}

// policyWave puts the source of the name behind wave.
func policyWave(name string) []string {
	return []string{"description: Wave the hand at a person,", "skill: policy:" + name + "\n    description: Wave the hand at a person,"}
}

// A policy behind a verb: the same tool, the same words of its mission in the same order, the same measured end, from
// wherever the arm is, and the hand really waves.
//
// Verifies: V110
func TestAPolicyPlaysAVerb(t *testing.T) {
	var tools []*contractv1.Capability
	var words [][]string
	for _, p := range []play{{}, {edits: policyWave("waver"), sources: skill.Sources{"waver": waver(t)}}} {
		onStage(t, p, func(t *testing.T, s *stage) {
			m, err := s.client.Describe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(m.GetCapabilities(), func(c *contractv1.Capability) bool { return c.GetName() == "wave" })
			if i < 0 {
				t.Fatalf("no wave; withdrawn: %v", m.GetWithdrawn())
			}
			tools = append(tools, m.GetCapabilities()[i])
			if got := ending(s.do("aside", "move_to", `{"x_cm":14,"y_cm":13,"z_cm":19}`)); got != "VERIFIED" {
				t.Fatal(got)
			}
			events := s.do("m", "wave", "{}")
			words = append(words, kinds(events))
			if got := ending(events); got != "VERIFIED" || s.pressed() != 0 {
				t.Errorf("%s, %.2f N: %v", got, s.pressed(), events[len(events)-1])
			}
		})
		if source, ok := p.sources["waver"].(*scripted); ok {
			left, right := 0.0, 0.0
			for _, q := range source.seen {
				left, right = math.Min(left, q[arm.Pan]), math.Max(right, q[arm.Pan])
			}
			if left > -0.2 || right < 0.2 || source.begun != 1 || source.most != 1 {
				t.Errorf("it saw the pan go from %.2f to %.2f rad, and began %d times", left, right, source.begun)
			}
		}
	}
	if !proto.Equal(tools[0], tools[1]) {
		t.Errorf("the tool is another one:\n%v\n%v", tools[0], tools[1])
	}
	if want := "ACCEPTED STARTED PHASE begin PHASE wave ARRIVED VERIFIED"; !slices.Equal(words[0], words[1]) || strings.Join(words[0], " ") != want {
		t.Errorf("missions: %v and %v, want %s", words[0], words[1], want)
	}
}

// goes is a source that adds to where it began, in one joint, so many radians a tick; it never ends by itself.
func goes(joint int, perTickRad float64) *scripted {
	at := arm.Home().With(arm.JawOpenRad)
	return &scripted{from: home(), bound: 6 * time.Second, next: func(context.Context, *scripted, time.Duration, arm.Servos) (skill.Answer, error) {
		at[joint] += perTickRad
		q := at
		return skill.Answer{Does: skill.Goes, PositionsRad: q[:]}, nil
	}}
}

// says is a source with one answer to everything.
func says(a skill.Answer, err error) *scripted {
	return &scripted{from: home(), bound: 2 * time.Second, next: func(context.Context, *scripted, time.Duration, arm.Servos) (skill.Answer, error) {
		return a, err
	}}
}

// stalls is a source that goes up for a while and then does not come back before the gate opens, whatever becomes of ctx.
func stalls(open <-chan struct{}) *scripted {
	s := goes(arm.Lift, -0.01)
	up := s.next
	s.next = func(ctx context.Context, s *scripted, elapsed time.Duration, seen arm.Servos) (skill.Answer, error) {
		if elapsed > 300*time.Millisecond {
			<-open
		}
		return up(ctx, s, elapsed, seen)
	}
	return s
}

// What a policy gets wrong ends its mission with the word for it, and nothing touches the table: it drives into the table
// or into the arm, jumps, sends what is no number or no configuration, fails, panics, says nonsense, never ends, or says
// nothing. Without the geometry the one that drives down presses the table.
//
// Verifies: V111
func TestHostilePolicies(t *testing.T) {
	nan := arm.Home().With(1)
	nan[arm.Elbow] = math.NaN()
	far := arm.Home().With(1)
	far[arm.Lift] = 3
	still := arm.Home().With(1)
	open := make(chan struct{})
	for name, c := range map[string]struct {
		source *scripted
		reason string
	}{
		"into the table":    {goes(arm.Lift, 0.03), "fault: PATH_BLOCKED"},
		"creeps down":       {goes(arm.Lift, 0.008), "fault: PATH_BLOCKED"},
		"bends down":        {goes(arm.WristFlex, 0.03), "fault: PATH_BLOCKED"},
		"folds over":        {folds(), "fault: PATH_BLOCKED"},
		"jumps":             {goes(arm.Pan, 0.5), "fault: OUT_OF_RANGE"},
		"sends NaN":         {says(skill.Answer{Does: skill.Goes, PositionsRad: nan[:]}, nil), "fault: NOT_FINITE"},
		"too few joints":    {says(skill.Answer{Does: skill.Goes, PositionsRad: still[:5]}, nil), "fault: WRONG_TYPE"},
		"no joints":         {says(skill.Answer{Does: skill.Goes}, nil), "fault: WRONG_TYPE"},
		"out of range":      {says(skill.Answer{Does: skill.Goes, PositionsRad: far[:]}, nil), "fault: OUT_OF_RANGE"},
		"ends out of range": {says(skill.Answer{Does: skill.Ends, PositionsRad: far[:]}, nil), "fault: OUT_OF_RANGE"},
		"fails":             {says(skill.Answer{}, errors.New("out of memory")), `plan_failed: source bad failed: "out of memory"`},
		"panics":            {panics(), `plan_failed: source bad failed: "panic: no weights"`},
		"nonsense":          {says(skill.Answer{}, nil), "plan_failed: source bad: it answers 0"},
		"paints":            {says(skill.Answer{Does: skill.Waits, Phase: "\x1b[31mdone"}, nil), "plan_failed: source bad: \"\\x1b[31mdone\" is no name"},
		"waits for ever":    {says(skill.Answer{Does: skill.Waits}, nil), "plan_failed: source bad: skill: the source did not end within its bound: 2s"},
		"stalls":            {stalls(open), "plan_failed: source bad: skill: the source said nothing for too long: 500ms"},
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, play{edits: policyWave("bad"), sources: skill.Sources{"bad": c.source}}, func(t *testing.T, s *stage) {
				if name == "stalls" {
					open = make(chan struct{})
					c.source.next = stalls(open).next
					defer close(open)
				}
				events := s.do("m", "wave", "{}")
				last := events[len(events)-1]
				if ending(events) != "ABORTED(fault)" || !strings.Contains(last.GetReason(), c.reason) {
					t.Errorf("%s: %s %q, want fault %q", name, last.GetKind(), last.GetReason(), c.reason)
				}
				if took := last.GetAtMs() - events[0].GetAtMs(); took > 3200 { // to the start, its bound, and standstill
					t.Errorf("it took %d ms", took)
				}
				if o, err := s.guard.Observe(); err != nil || !o.Standstill || s.pressed() != 0 {
					t.Errorf("standstill %v, %.2f N, %v", o.Standstill, s.pressed(), err)
				}
				if name == "folds over" {
					return // it stands where the gate finds no straight way home
				}
				// The robot is none the worse for it.
				if got := ending(s.do("after", "home", "{}")); got != "VERIFIED" || s.pressed() != 0 {
					t.Errorf("home afterwards: %s, %.2f N", got, s.pressed())
				}
			})
		})
	}
	onStage(t, play{edits: policyWave("bad"), sources: skill.Sources{"bad": goes(arm.Lift, 0.03)}, open: true}, func(t *testing.T, s *stage) {
		if s.do("m", "wave", "{}"); s.pressed() == 0 {
			t.Error("without a geometry it does not press the table either: it is tame")
		}
	})
}

// A policy keeps the limits of its own verb, which may be lower than the driver's.
//
// Verifies: V117
func TestThePolicyKeepsTheLimitsOfItsVerb(t *testing.T) {
	slow := slices.Concat(policyWave("bad"), []string{"on_cancel: return_to_origin\n    timeout_s: 15\n    limits: {tip_speed_mps: 1.0, joint_speed_dps: 240}\n\n  nod:",
		"on_cancel: return_to_origin\n    timeout_s: 15\n    limits: {tip_speed_mps: 0.2, joint_speed_dps: 60}\n\n  nod:"})
	for per, want := range map[float64]string{-0.025: "ABORTED(fault)", -0.015: "CANCELLED"} { // rad a tick: 72 and 43 degrees a second
		onStage(t, play{edits: slow, sources: skill.Sources{"bad": goes(arm.Lift, per)}}, func(t *testing.T, s *stage) {
			events := s.during("m", "wave", "{}", 60, func() {
				_, err := s.client.Cancel(context.Background(), &contractv1.CancelRequest{MissionId: "m"})
				if err != nil {
					t.Error(err)
				}
			})
			if got := ending(events); got != want || want == "ABORTED(fault)" && events[len(events)-1].GetReason() != "fault: OUT_OF_RANGE" {
				t.Errorf("%v rad a tick under the verb's own limits: %s", per, got)
			}
		})
	}
}

func panics() *scripted {
	return &scripted{bound: time.Second, next: func(context.Context, *scripted, time.Duration, arm.Servos) (skill.Answer, error) { panic("no weights") }}
}

// folds turns the hand onto the shoulder.
func folds() *scripted {
	from, to := arm.Joints{0, -1.5, 0.6, 0.3, 1.57}, arm.Joints{0, -1.5, 1.6, 1.6, 1.57}
	return &scripted{from: &from, bound: 3 * time.Second, next: func(_ context.Context, _ *scripted, elapsed time.Duration, _ arm.Servos) (skill.Answer, error) {
		q := arm.Segment{From: from.With(1), To: to.With(1), T: 2 * time.Second}.At(elapsed)
		return skill.Answer{Does: skill.Goes, PositionsRad: q[:]}, nil
	}}
}

// A policy that goes on as if nothing had happened: after the stop nothing moves, and it is not asked any more.
//
// Verifies: V112
func TestAPolicyThatIgnoresAStop(t *testing.T) {
	bad := goes(arm.Lift, -0.005)
	onStage(t, play{edits: policyWave("bad"), sources: skill.Sources{"bad": bad}}, func(t *testing.T, s *stage) {
		var asked int
		events := s.during("m", "wave", "{}", 60, func() {
			s.guard.Stop("test")
			bad.mu.Lock()
			defer bad.mu.Unlock()
			asked = bad.asked
		})
		bad.mu.Lock()
		after := bad.asked
		bad.mu.Unlock()
		if got := ending(events); got != "ABORTED(stop)" || asked == 0 || after > asked+1 {
			t.Errorf("%s; asked %d times, %d times when it was stopped", got, after, asked)
		}
		there := s.measured()
		if err := s.guard.Advance(2 * time.Second); err != nil {
			t.Fatal(err)
		}
		s.near(there, 0.002, 0.02)
		if err := s.guard.Reset(s.guard.Latch().Number); err != nil {
			t.Fatal(err)
		}
		if err := s.guard.Advance(2 * time.Second); err != nil {
			t.Fatal(err)
		}
		s.near(there, 0.002, 0.02)
	})
}

// While a policy waits, or says nothing for a while, the arm holds its last setpoint and the driver never misses one. Every
// tick of that wait sees a stop and a cancel, and the robot answers others meanwhile.
//
// Verifies: V113
func TestAPolicyThatWaits(t *testing.T) {
	end := arm.Home().With(arm.JawOpenRad)
	waits := func(silent bool) *scripted {
		return &scripted{bound: 6 * time.Second, next: func(ctx context.Context, _ *scripted, elapsed time.Duration, _ arm.Servos) (skill.Answer, error) {
			switch {
			case !silent && elapsed < 3*time.Second:
				return skill.Answer{Does: skill.Waits}, nil
			case silent && elapsed < 100*time.Millisecond: // as long as the loop waits for twenty ticks, less than SourceSilence
				select {
				case <-time.After(200 * time.Millisecond):
				case <-ctx.Done():
				}
			}
			return skill.Answer{Does: skill.Ends, PositionsRad: end[:]}, nil
		}}
	}
	for name, silent := range map[string]bool{"waits": false, "thinks": true} {
		t.Run(name, func(t *testing.T) {
			onStage(t, play{edits: policyWave("slow"), sources: skill.Sources{"slow": waits(silent)}}, func(t *testing.T, s *stage) {
				before := s.measured()
				events := s.during("m", "wave", "{}", 5, func() {
					begun := time.Now()
					if _, err := s.client.Observe(t.Context(), &contractv1.ObserveRequest{}); err != nil || time.Since(begun) > roboTick {
						t.Errorf("another request waited %v, %v", time.Since(begun), err)
					}
				})
				if got := ending(events); got != "VERIFIED" {
					t.Errorf("%s %s", got, events[len(events)-1].GetReason())
				}
				s.near(before, 0.01, 0.005)
			})
			for word, act := range map[string]func(*stage){
				"ABORTED(stop)": func(s *stage) { s.guard.Stop("test") },
				"CANCELLED": func(s *stage) {
					if _, err := s.client.Cancel(context.Background(), &contractv1.CancelRequest{MissionId: "m"}); err != nil {
						t.Error(err)
					}
				},
			} {
				onStage(t, play{edits: policyWave("slow"), sources: skill.Sources{"slow": waits(silent)}}, func(t *testing.T, s *stage) {
					if got := ending(s.during("m", "wave", "{}", 6, func() { act(s) })); got != word {
						t.Errorf("%s, want %s", got, word)
					}
				})
			}
		})
	}
}

// A policy that does not come back is never asked twice at a time: the next mission ends for its silence, and once it is
// back it plays again.
//
// Verifies: V114
func TestAPolicyIsAskedOnce(t *testing.T) {
	bad := goes(arm.Lift, -0.01)
	onStage(t, play{edits: policyWave("bad"), sources: skill.Sources{"bad": bad}}, func(t *testing.T, s *stage) {
		open := make(chan struct{})
		bad.next = stalls(open).next
		for i := range 3 {
			events := s.do(fmt.Sprint("m", i), "wave", "{}")
			if got := events[len(events)-1].GetReason(); !strings.Contains(got, "said nothing") {
				t.Errorf("mission %d: %s", i, got)
			}
		}
		close(open)
		bad.mu.Lock()
		most, begun := bad.most, bad.begun
		bad.mu.Unlock()
		if most != 1 || begun != 1 {
			t.Errorf("asked %d times at once, begun %d times", most, begun)
		}
		if got := s.do("m9", "wave", "{}"); strings.Contains(got[len(got)-1].GetReason(), "said nothing") {
			t.Errorf("afterwards: %v", got[len(got)-1])
		}
	})
}

// A verb whose policy the robot does not have is withdrawn, with the reason; one whose policy may take longer than the verb
// may is refused; and what is no name of a policy does not load.
//
// Verifies: V115
func TestPoliciesThatAreNotThere(t *testing.T) {
	c := shipped(t, policyWave("waver")...)
	body, err := sim.New(sim.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	p, err := skill.NewPlanner(c, skill.Best)
	if err != nil {
		t.Fatal(err)
	}
	judge := func(p *skill.Planner) (contract.Alignment, reject.List) {
		a := robot.Align(c, body.Describe(), p)
		from := arm.Home().With(1)
		_, l := gate.New(c, a, p).Judge(gate.Call{Capability: "wave", Args: []byte("{}")}, nil, gate.Standing{StartRad: from[:]}, nil)
		return a, l
	}
	a, l := judge(p)
	if why := a.Withdrawn["wave"]; why != `the robot has no source of setpoints "waver"` || len(a.Withdrawn) != 1 {
		t.Errorf("withdrawn: %v", a.Withdrawn)
	}
	if len(l) != 1 || l[0].Code != reject.NotPermitted {
		t.Errorf("a call of it: %v", l)
	}
	slow := waver(t)
	slow.bound = time.Minute
	for bound, code := range map[time.Duration]reject.Code{time.Minute: reject.Unreachable, 6 * time.Second: ""} {
		slow.bound = bound
		with, err := p.WithSources(skill.Sources{"waver": slow})
		if err != nil {
			t.Fatal(err)
		}
		a, l := judge(with)
		if len(a.Withdrawn) > 0 || (code == "") != (len(l) == 0) || len(l) > 0 && (l[0].Code != code || l[0].Rule != "timeout_s") {
			t.Errorf("bound %v: %v, %v", bound, a.Withdrawn, l)
		}
	}
	for _, bad := range []skill.Sources{
		{"": waver(t)}, {"waver": nil}, {"waver": &scripted{}}, {"waver": &scripted{bound: -1}}, {"waver": &scripted{bound: time.Hour}},
		{"waver": &scripted{bound: time.Second, from: &arm.Joints{0, 9}}}, {"waver": &scripted{bound: time.Second, from: &arm.Joints{math.NaN()}}},
	} {
		if _, err := p.WithSources(bad); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
	for name, code := range map[string]string{"policy:": "bad-name", "policy:No Name": "bad-name", "policy": "unknown-skill", "waver": "unknown-skill"} {
		edit := policyWave("x")
		edit[1] = strings.Replace(edit[1], "policy:x", `"`+name+`"`, 1)
		_, err := contract.Load("x.yaml", []byte(edited(t, edit...)))
		var wrong contract.Problems
		if !errors.As(err, &wrong) || wrong[0].Code != code || wrong[0].Line == 0 {
			t.Errorf("%q: %v", name, err)
		}
	}
}
