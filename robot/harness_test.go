package robot_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"interlock/arm"
	"interlock/body"
	"interlock/body/guard"
	"interlock/body/sim"
	"interlock/contract"
	contractv1 "interlock/contract/v1"
	"interlock/robot"
	"interlock/robot/audit"
	"interlock/robot/gate"
	"interlock/robot/operator"
	"interlock/robot/skill"
	"interlock/robots"
	"interlock/transport"
	"interlock/transport/inproc"
	"interlock/units"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// set says how a rig differs from the shipped robot on an empty table.
type set struct {
	yaml    []string // pairs of what stands in the contract file and what stands there instead
	sim     func(*sim.Config)
	lie     sim.Lie
	before  time.Duration // how old the body is when the robot meets it
	memory  robot.Memory
	trouble func(*trouble)
	body    func(*guard.Guard) robot.Body // what the robot holds; nil: the guard itself
	beat    time.Duration
	journal robot.Journal
	past    *audit.History
	desk    *operator.Desk
	after   time.Duration // how long after the bubble's beginning the robot is built; every bubble begins at the same instant
	solver  skill.Solver  // instead of the contract's; dls_last sweeps no path, so that the table can be met
}

// rig is a robot in one process: simulator, what is wrong with it, guard, robot, line. Time is virtual, and every rig
// lives in a bubble, so that a test knows when everybody waits.
type rig struct {
	t       *testing.T
	truth   body.Truth
	trouble *trouble
	guard   *guard.Guard
	pacer   *pacer
	robot   *robot.Robot
	client  transport.Client

	cancel context.CancelFunc
	ended  chan error
	over   bool
}

// run runs a test on a rig of its own.
func run(t *testing.T, s set, test func(*testing.T, *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, s)
		t.Cleanup(func() {
			if err := r.close(); err != nil {
				t.Errorf("the robot ended with %v", err)
			}
		})
		test(t, r)
	})
}

func newRig(t *testing.T, s set) *rig {
	t.Helper()
	c := contractOf(t, s.yaml)
	cfg := sim.DefaultConfig()
	if s.sim != nil {
		s.sim(&cfg)
	}
	driver := must(sim.New(cfg))
	if s.before > 0 {
		check(t, driver.Open())
		check(t, driver.Advance(s.before))
		check(t, driver.Close())
	}
	var plant body.Stepper = driver
	if s.lie != "" {
		plant = must(sim.NewLiar(driver, s.lie))
	}
	r := &rig{t: t, truth: driver.Truth(), trouble: &trouble{Stepper: plant}, ended: make(chan error, 1)}
	if s.trouble != nil {
		s.trouble(r.trouble)
	}
	planner := must(skill.NewPlanner(c, cmp.Or(s.solver, skill.Solver(c.Solver))))
	r.guard = guard.New(r.trouble, guardConfig(c))
	r.pacer = &pacer{inner: robot.Lockstep(r.guard), pauses: map[int]chan struct{}{}}
	var held robot.Body = r.guard
	if s.body != nil {
		held = s.body(r.guard)
	}
	alignment := robot.Align(c, driver.Describe(), planner)
	r.robot = must(robot.New(robot.Config{
		Contract: c, Alignment: alignment, Gate: gate.New(c, alignment, planner), Body: held, Pacer: r.pacer, MaxMissions: 8, Memory: s.memory, Beat: s.beat,
		Journal: s.journal, Past: s.past, Desk: s.desk,
	}))
	r.client = inproc.New(r.robot)
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	go func() {
		err := errDied
		defer func() { r.ended <- err }()
		err = r.robot.Run(ctx)
	}()
	synctest.Wait()
	return r
}

// close ends the robot, if it has not ended yet, and waits for it.
func (r *rig) close() error {
	if r.over {
		return nil
	}
	r.over = true
	r.cancel()
	return <-r.ended
}

// contracts are those that were loaded, by their edits: loading one takes longer than most tests.
var contracts sync.Map

func contractOf(t *testing.T, edits []string) *contract.Contract {
	t.Helper()
	key := strings.Join(edits, "\x00")
	if c, known := contracts.Load(key); known {
		return c.(*contract.Contract)
	}
	src := string(must(robots.Files.ReadFile("so101-tabletop.yaml")))
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(src, edits[i]) {
			t.Fatalf("the contract file does not hold %q", edits[i])
		}
		src = strings.ReplaceAll(src, edits[i], edits[i+1])
	}
	c, err := contract.Load("test.yaml", []byte(src))
	check(t, err)
	contracts.Store(key, c)
	return c
}

// guardConfig is the driver's ceiling: the widest limits that any capability of the contract has.
func guardConfig(c *contract.Contract) guard.Config {
	chain := arm.SO101()
	cfg := guard.Config{Tip: func(positionsRad []float64) units.Vec3 {
		s, _ := arm.ServosOf(positionsRad)
		return chain.Tip(s.Joints())
	}}
	for _, k := range c.Capabilities {
		cfg.Ceiling.TipSpeedMPS = max(cfg.Ceiling.TipSpeedMPS, k.Limits.TipSpeedMPS)
		cfg.Ceiling.JointSpeedRadS = max(cfg.Ceiling.JointSpeedRadS, k.Limits.JointSpeedRadS)
	}
	return cfg
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pacer is the lockstep pacer that a test can stop at a tick, counted from the robot's start.
type pacer struct {
	inner  robot.Pacer
	mu     sync.Mutex
	ticks  int
	pauses map[int]chan struct{}
	fails  error
}

// Tick implements robot.Pacer.
func (p *pacer) Tick(ctx context.Context) error {
	runtime.Gosched() // a tick takes no time here; whoever writes the record gets a turn in it as in a real one
	p.mu.Lock()
	p.ticks++
	pause, fails := p.pauses[p.ticks], p.fails
	p.mu.Unlock()
	if pause != nil {
		select {
		case <-pause:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if fails != nil {
		return fails
	}
	return p.inner.Tick(ctx)
}

// pauseAfter makes the robot wait in the n-th tick from now. The function returned lets it go on.
func (r *rig) pauseAfter(n int) (resume func()) {
	r.pacer.mu.Lock()
	defer r.pacer.mu.Unlock()
	c := make(chan struct{})
	r.pacer.pauses[r.pacer.ticks+n] = c
	return sync.OnceFunc(func() { close(c) })
}

func (r *rig) fail(err error) {
	r.pacer.mu.Lock()
	defer r.pacer.mu.Unlock()
	r.pacer.fails = err
}

func (r *rig) ticks() int {
	r.pacer.mu.Lock()
	defer r.pacer.mu.Unlock()
	return r.pacer.ticks
}

// trouble is a body with something wrong between it and the guard, and the spy that counts what reaches it.
type trouble struct {
	body.Stepper
	observe func(o *body.Observation) error // changes what is read
	advance func(t *trouble) error          // before the body moves on
	deaf    *atomic.Bool                    // while set, setpoints are acknowledged and forgotten

	mu      sync.Mutex
	writes  int
	wroteAt units.Instant // of the latest write
}

func (b *trouble) Observe() (body.Observation, error) {
	o, err := b.Stepper.Observe()
	if err == nil && b.observe != nil {
		err = b.observe(&o)
	}
	return o, err
}

func (b *trouble) Send(s body.Setpoint) (body.Sent, error) {
	b.mu.Lock()
	b.writes++
	b.mu.Unlock()
	if b.deaf != nil && b.deaf.Load() {
		return body.Sent{PositionsRad: s.PositionsRad}, nil
	}
	return b.Stepper.Send(s)
}

func (b *trouble) Advance(d time.Duration) error {
	if b.advance != nil {
		if err := b.advance(b); err != nil {
			return err
		}
	}
	return b.Stepper.Advance(d)
}

// sent is how many setpoints reached the body.
func (r *rig) sent() int {
	r.trouble.mu.Lock()
	defer r.trouble.mu.Unlock()
	return r.trouble.writes
}

// The calls of a client, with the errors of the line as the test's failure.

func (r *rig) start(q *contractv1.StartRequest) *contractv1.MissionAck {
	r.t.Helper()
	ack, err := r.client.Start(r.t.Context(), q)
	check(r.t, err)
	r.timed(ack.GetRejections())
	return ack
}

// timed wants every refusal that may pass later to say when.
func (r *rig) timed(rs []*contractv1.Rejection) {
	r.t.Helper()
	for _, x := range rs {
		if later := x.GetRetry() == "later"; later != (x.GetAfterMs() > 0) {
			r.t.Errorf("a refusal with retry %q after %d ms: %v", x.GetRetry(), x.GetAfterMs(), x)
		}
	}
}

// accepted starts a mission that must be accepted.
func (r *rig) accepted(id, capability, args, task string) {
	r.t.Helper()
	ack := r.start(request(id, capability, args, task))
	if !ack.GetAccepted() {
		r.t.Fatalf("%s %s: refused: %v", capability, args, ack.GetRejections())
	}
}

// refused starts something that must be refused, with these codes.
func (r *rig) refused(q *contractv1.StartRequest, codes ...string) []*contractv1.Rejection {
	r.t.Helper()
	ack := r.start(q)
	if got := codesOf(ack.GetRejections()); ack.GetAccepted() || got != strings.Join(codes, " ") {
		r.t.Fatalf("%s %s: accepted %v, refused %q, want %q", q.GetCapability(), q.GetArgsJson(), ack.GetAccepted(), got, codes)
	}
	return ack.GetRejections()
}

func request(id, capability, args, task string) *contractv1.StartRequest {
	return &contractv1.StartRequest{MissionId: id, Capability: capability, ArgsJson: []byte(args), TaskId: task}
}

func codesOf(rs []*contractv1.Rejection) string {
	codes := make([]string, len(rs))
	for i, x := range rs {
		codes[i] = x.GetCode()
	}
	return strings.Join(codes, " ")
}

// events follows a mission to its end.
func (r *rig) events(id string) []*contractv1.Event {
	r.t.Helper()
	var out []*contractv1.Event
	for e, err := range r.client.Events(r.t.Context(), &contractv1.EventsRequest{MissionId: id}) {
		check(r.t, err)
		out = append(out, e)
	}
	return out
}

// ending follows a mission and returns its last word.
func (r *rig) ending(id string) *contractv1.Event {
	r.t.Helper()
	events := r.events(id)
	for i, e := range events {
		if e.GetSeq() != uint64(i+1) || e.GetFinal() != (i == len(events)-1) || e.GetMissionId() != id {
			r.t.Fatalf("event %d of %s: %v", i, id, e)
		}
	}
	if len(events) == 0 {
		r.t.Fatalf("mission %s has no events", id)
	}
	return events[len(events)-1]
}

// ends wants the last word of a mission, as KIND or KIND(reason's first word).
func (r *rig) ends(id, want string) *contractv1.Event {
	r.t.Helper()
	e := r.ending(id)
	if got := word(e); got != want {
		r.t.Fatalf("mission %s: %s (%s), want %s", id, got, e.GetReason(), want)
	}
	return e
}

func word(e *contractv1.Event) string {
	reason, _, _ := strings.Cut(e.GetReason(), ":")
	if reason == "" {
		return e.GetKind().String()
	}
	return e.GetKind().String() + "(" + reason + ")"
}

// open opens a task, which must be possible.
func (r *rig) open(goal string, also ...func(*contractv1.OpenTaskRequest)) string {
	r.t.Helper()
	q := &contractv1.OpenTaskRequest{Words: "do it", Provenance: "person", Goal: goal}
	for _, f := range also {
		f(q)
	}
	task, err := r.client.OpenTask(r.t.Context(), q)
	check(r.t, err)
	if len(task.GetRefusals()) > 0 {
		r.t.Fatalf("goal %q: %v", goal, task.GetRefusals())
	}
	return task.GetTaskId()
}

func (r *rig) task(id string) *contractv1.Task {
	r.t.Helper()
	task, err := r.client.Task(r.t.Context(), &contractv1.TaskRequest{TaskId: id})
	check(r.t, err)
	return task
}

// is wants the state of a task.
func (r *rig) is(id string, want contractv1.TaskState) *contractv1.Task {
	r.t.Helper()
	task := r.task(id)
	if task.GetState() != want {
		r.t.Fatalf("task %s is %s, want %s: %v", id, task.GetState(), want, task)
	}
	return task
}

// claim closes a task with success or failure claimed.
func (r *rig) claim(id string, success bool) *contractv1.Task {
	r.t.Helper()
	task, err := r.client.Claim(r.t.Context(), &contractv1.ClaimRequest{TaskId: id, Claim: &contractv1.Claim{Reported: true, Success: success}})
	check(r.t, err)
	return task
}

func (r *rig) observe() *contractv1.Observation {
	r.t.Helper()
	o, err := r.client.Observe(r.t.Context(), &contractv1.ObserveRequest{})
	check(r.t, err)
	return o
}

// later waits until nobody can go on (the robot stands in its paused tick), makes a call from a goroutine, and waits
// until that lies at the robot's door. The channel gets its answer.
func later[T any](call func() T) <-chan T {
	synctest.Wait()
	answer := make(chan T, 1)
	go func() { answer <- call() }()
	synctest.Wait()
	return answer
}

// midway starts the mission m1, follows its events and stops the robot in the mission's n-th tick, n > 2.
func (r *rig) midway(n int, args, task string) (followed <-chan []*contractv1.Event, resume func()) {
	r.t.Helper()
	first := r.pauseAfter(1)
	resume = r.pauseAfter(n)
	r.accepted("m1", "move_to", args, task)
	followed = later(func() (events []*contractv1.Event) {
		for e, err := range r.client.Events(r.t.Context(), &contractv1.EventsRequest{MissionId: "m1"}) {
			if err != nil { // the test has ended, or misses the last word
				break
			}
			events = append(events, e)
		}
		return events
	})
	first()
	synctest.Wait()
	return followed, resume
}

// moved is how far the tip truly is from where it was, in metres.
func (r *rig) moved(from units.Vec3) float64 { return r.truth.TipInBase().Distance(from) }

// moveTo spells the arguments of a motion.
func moveTo(x, y, z float64) string { return fmt.Sprintf(`{"x_cm":%g,"y_cm":%g,"z_cm":%g}`, x, y, z) }

const (
	there     = `{"x_cm":20,"y_cm":5,"z_cm":15}`
	slowly    = `{"x_cm":20,"y_cm":5,"z_cm":15,"speed_mps":0.02}`
	atThere   = "at(point_cm(20.0, 5.0, 15.0))"
	elsewhere = "at(point_cm(10.0, 10.0, 20.0))"
)

var errTest = errors.New("test: broken on purpose")

// errDied is what a robot ends with whose loop was ended in the middle of a call.
var errDied = errors.New("test: the robot died")

// lazy is a pacer whose driver misses the next ticks.
type lazy struct {
	inner robot.Pacer
	miss  *atomic.Int32
}

// Tick implements robot.Pacer.
func (l lazy) Tick(ctx context.Context) error {
	if l.miss.Add(-1) >= 0 {
		return nil
	}
	return l.inner.Tick(ctx)
}
