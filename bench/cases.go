package bench

import (
	"fmt"
	"strings"

	"interlock/brain/action"
	"interlock/contract"
	"interlock/reject"
	"interlock/robot/verify"
)

// Case is one piece of work with a promise about its time.
type Case struct {
	Name    string
	Answer  string  // "cleared", the code of the refusal, or "pending" for a watch
	LimitUS float64 // what the median promises to stay under, microseconds; 0: nothing is promised
	Do      func() error
}

const cleared = "cleared"

// decisions are what a model may write to the shipped robot, and what must come of it.
func decisions() []struct {
	name, text, answer string
	limitUS            float64
} {
	return []struct {
		name, text, answer string
		limitUS            float64
	}{
		{"move, feasible", `{"tool":"move_to","arguments":{"x_cm":20,"y_cm":5,"z_cm":15}}`, cleared, 60},
		{"move, below the floor", `{"tool":"move_to","arguments":{"x_cm":20,"y_cm":0,"z_cm":-5}}`, string(reject.Condition), 12},
		{"move, unreachable", `{"tool":"move_to","arguments":{"x_cm":70,"y_cm":0,"z_cm":10}}`, string(reject.Unreachable), 300},
		{"move, wrong type", `{"tool":"move_to","arguments":{"x_cm":"20","y_cm":5,"z_cm":15}}`, string(reject.WrongType), 0},
		{"malformed: cut inside a number", "```json\n" + `{"tool":"move_to","arguments":{"x_cm":20,"y_cm":5,"z_cm":1`, string(reject.Malformed), 0},
		{"unknown tool", `{"tool":"fly","arguments":{}}`, string(reject.UnknownCapability), 0},
		{"pick", `{"tool":"pick","arguments":{"name":"red cube"}}`, cleared, 0},
		{"pick, nothing there", `{"tool":"pick","arguments":{"name":"blue cube"}}`, string(reject.NoSuchObject), 0},
	}
}

// Cases returns everything that is measured, in the order it is printed.
func Cases() ([]Case, error) {
	r, err := shipped()
	if err != nil {
		return nil, err
	}
	var all []Case
	for _, d := range decisions() {
		all = append(all, r.deciding(d.name, d.text, d.answer, d.limitUS))
	}
	for _, more := range []func([]Case) ([]Case, error){shaped, crowded, watched} {
		if all, err = more(all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// deciding is the case of one text on one robot.
func (r *robot) deciding(name, text, answer string, limitUS float64) Case {
	raw, offer := []byte(text), action.Offer{Tools: r.tools}.Indexed()
	return Case{Name: name, Answer: answer, LimitUS: limitUS, Do: func() error {
		c, code := r.decide(raw, &offer)
		got := string(code)
		if c.OK() {
			got = cleared
		}
		if got != answer {
			return fmt.Errorf("bench: %s: got %q, want %q", name, got, answer)
		}
		return nil
	}}
}

// onlyShape is a robot whose one verb demands nothing but the shape of its arguments: three numbers from -60 to 60 and
// one of two words, as the peers check them.
const onlyShape = `robot: shape
frame: base
kinematics: {model: so101, solver: best}
facts: {tip: {type: point, frame: base, witness: encoders, max_age_ms: 250}}
capabilities:
  look_00000:
    description: Takes a position and looks there. Moves nothing.
    target:
      x_cm: {type: number, min: -60, max: 60}
      y_cm: {type: number, min: -60, max: 60}
      z_cm: {type: number, min: -60, max: 60}
    params:
      speed: {type: text, enum: [slow, normal], optional: true}
    read_only: true
`

// shapeCall is the peers' call with the name of one tool: about 90 bytes.
func shapeCall(tool string) string {
	return fmt.Sprintf(`{"tool": %q, "arguments": {"x_cm": 20.5, "y_cm": 5, "z_cm": 15, "speed": "slow"}}`, tool)
}

// shaped adds reading and shape alone.
func shaped(all []Case) ([]Case, error) {
	text := strings.Replace(onlyShape, numbered(0), "move_to", 1)
	r, err := opened("shape.yaml", text, 0)
	if err != nil {
		return nil, err
	}
	call := shapeCall("move_to")
	return append(all,
		r.deciding("reading and shape, valid", call, cleared, 3),
		r.deciding("reading and shape, wrong type", strings.Replace(call, "20.5", `"20.5"`, 1), string(reject.WrongType), 0),
		r.deciding("reading and shape, cut", "```json\n"+call[:strings.Index(call, "15,")+1], string(reject.Malformed), 0)), nil
}

// Crowds are the numbers of capabilities over which the cost of a call must not grow.
func Crowds() []int { return []int{10, 100, 1_000, 10_000} }

// fileMost is how many of these capabilities a contract file may hold: its limit on values ends it soon after. More are
// added to the loaded contract.
const fileMost = 1_000

// CrowdName is the case of so many capabilities.
func CrowdName(n int) string { return fmt.Sprintf("one of %d capabilities", n) }

// crowded adds the call of the last of many capabilities: what looks names up one by one pays most for that one.
func crowded(all []Case) ([]Case, error) {
	first := onlyShape[strings.Index(onlyShape, "  "+numbered(0)):]
	for _, n := range Crowds() {
		var text strings.Builder
		text.WriteString(onlyShape[:len(onlyShape)-len(first)])
		inFile := min(n, fileMost)
		for i := range inFile - 1 {
			fmt.Fprintf(&text, "  %s: {description: Looks around., read_only: true}\n", numbered(i))
		}
		text.WriteString(strings.Replace(first, numbered(0), numbered(inFile-1), 1))
		r, err := opened("crowd.yaml", text.String(), n-inFile)
		if err != nil {
			return nil, err
		}
		all = append(all, r.deciding(CrowdName(n), shapeCall(r.tools[len(r.tools)-1]), cleared, 0))
	}
	return all, nil
}

// tenPostconditions is a verb with ten postconditions over every kind of fact, all of them true at home.
const tenPostconditions = `robot: watched
frame: base
kinematics: {model: so101, solver: best}
facts:
  tip:          {type: point, frame: base, witness: encoders, max_age_ms: 250}
  jaw_gap_mm:   {type: number, witness: gripper_encoder, max_age_ms: 250}
  jaw_load_pct: {type: number, witness: gripper_current, max_age_ms: 250}
  objects:      {type: poses, frame: base, witness: camera, max_age_ms: 500}
vocabulary:
  objects: {red cube: {kind: cube, size_cm: 3}}
  places: {table: {region_cm: [[10, -20], [30, 20]]}}
capabilities:
  home:
    description: Move the arm to its home position.
    ensures:
      - {id: tip_at_home, that: "distance_mm(tip, point_cm(20.74708, 1.17974, 8.84189)) <= 10.0", within_ms: 1500, hold_ms: 200}
      - {id: jaws_open, that: "jaw_gap_mm >= 60.0", within_ms: 1500, hold_ms: 200}
      - {id: jaws_free, that: "jaw_load_pct <= 10.0", within_ms: 1500, hold_ms: 200}
      - {id: up, that: "z_cm(tip) >= 5.0", within_ms: 1500, hold_ms: 200}
      - {id: ahead, that: "x_cm(tip) >= 15.0 && x_cm(tip) <= 30.0", within_ms: 1500, hold_ms: 200}
      - {id: cube_low, that: "bottom_cm(objects, 'red cube') <= 2.0", within_ms: 1500, hold_ms: 200}
      - {id: cube_there, that: "in_region(objects, 'red cube', 'table')", within_ms: 1500, hold_ms: 200}
      - {id: cube_seen, that: "seen(objects, 'red cube')", within_ms: 1500, hold_ms: 200}
      - {id: apart, that: "distance_mm(tip, centre(objects, 'red cube')) >= 40.0", within_ms: 1500, hold_ms: 200}
      - {id: not_held, that: "jaw_gap_mm >= 60.0 || bottom_cm(objects, 'red cube') <= 4.0", within_ms: 1500, hold_ms: 200}
    holds: [arm]
    timeout_s: 10
    limits: {tip_speed_mps: 1.0, joint_speed_dps: 240}
`

// watched adds one tick of the watch over ten postconditions.
func watched(all []Case) ([]Case, error) {
	r, err := opened("watched.yaml", tenPostconditions, 0)
	if err != nil {
		return nil, err
	}
	home := r.contract.Capability("home")
	w, err := verify.New(verify.Motion{Capability: home, Args: contract.Args{}, ArgsJSON: "{}", Mode: "sim", EndedAt: r.world.Now})
	if err != nil {
		return nil, err
	}
	if got := w.Observe(r.world); got.State != verify.Pending {
		return nil, fmt.Errorf("bench: the watch is %s before any time has passed", got.State)
	}
	return append(all, Case{Name: "ten postconditions, a tick", Answer: verify.Pending.String(), LimitUS: 50, Do: func() error {
		if got := w.Observe(r.world).State; got != verify.Pending {
			return fmt.Errorf("bench: the watch is %s", got)
		}
		return nil
	}}), nil
}
