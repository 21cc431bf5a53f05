package contract_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"google.golang.org/protobuf/proto"

	"interlock/contract"
	contractv1 "interlock/contract/v1"
	"interlock/internal/golden"
	"interlock/reject"
	"interlock/units"
	"interlock/world"
)

const robotFile = "../robots/so101-tabletop.yaml"

func load(t testing.TB) *contract.Contract {
	t.Helper()
	c, err := contract.LoadFile(robotFile)
	if err != nil {
		t.Fatalf("%s does not load:\n%v", robotFile, err)
	}
	return c
}

// offer is a robot that has everything the contract asks for in simulation.
func offer() contract.Offer {
	return contract.Offer{Mode: "sim", Skills: contract.KnownSkills, Witnesses: []contract.Witness{
		{Name: "encoders", Facts: []string{"tip"}}, {Name: "gripper_encoder", Facts: []string{"jaw_gap_mm"}},
		{Name: "gripper_current", Facts: []string{"jaw_load_pct"}}, {Name: "contact_sensor", Facts: []string{"table_force_n"}},
		{Name: "camera", Facts: []string{"objects"}},
	}}
}

// reach answers with fixed misses.
type reach struct{ missM, graspM float64 }

func (r reach) MissM(units.Vec3) float64        { return r.missM }
func (r reach) GraspMissM(world.Object) float64 { return r.graspM }
func near() reach                               { return reach{0.0001, 0.0001} }
func far(missM float64) reach                   { return reach{missM, missM} }

// The verdicts of the published experiment, with the comparison that decided.
//
// Verifies: C11
func TestNamesTheComparisonThatDecided(t *testing.T) {
	c := load(t)
	move, pick := c.Capability("move_to"), c.Capability("pick")
	red := contract.Args{text("name", "red cube")}
	for _, test := range []struct {
		name  string
		cond  *contract.Condition
		in    contract.Inputs
		truth world.Truth
		cause contract.Comparison
		words string
	}{
		{"above", move.Requires[0], contract.Inputs{Args: target(20, 5, 15)}, world.True, contract.Comparison{}, ""},
		{"below", move.Requires[0], contract.Inputs{Args: target(20, 0, -5)}, world.False,
			contract.Comparison{Text: "args.z_cm >= 2.0", Got: "-5", Limit: "2", Unit: "cm", Op: ">="}, "z = -5 cm is below the minimum 2.0 cm above the table"},
		{"near", move.Requires[1], contract.Inputs{Args: target(20, 5, 15), Kinematics: near()}, world.True, contract.Comparison{}, ""},
		{"far", move.Requires[1], contract.Inputs{Args: target(70, 0, 10), Kinematics: far(0.32607)}, world.False,
			contract.Comparison{Text: "reach_mm(point_cm(args.x_cm, args.y_cm, args.z_cm)) <= 5.0", Got: "326.07", Limit: "5", Unit: "mm", Op: "<="},
			"target out of reach: the closest solution within the joint limits misses it by 32.6 cm"},
		{"no kinematics", move.Requires[1], contract.Inputs{Args: target(70, 0, 10)}, world.Unknown,
			contract.Comparison{Text: "reach_mm(point_cm(args.x_cm, args.y_cm, args.z_cm)) <= 5.0", Limit: "5", Unit: "mm", Op: "<="}, "reachable cannot be judged from what is measured"},
		{"there", move.Ensures[0], contract.Inputs{Args: target(20, 5, 15), World: snapshot()}, world.True, contract.Comparison{}, ""},
		{"not there", move.Ensures[0], contract.Inputs{Args: target(20, 5, 18), World: snapshot()}, world.False,
			contract.Comparison{Text: "distance_mm(tip, point_cm(args.x_cm, args.y_cm, args.z_cm)) <= 10.0", Got: "30", Limit: "10", Unit: "mm", Op: "<=", Fact: "tip"}, ""},
		{"held", pick.Ensures[0], contract.Inputs{Args: red, World: snapshot()}, world.True, contract.Comparison{}, ""},
		{"graspable", pick.Requires[0], contract.Inputs{Args: red, World: snapshot(), Kinematics: near()}, world.True, contract.Comparison{}, ""},
		{"out of grasp", pick.Requires[0], contract.Inputs{Args: red, World: snapshot(), Kinematics: far(0.037)}, world.False,
			contract.Comparison{Text: "grasp_reach_mm(objects, args.name) <= 5.0", Got: "37", Limit: "5", Unit: "mm", Op: "<=", Fact: "objects"},
			"red cube is out of reach: the closest grasp within the joint limits misses it by 3.7 cm"},
		{"graspable, unseen", pick.Requires[0], contract.Inputs{Args: contract.Args{text("name", "green cube")}, World: snapshot(), Kinematics: near()}, world.Unknown,
			contract.Comparison{Text: "grasp_reach_mm(objects, args.name) <= 5.0", Limit: "5", Unit: "mm", Op: "<=", Fact: "objects"}, ""},
		{"a solver that answers NaN", move.Requires[1], contract.Inputs{Args: target(1, 1, 3), Kinematics: far(math.NaN())}, world.Unknown,
			contract.Comparison{Text: "reach_mm(point_cm(args.x_cm, args.y_cm, args.z_cm)) <= 5.0", Limit: "5", Unit: "mm", Op: "<="}, ""},
		{"not lifted", pick.Ensures[0], contract.Inputs{Args: red, World: snapshot(lower)}, world.False,
			contract.Comparison{Text: "bottom_cm(objects, args.name) >= 4.0", Got: "0", Limit: "4", Unit: "cm", Op: ">=", Fact: "objects"}, ""},
		{"nothing between the jaws", pick.Ensures[0], contract.Inputs{Args: red, World: snapshot(lower, closed)}, world.False,
			contract.Comparison{Text: "jaw_gap_mm >= 15.0", Got: "4", Limit: "15", Unit: "mm", Op: ">=", Fact: "jaw_gap_mm"}, ""},
		{"no camera", pick.Ensures[0], contract.Inputs{Args: red, World: snapshot(without("objects"))}, world.Unknown,
			contract.Comparison{Text: "bottom_cm(objects, args.name) >= 4.0", Limit: "4", Unit: "cm", Op: ">=", Fact: "objects"}, "held cannot be judged: no fresh reading of objects"},
		{"no camera, nothing held", pick.Ensures[0], contract.Inputs{Args: red, World: snapshot(without("objects"), closed)}, world.False,
			contract.Comparison{Text: "jaw_gap_mm >= 15.0", Got: "4", Limit: "15", Unit: "mm", Op: ">=", Fact: "jaw_gap_mm"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := test.cond.Eval(test.in)
			if nan := test.name == "a solver that answers NaN"; o.Truth != test.truth || (o.Err != nil) != nan || !close(&o.Cause, test.cause) {
				t.Errorf("got %v %+v (%v)\nwant %v %+v", o.Truth, o.Cause, o.Err, test.truth, test.cause)
			}
			if quick, err := test.cond.Truth(test.in); quick != o.Truth || (err == nil) != (o.Err == nil) {
				t.Errorf("Truth is %v, Eval %v", quick, o.Truth)
			}
			if test.words != "" && test.cond.Words(test.in, o) != test.words {
				t.Errorf("words: %s", test.cond.Words(test.in, o))
			}
		})
	}
}

// close compares causes, numbers to 9 digits.
func close(got *contract.Comparison, want contract.Comparison) bool {
	var x float64
	if json.Unmarshal([]byte(got.Got), &x) == nil {
		b, _ := json.Marshal(float64(int64(x*1e9+0.5*sign(x))) / 1e9)
		got.Got = string(b)
	}
	return *got == want
}

func sign(x float64) float64 {
	if x < 0 {
		return -1
	}
	return 1
}

func lower(m map[string]*world.Fact) {
	m["objects"].Value.Objects = []world.Object{cube("red cube", 0.20, 0.05, 0.015)}
}

func closed(m map[string]*world.Fact) { m["jaw_gap_mm"].Value.Number = 4 }

// Negation and alternatives have a cause too.
//
// Verifies: C11
func TestCausesOfNegationsAndAlternatives(t *testing.T) {
	c := load(t)
	for that, want := range map[string]contract.Comparison{
		"!(jaw_gap_mm >= 15.0)":                              {Text: "!(jaw_gap_mm >= 15.0)", Got: "32", Limit: "15", Unit: "mm", Op: "<", Fact: "jaw_gap_mm"},
		"jaw_gap_mm <= 8.0 || 10.0 > jaw_load_pct":           {Text: "jaw_gap_mm <= 8.0", Got: "32", Limit: "8", Unit: "mm", Op: "<=", Fact: "jaw_gap_mm"},
		"10.0 > jaw_load_pct":                                {Text: "10.0 > jaw_load_pct", Got: "80", Limit: "10", Unit: "pct", Op: "<", Fact: "jaw_load_pct"},
		"jaw_gap_mm >= 1.0 && seen(objects, \"green cube\")": {Text: `seen(objects, "green cube")`, Got: "false", Limit: "true", Op: "is", Fact: "objects"},
		"jaw_gap_mm == 8":                                    {Text: "jaw_gap_mm == 8.0", Got: "32", Limit: "8", Unit: "mm", Op: "==", Fact: "jaw_gap_mm"},
	} {
		if o := goal(t, c, that).Eval(contract.Inputs{World: snapshot()}); o.Truth != world.False || o.Cause != want {
			t.Errorf("%s: %v %+v\nwant %+v", that, o.Truth, o.Cause, want)
		}
	}
}

// Verifies: C12
func TestEvidenceNamesFactWitnessAgeAndVersions(t *testing.T) {
	c := load(t)
	o := c.Capability("pick").Ensures[0].Eval(contract.Inputs{Args: contract.Args{text("name", "red cube")}, World: snapshot()})
	want := []world.Evidence{
		{Condition: "held [held@1]", Fact: "jaw_gap_mm", Witness: "gripper_encoder", SourceAtMS: 980, AgeMS: 20, Observed: "32", Unit: "mm", Threshold: "15"},
		{Condition: "held [held@1]", Fact: "jaw_load_pct", Witness: "gripper_current", SourceAtMS: 980, AgeMS: 20, Observed: "80", Unit: "pct", Threshold: "10"},
		{Condition: "held [held@1]", Fact: "objects", Witness: "camera", SourceAtMS: 980, AgeMS: 20, Unit: "cm", Threshold: `"bottom_cm(objects, args.name) >= 4.0"`,
			Observed: `[{"label":"red cube","x_cm":20,"y_cm":5,"z_cm":14,"bottom_cm":12.5},{"label":"blue cube","x_cm":25,"y_cm":-10,"z_cm":1.5,"bottom_cm":0}]`},
		{Condition: "held [held@1]", Fact: "tip", Witness: "encoders", SourceAtMS: 980, AgeMS: 20, Observed: "[20,5,15]", Unit: "cm",
			Threshold: `"distance_mm(tip, centre(objects, args.name)) <= 30.0"`},
	}
	if !slices.Equal(o.Evidence, want) {
		t.Errorf("got\n%+v\nwant\n%+v", o.Evidence, want)
	}
	list := c.Capability("pick").Ensures[0].Comparisons(contract.Inputs{Args: contract.Args{text("name", "red cube")}, World: snapshot()})
	if len(list) != 4 || list[0].Got != "32" || list[3].Unit != "mm" {
		t.Errorf("comparisons: %+v", list)
	}
}

// Verifies: C13
func TestBindsWhatIsHeld(t *testing.T) {
	c := load(t)
	place := c.Capability("place")
	given := contract.Args{text("target", "tray")}
	twin := func(m map[string]*world.Fact) {
		m["objects"].Value.Objects[1] = cube("blue cube", 0.20, 0.05, 0.16)
	}
	for _, test := range []struct {
		name  string
		world *world.Snapshot
		held  string
		code  reject.Code
	}{
		{"one", snapshot(), "red cube", ""},
		{"none", snapshot(closed), "", reject.Condition},
		{"two", snapshot(twin), "", reject.Condition},
		{"stale objects", snapshot(without("objects")), "", reject.StaleFact},
		{"stale jaw", snapshot(without("jaw_load_pct")), "", reject.StaleFact},
		{"no world", nil, "", reject.StaleFact},
		{"undecided", snapshot(sigma("objects", 20)), "", reject.Condition},
	} {
		args, refusal := c.Bind(place, given, test.world)
		switch {
		case test.code != "":
			if refusal == nil || refusal.Code != test.code || refusal.Rule != "held" || refusal.Field != "moved" {
				t.Errorf("%s: %+v", test.name, refusal)
			}
		case refusal != nil:
			t.Errorf("%s: %v", test.name, refusal)
		default:
			if v, ok := args.Get("moved"); !ok || v.Text != test.held || len(given) != 1 {
				t.Errorf("%s: %v", test.name, args)
			}
		}
	}
	if !slices.Equal(place.Changes, []string{"moved"}) {
		t.Errorf("place changes %v", place.Changes)
	}
}

// Verifies: C14
func TestWithdrawsWhatNobodyCanMeasureOrPlay(t *testing.T) {
	c := load(t)
	all := []string{"move_to", "home", "get_state", "find_object", "pick", "place", "open_gripper", "close_gripper", "wave", "nod", "greet", "shake_head", "bow", "point", "rest"}
	gestures := all[8:]
	sees := []string{"find_object", "pick", "place", "open_gripper", "close_gripper"} // what would change what is in sight needs to see it
	for _, test := range []struct {
		name      string
		change    func(*contract.Offer)
		withdrawn []string
	}{
		{"everything", func(*contract.Offer) {}, nil},
		{"first verbs only", func(o *contract.Offer) { o.Skills = []string{"move_to", "home"} }, all[4:]},
		{"no camera", func(o *contract.Offer) { o.Witnesses = o.Witnesses[:4] }, sees},
		{"a camera that sees nothing", func(o *contract.Offer) { o.Witnesses[4].Facts = nil }, sees},
		{"no contact sensor in simulation", func(o *contract.Offer) { o.Witnesses[3].Name = "x" }, append([]string{"move_to", "home", "pick", "place"}, gestures...)},
		{"hardware needs no contact sensor", func(o *contract.Offer) { o.Mode = "hardware"; o.Witnesses[3].Name = "x" }, nil},
		{"no encoders", func(o *contract.Offer) { o.Witnesses[0].Name = "x" }, append([]string{"move_to", "home", "pick", "place", "open_gripper", "close_gripper"}, gestures...)},
		{"nothing", func(o *contract.Offer) { *o = contract.Offer{Mode: "sim"} }, append([]string{"move_to", "home", "find_object", "pick", "place", "open_gripper", "close_gripper"}, gestures...)},
	} {
		o := offer()
		test.change(&o)
		a := c.Align(o)
		var got []string
		for _, name := range all {
			if why, ok := a.Withdrawn[name]; ok {
				got = append(got, name)
				if why == "" {
					t.Errorf("%s: %s is withdrawn without a reason", test.name, name)
				}
			}
		}
		if !slices.Equal(got, test.withdrawn) {
			t.Errorf("%s: withdrawn %v, want %v", test.name, a.Withdrawn, test.withdrawn)
		}
		m := c.Manifest(a)
		if len(m.GetCapabilities())+len(m.GetWithdrawn()) != len(all) {
			t.Errorf("%s: the manifest has %d capabilities", test.name, len(m.GetCapabilities()))
		}
	}
}

// Verifies: C15
func TestManifestHashFollowsItsContent(t *testing.T) {
	c := load(t)
	first, again := c.Manifest(c.Align(offer())), c.Manifest(c.Align(offer()))
	if first.GetManifestHash() == "" || !proto.Equal(first, again) {
		t.Error("the same manifest has two hashes")
	}
	o := offer()
	o.Skills = o.Skills[:1]
	if c.Manifest(c.Align(o)).GetManifestHash() == first.GetManifestHash() {
		t.Error("a shorter tool list has the same hash")
	}
	o = offer()
	o.Mode = "hardware"
	if c.Manifest(c.Align(o)).GetManifestHash() == first.GetManifestHash() {
		t.Error("another mode has the same hash")
	}
}

// Verifies: C15
func TestManifestGolden(t *testing.T) {
	c := load(t)
	golden.Compare(t, "manifest.json", manifestJSON(t, c.Manifest(c.Align(offer()))))
	var table bytes.Buffer
	for _, row := range c.Table(c.Align(offer())) {
		table.WriteString(strings.Join(row, " | ") + "\n")
	}
	golden.Compare(t, "table.txt", table.Bytes())
}

func manifestJSON(t *testing.T, m *contractv1.Manifest) []byte {
	t.Helper()
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

// The schemas are valid, and admit and refuse what the contract says.
//
// Verifies: C16
func TestSchemas(t *testing.T) {
	c := load(t)
	for _, test := range []struct {
		capability, args string
		valid            bool
	}{
		{"move_to", `{"x_cm":20,"y_cm":5,"z_cm":15}`, true},
		{"move_to", `{"x_cm":20,"y_cm":5,"z_cm":15,"speed_mps":0.5}`, true},
		{"move_to", `{"x_cm":20,"y_cm":5,"z_cm":15,"speed_mps":1.5}`, false},
		{"move_to", `{"x_cm":20,"y_cm":5}`, false},
		{"move_to", `{"x_cm":"20","y_cm":5,"z_cm":15}`, false},
		{"move_to", `{"x_cm":true,"y_cm":5,"z_cm":15}`, false},
		{"move_to", `{"x_cm":20,"y_cm":5,"z_cm":15,"w":1}`, false},
		{"home", `{}`, true},
		{"home", `{"a":1}`, false},
		{"pick", `{"name":"red cube"}`, true},
		{"pick", `{"name":"a cube nobody declared"}`, true},
		{"pick", `{"name":""}`, false},
		{"pick", `{"name":"red cube","approach_dz_cm":-2}`, true},
		{"pick", `{"name":"red cube","approach_dz_cm":-2.1}`, false},
		{"place", `{"target":"tray"}`, true},
		{"place", `{"target":"shelf"}`, false},
		{"place", `{"target":"tray","moved":"red cube"}`, false},
	} {
		if err := validate(t, c.Capability(test.capability).SchemaJSON(), test.args); (err == nil) != test.valid {
			t.Errorf("%s %s: %v", test.capability, test.args, err)
		}
	}
	move := c.Capability("move_to")
	if err := validate(t, move.TargetSchemaJSON(), `{"x_cm":20,"y_cm":5,"z_cm":15}`); err != nil {
		t.Error(err)
	}
	if err := validate(t, move.ParamsSchemaJSON(), `{"speed_mps":0.5}`); err != nil {
		t.Error(err)
	}
	if got := string(move.SafetyJSON()); got != `{"tip_speed_mps":1,"joint_speed_dps":240}` {
		t.Errorf("safety: %s", got)
	}
}

func validate(t *testing.T, schema []byte, args string) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("args.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("args.json")
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(args))
	if err != nil {
		t.Fatal(err)
	}
	return compiled.Validate(value)
}

// With disclose_bounds off, no limit leaks: not in schemas, safety, words or the manifest's text.
//
// Verifies: C17
func TestHidesBounds(t *testing.T) {
	src := broken(t, "robot: so101\n", "robot: so101\ndisclose_bounds: false\n")
	src = strings.Replace(src, "args.z_cm >= 2.0", "args.z_cm >= 2.125", 1)
	src = strings.Replace(src, "too low", "below 2.125", 1)
	c, err := contract.Load("f.yaml", []byte(strings.Replace(src, "max: 1.0", "max: 0.875", 1)))
	if err != nil {
		t.Fatal(err)
	}
	k := c.Capability("move_to")
	in := contract.Inputs{Args: target(1, 2, 1)}
	m := c.Manifest(c.Align(contract.Offer{Mode: "sim", Skills: contract.KnownSkills, Witnesses: []contract.Witness{{Name: "encoders", Facts: []string{"tip"}}}}))
	if len(m.GetCapabilities()) == 0 {
		t.Fatal("nothing is offered")
	}
	all := string(k.SchemaJSON()) + string(k.SafetyJSON()) + k.Requires[0].Words(in, k.Requires[0].Eval(in)) + m.String()
	for _, secret := range []string{"2.125", "0.875", "240"} {
		if strings.Contains(all, secret) {
			t.Errorf("%s is told: %s", secret, all)
		}
	}
}

// Verifies: C18
func TestRobotFile(t *testing.T) {
	c := load(t)
	if c.Robot != "so101" || c.Frame != "base" || c.Solver != "best" || c.VocabularyClosed || !c.DiscloseBounds {
		t.Errorf("head: %+v", c)
	}
	move, pick := c.Capability("move_to"), c.Capability("pick")
	if move.Requires[0].Code != reject.Condition || move.Requires[1].Code != reject.Unreachable || !move.Requires[1].NeedsKinematics || move.Requires[0].NeedsKinematics {
		t.Error("the preconditions of move_to")
	}
	if move.Ensures[0].Within != 1500*time.Millisecond || move.Ensures[0].Hold != 200*time.Millisecond || move.Timeout != 10*time.Second {
		t.Error("the windows of move_to")
	}
	if move.Invariants[0].InMode("hardware") || !move.Invariants[0].InMode("sim") || move.Invariants[0].OnViolation != contract.ViolationStop {
		t.Error("the invariant of move_to")
	}
	if !slices.Equal(pick.Changes, []string{"name"}) || len(move.Changes) != 0 || !slices.Equal(pick.Holds, []string{"arm"}) {
		t.Error("changes and holds")
	}
	if o, ok := c.Object("red block"); !ok || o.Label != "red cube" || o.SizeM != (units.Vec3{0.03, 0.03, 0.03}) {
		t.Errorf("red block: %+v", o)
	}
	if p, ok := c.Place("tray"); !ok || p.MinM != [2]float64{0.1, -0.2} || p.MaxM != [2]float64{0.2, -0.1} {
		t.Errorf("tray: %+v", p)
	}
	if c.Capability("nothing") != nil {
		t.Error("an unknown capability is there")
	}
	home := snapshot(func(m map[string]*world.Fact) { m["tip"].Value.Point = units.Vec3{0.2074708, 0.0117974, 0.0884189} })
	if o := c.Capability("home").Ensures[0].Eval(contract.Inputs{World: home}); o.Truth != world.True {
		t.Errorf("home: %+v", o)
	}
	tray := contract.Inputs{Args: contract.Args{text("moved", "red cube"), text("target", "tray")}, World: snapshot(func(m map[string]*world.Fact) {
		m["objects"].Value.Objects[0] = cube("red cube", 0.15, -0.15, 0.015)
		m["jaw_gap_mm"].Value.Number = 70
	})}
	if o := c.Capability("place").Ensures[0].Eval(tray); o.Truth != world.True {
		t.Errorf("placed: %+v", o)
	}
	w := snapshot(func(m map[string]*world.Fact) { m["objects"].Value.Objects[1].Label = "banana" })
	if got := c.Strangers(w); !slices.Equal(got, []string{"banana"}) {
		t.Errorf("strangers: %v", got)
	}
	if got, fresh := c.Visible(w); !fresh || !slices.Equal(got, []string{"red cube", "banana"}) {
		t.Errorf("visible: %v", got)
	}
}

// Open jaws alone are no release: they may lean on the object, and the moving one stands far from the tip.
//
// Verifies: L06
func TestReleasedIsTheHandGone(t *testing.T) {
	goal, err := load(t).Goal(`released("red cube")`)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ gapMM, awayMM, want float64 }{
		{91, 0, 0}, {91, 59, 0}, {91, 100, 0}, {91, 115, 1}, {45, 20, 0}, {46, 61, 0}, {46, 70, 1}, {4, 59, 0}, {4, 61, 1},
	} {
		w := snapshot(lower, func(m map[string]*world.Fact) {
			m["jaw_gap_mm"].Value.Number = test.gapMM
			m["tip"].Value.Point = m["objects"].Value.Objects[0].Pose.Position.Add(units.Vec3{0, 0, units.MetresFromMm(test.awayMM)})
		})
		if truth, err := goal.Truth(contract.Inputs{World: w}); (truth == world.True) != (test.want == 1) || truth == world.Unknown || err != nil {
			t.Errorf("jaws %v mm open, %v mm away: %v %v", test.gapMM, test.awayMM, truth, err)
		}
	}
}
