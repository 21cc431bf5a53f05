package bench

import (
	"fmt"
	"time"

	"interlock/arm"
	"interlock/brain/action"
	"interlock/contract"
	"interlock/reject"
	"interlock/robot/gate"
	"interlock/robot/skill"
	"interlock/robots"
	"interlock/units"
	"interlock/world"
)

// robot is one contract in force on a simulated arm that stands at home: all that a decision needs.
type robot struct {
	contract *contract.Contract
	gate     *gate.Gate
	tools    []string
	world    *world.Snapshot
	standing gate.Standing
}

// shipped is the tabletop robot as it ships.
func shipped() (*robot, error) {
	const file = "so101-tabletop.yaml"
	src, err := robots.Files.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return opened(file, string(src), 0)
}

// opened is the robot of a contract text, with so many copies of its last capability behind it, named as numbered.
func opened(file, text string, copies int) (*robot, error) {
	c, err := contract.Load(file, []byte(text))
	if err != nil {
		return nil, err
	}
	last := c.Capabilities[len(c.Capabilities)-1]
	for i := range copies {
		k := *last
		k.Name = numbered(len(c.Capabilities) + i)
		c.Capabilities = append(c.Capabilities[:len(c.Capabilities):len(c.Capabilities)], &k)
	}
	planner, err := skill.NewPlanner(c, skill.Solver(c.Solver))
	if err != nil {
		return nil, err
	}
	r := &robot{contract: c, world: atHome()}
	r.gate = gate.New(c, c.Align(contract.Offer{Mode: "sim", Skills: planner.Skills(), Witnesses: witnesses()}), planner)
	for _, k := range c.Capabilities {
		r.tools = append(r.tools, k.Name)
	}
	start := arm.Home().With(arm.JawOpenRad)
	r.standing = gate.Standing{StopNumber: 1, StartRad: start[:]}
	return r, nil
}

// numbered is the name of the capability at a position: all of one length, since none may contain another.
func numbered(i int) string { return fmt.Sprintf("look_%05d", i) }

func witnesses() []contract.Witness {
	return []contract.Witness{
		{Name: "encoders", Facts: []string{"tip"}}, {Name: "gripper_encoder", Facts: []string{"jaw_gap_mm"}},
		{Name: "gripper_current", Facts: []string{"jaw_load_pct"}}, {Name: "contact_sensor", Facts: []string{"table_force_n"}},
		{Name: "camera", Facts: []string{"objects"}},
	}
}

// atHome is what the sensors say with the arm at home, the jaws open and the red cube at (22, 3) cm, 40 ms ago.
func atHome() *world.Snapshot {
	now := units.Instant(10 * time.Second)
	at := now.Add(-40 * time.Millisecond)
	number := func(v float64) world.Value { return world.Value{Kind: world.KindNumber, Number: v} }
	cube := world.Object{Label: "red cube", SizeM: units.Vec3{0.03, 0.03, 0.03},
		Pose: units.Pose{Position: units.Vec3{0.22, 0.03, 0.015}, Orientation: units.YawQuat(0)}}
	return world.NewSnapshot(now, []world.Fact{
		{Name: "tip", Witness: "encoders", At: at, Value: world.Value{Kind: world.KindPoint, Point: arm.SO101().Tip(arm.Home())}},
		{Name: "jaw_gap_mm", Witness: "gripper_encoder", At: at, Value: number(90)},
		{Name: "jaw_load_pct", Witness: "gripper_current", At: at, Value: number(0)},
		{Name: "table_force_n", Witness: "contact_sensor", At: at, Value: number(0)},
		{Name: "objects", Witness: "camera", At: at, Value: world.Value{Kind: world.KindPoses, Objects: []world.Object{cube}}, Sigma: 1},
	})
}

// everything is the licence of a request that names no object.
type everything struct{}

func (everything) Allows(string) bool { return true }

// decide is the decision that is measured: the text read as a call of an offered tool, and the call judged.
func (r *robot) decide(text []byte, offer *action.Offer) (gate.Cleared, reject.Code) {
	reading := action.Read(action.Output{Raw: text, StopReason: "stop"}, *offer)
	if reading.Refusal != nil {
		return gate.Cleared{}, reading.Refusal.Code
	}
	if len(reading.Calls) != 1 {
		return gate.Cleared{}, reject.Malformed
	}
	call := &reading.Calls[0]
	cleared, l := r.gate.Judge(gate.Call{Capability: call.Tool, Args: call.Args}, r.world, r.standing, everything{})
	if len(l) > 0 {
		return gate.Cleared{}, l[0].Code
	}
	return cleared, ""
}
