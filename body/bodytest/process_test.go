package bodytest_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"interlock/body"
	"interlock/body/bodytest"
	"interlock/body/guard"
	"interlock/body/remote"
	"interlock/body/sim"
	"interlock/reject"
)

// apart is the guarded simulator as a driver process offers it, in this process and on virtual time: with leases, for
// several robots, and with a person at its latch.
type apart struct {
	*guard.Guard
	served http.Handler
	passed *time.Duration
	opened bool
	epoch  uint64
}

var _ bodytest.Process = (*apart)(nil)

func newApart(t testing.TB) *apart {
	t.Helper()
	inner, err := sim.New(sim.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	g := guard.New(inner, guard.Config{Ceiling: guard.Limits{TipSpeedMPS: 0.5, JointSpeedRadS: 2}, Tip: tipOf, Leased: true})
	if err := g.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return &apart{Guard: g, served: remote.DriverHandler(g), passed: new(time.Duration)}
}

func (a *apart) Open() (err error) {
	if a.opened {
		return body.ErrOpen
	}
	a.epoch, err = a.Acquire("bodytest")
	a.opened = err == nil
	return err
}

func (a *apart) Close() error {
	if a.opened {
		a.Release(a.epoch)
		a.opened = false
	}
	return nil
}

func (a *apart) Send(p body.Setpoint) (body.Sent, error) {
	if !a.opened {
		return body.Sent{}, body.ErrNotOpen
	}
	if p.Epoch == 0 {
		p.Epoch = a.epoch
	}
	return a.Guard.Send(p)
}

func (a *apart) Observe() (body.Observation, error) {
	if !a.opened {
		return body.Observation{}, body.ErrNotOpen
	}
	return a.Guard.Watch(a.epoch)
}

func (a *apart) Watch() (body.Observation, error) { return a.Guard.Watch(0) }

// Advance renews the lease, as the line of a robot does beside its loop.
func (a *apart) Advance(by time.Duration) error {
	if !a.opened {
		return body.ErrNotOpen
	}
	*a.passed += by
	return errors.Join(a.Renew(a.epoch), a.Guard.Advance(by))
}

// Wait lets the driver's time pass, whoever holds the lease.
func (a *apart) Wait(by time.Duration) error {
	*a.passed += by
	return a.Guard.Advance(by)
}

// Post asks the handlers of a driver process.
func (a *apart) Post(method, text string, header ...string) (int, []byte, error) {
	if !strings.HasPrefix(method, "/") {
		method = "/interlock.driver.v1.Driver/" + method
	}
	q := httptest.NewRequest(http.MethodPost, "http://localhost"+method, strings.NewReader(text))
	q.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		q.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	a.served.ServeHTTP(w, q)
	return w.Code, w.Body.Bytes(), nil
}

func (a *apart) Passed() time.Duration  { return *a.passed }
func (a *apart) Another() body.Stepper  { return &apart{Guard: a.Guard, passed: a.passed} }
func (a *apart) Person() bodytest.Latch { return a.Guard }

// Verifies: Q101
func TestAGuardApartConforms(t *testing.T) {
	for _, c := range append(bodytest.ProcessChecks(), bodytest.LatchChecks()...) {
		t.Run(c.Name, func(t *testing.T) {
			if err := c.Run(newApart(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// A driver whose disk is slow asks for the first setpoints a little later; that is no fault, as long as it ends.
//
// Verifies: Q115
func TestADriverMayAskForASetpointLater(t *testing.T) {
	later := reject.New(reject.NotPermitted, "the latch file is still being written").By("latch_file").In("driver")
	later.Retry = reject.Later
	for _, c := range append(bodytest.ProcessChecks(), bodytest.LatchChecks()...) {
		t.Run(c.Name, func(t *testing.T) {
			a := newApart(t)
			busy := &busyDisk{Guard: a.Guard, later: later, times: 5}
			a.served = remote.DriverHandler(busy)
			b := &broken{apart: a, send: func(a *apart, p body.Setpoint) (body.Sent, error) {
				if p.Epoch == 0 {
					p.Epoch = a.epoch
				}
				if !a.opened {
					return a.Send(p)
				}
				return busy.Send(p)
			}}
			if err := c.Run(b); err != nil {
				t.Error(err)
			}
		})
	}
	b := &broken{apart: newApart(t)}
	b.send = func(*apart, body.Setpoint) (body.Sent, error) { return body.Sent{}, later }
	for _, c := range bodytest.ProcessChecks() {
		if c.Name != "a setpoint at the present position does not move" {
			continue
		}
		if err := c.Run(b); !errors.Is(err, later) {
			t.Errorf("a driver that asks for every setpoint later is answered with %v", err)
		}
	}
}

// busyDisk asks for the first setpoints later.
type busyDisk struct {
	*guard.Guard
	later error
	times int
}

func (b *busyDisk) Send(p body.Setpoint) (body.Sent, error) {
	if b.times--; b.times >= 0 {
		return body.Sent{}, b.later
	}
	return b.Guard.Send(p)
}

// A check that needs more than a body fails on one that has no more; it never passes for want of a question.
//
// Verifies: Q102
func TestChecksOfALineNeedOne(t *testing.T) {
	bare := map[string]bool{}
	for _, c := range bodytest.Checks() {
		bare[c.Name] = true
	}
	asked := 0
	for _, c := range slices.Concat(bodytest.ProcessChecks(), bodytest.LatchChecks(), bodytest.BareChecks(), bodytest.RestartChecks()) {
		if bare[c.Name] && c.Name != "time never runs back" {
			continue
		}
		asked++
		if err := c.Run(guarded(t, nil)); err == nil {
			t.Errorf("%q passes on a body without a line", c.Name)
		}
	}
	if asked < 10 {
		t.Errorf("%d checks need a line", asked)
	}
}

// broken is a driver process with single methods replaced.
type broken struct {
	*apart
	open    func(*apart) error
	send    func(*apart, body.Setpoint) (body.Sent, error)
	observe func(*body.Observation)
	advance func(*apart, time.Duration) error
	close   func(*apart) error
	stop    func(*apart, string) uint64
	reset   func(*apart, uint64) error
	another func(*apart) body.Stepper
	post    func(method, text string, header []string) (string, string, []string)
	reply   func(method string, text []byte) []byte
	wait    func(*apart, time.Duration) error

	granted string // the epoch of the latest grant to a single call, as JSON
}

func (b *broken) Open() error {
	if b.open != nil {
		return b.open(b.apart)
	}
	return b.apart.Open()
}

func (b *broken) Send(p body.Setpoint) (body.Sent, error) {
	if b.send != nil {
		return b.send(b.apart, p)
	}
	return b.apart.Send(p)
}

func (b *broken) Observe() (body.Observation, error) { return b.seen(b.apart.Observe()) }
func (b *broken) Watch() (body.Observation, error)   { return b.seen(b.apart.Watch()) }

func (b *broken) seen(o body.Observation, err error) (body.Observation, error) {
	if b.observe != nil {
		b.observe(&o)
	}
	return o, err
}

func (b *broken) Advance(by time.Duration) error {
	if b.advance != nil {
		return b.advance(b.apart, by)
	}
	return b.apart.Advance(by)
}

func (b *broken) Close() error {
	if b.close != nil {
		return b.close(b.apart)
	}
	return b.apart.Close()
}

func (b *broken) Stop(reason string) uint64 {
	if b.stop != nil {
		return b.stop(b.apart, reason)
	}
	return b.apart.Stop(reason)
}

func (b *broken) Reset(number uint64) error {
	if b.reset != nil {
		return b.reset(b.apart, number)
	}
	return b.apart.Reset(number)
}

func (b *broken) Another() body.Stepper {
	if b.another != nil {
		return b.another(b.apart)
	}
	return b.apart.Another()
}

func (b *broken) Post(method, text string, header ...string) (int, []byte, error) {
	asked := method
	if b.post != nil {
		method, text, header = b.post(method, text, header)
	}
	status, answer, err := b.apart.Post(method, text, header...)
	if epoch := epochIn.Find(answer); asked == "Open" && epoch != nil && string(epoch) != `"epoch":"0"` {
		b.granted = string(epoch)
	}
	if b.reply != nil {
		answer = b.reply(asked, answer)
	}
	return status, answer, err
}

func (b *broken) Wait(by time.Duration) error {
	if b.wait != nil {
		return b.wait(b.apart, by)
	}
	return b.apart.Wait(by)
}

// grantedEpoch is that of the latest grant to a single call.
func (b *broken) grantedEpoch() uint64 {
	epoch, _ := strconv.ParseUint(strings.Trim(strings.TrimPrefix(b.granted, `"epoch":`), `"`), 10, 64)
	return epoch
}

func (b *broken) Person() bodytest.Latch { return b }

// revive makes the motion go on after a reset, as a driver does that keeps what it was doing.
func revive(a *apart, number uint64) error {
	if err := a.Reset(number); err != nil {
		return err
	}
	o, err := a.Guard.Watch(0)
	if err != nil {
		return err
	}
	q := append([]float64(nil), o.GoalRad...)
	q[0] += 0.02
	_, err = a.Guard.Send(body.Setpoint{PositionsRad: q, Over: 100 * time.Millisecond, Expires: o.At.Add(body.Expiry), Stop: number, Epoch: a.epoch})
	return err
}

// anyEpoch makes every sender the holder.
func anyEpoch(a *apart, p body.Setpoint) (body.Sent, error) {
	p.Epoch = a.epoch
	return a.Send(p)
}

// anyStop forgets which stop a setpoint was sent under, and that one is in force.
func anyStop(a *apart, p body.Setpoint) (body.Sent, error) {
	p.Stop = a.Latch().Number
	_ = a.Reset(p.Stop)
	return a.Send(p)
}

// goesOn is the line of a second robot to a body that did not halt when the first one left.
type goesOn struct{ *apart }

func (g goesOn) Open() error {
	if err := g.apart.Open(); err != nil {
		return err
	}
	creepApart(g.apart)
	return nil
}

var (
	sequence = regexp.MustCompile(`"sequence":"[0-9]+"`)
	epochIn  = regexp.MustCompile(`"epoch":"[0-9]+"`)
)

type breakage struct {
	name    string
	caught  string // the check that must catch it
	because func(*broken)
}

func breakages() []breakage {
	return slices.Concat(brokenLines(), brokenLeases(), brokenLapses(), brokenMotions(), brokenPaths(), brokenFacts(),
		brokenHalts(), brokenWords(), brokenWires(), brokenLatches())
}

// brokenLines break clocks, leases and how motions end.
func brokenLines() []breakage {
	return []breakage{
		{"its clock is twice as fast", "time never runs back", func(b *broken) { b.observe = func(o *body.Observation) { o.At *= 2 } }},
		{"its clock stands", "time never runs back", func(b *broken) { b.observe = func(o *body.Observation) { o.At = 1 } }},
		{"its clock is slow", "time never runs back", func(b *broken) { b.observe = func(o *body.Observation) { o.At /= 3 } }},
		{"gives every robot the lease", "obeys only the holder of the lease", func(b *broken) {
			b.post = func(method, text string, header []string) (string, string, []string) {
				b.Release(b.epoch)
				return method, text, header
			}
		}},
		{"obeys every epoch", "obeys only the holder of the lease", func(b *broken) { b.send = anyEpoch }},
		{"never gives the lease away", "obeys only the holder of the lease", func(b *broken) { b.close = func(*apart) error { return nil } }},
		{"sinks when nobody asks", "keeps its goal when nobody asks", func(b *broken) {
			b.advance = func(a *apart, by time.Duration) error {
				if by > 100*time.Millisecond {
					creepApart(a)
				}
				return a.Advance(by)
			}
		}},
		{"goes on after its robot", "closing ends a motion", func(b *broken) {
			b.another = func(a *apart) body.Stepper { return goesOn{&apart{Guard: a.Guard, passed: a.passed}} }
		}},
		{"takes every look for a sign of life", "holds when the robot falls silent", func(b *broken) {
			b.advance = func(a *apart, by time.Duration) error {
				for ; by > 0; by -= 20 * time.Millisecond {
					if _, err := a.Observe(); err != nil {
						return err
					}
					if err := a.Advance(20 * time.Millisecond); err != nil {
						return err
					}
				}
				return nil
			}
		}},
	}
}

// brokenWires break how single calls are read.
func brokenWires() []breakage {
	return []breakage{
		{"obeys late commands", "refuses commands that come late", func(b *broken) {
			latest := 100
			b.post = func(method, text string, header []string) (string, string, []string) {
				latest++
				return method, sequence.ReplaceAllString(text, `"sequence":"`+strconv.Itoa(latest)+`"`), header
			}
		}},
		{"counts a stranger's halt", "refuses commands that come late", func(b *broken) {
			epoch := ""
			b.post = func(method, text string, header []string) (string, string, []string) {
				if method == "Send" {
					epoch = epochIn.FindString(text)
				}
				return method, strings.Replace(text, `"epoch":"0"`, epoch, 1), header
			}
		}},
		{"drops what it does not know", "reads plain JSON strictly", func(b *broken) {
			b.post = func(method, text string, header []string) (string, string, []string) {
				return method, strings.Replace(text, `,"speed":1`, "", 1), header
			}
		}},
		{"serves pages", "reads plain JSON strictly", func(b *broken) {
			b.post = func(method, text string, _ []string) (string, string, []string) { return method, text, nil }
		}},
		{"resets for robots", "resets nothing on the robot's line", func(b *broken) {
			b.post = func(_, _ string, header []string) (string, string, []string) { return "Stop", "{}", header } // any answer will do
		}},
	}
}

// brokenLatches break stop and reset.
func brokenLatches() []breakage {
	return []breakage{
		{"confirms no stop", "a stop ends a motion and latches", func(b *broken) { b.stop = func(*apart, string) uint64 { return 0 } }},
		{"halts and does not latch", "a stop ends a motion and latches", func(b *broken) {
			b.stop = func(a *apart, _ string) uint64 { _ = a.Halt(); return a.Latch().Number + 1 }
		}},
		{"takes setpoints while stopped", "a stop ends a motion and latches", func(b *broken) { b.send = anyStop }},
		{"resets without the number", "only its own number resets a stop", func(b *broken) {
			b.reset = func(a *apart, _ uint64) error { return a.Reset(a.Latch().Number) }
		}},
		{"resets by an older number", "only its own number resets a stop", func(b *broken) {
			b.reset = func(a *apart, n uint64) error {
				if l := a.Latch(); l.Number == n+1 {
					n = l.Number
				}
				return a.Reset(n)
			}
		}},
		{"a reset goes on", "a reset starts nothing", func(b *broken) { b.reset = revive }},
		{"a late setpoint revives", "a reset starts nothing", func(b *broken) {
			b.send = func(a *apart, p body.Setpoint) (body.Sent, error) { p.Stop = a.Latch().Number; return a.Send(p) }
		}},
	}
}

func creepApart(a *apart) {
	o, err := a.Guard.Watch(0)
	if err != nil {
		return
	}
	q := append([]float64(nil), o.GoalRad...)
	q[0] += 0.02
	_, _ = a.Send(body.Setpoint{PositionsRad: q, Over: 100 * time.Millisecond, Expires: o.At.Add(body.Expiry), Stop: o.Latch.Number})
}

// Verifies: Q103
func TestSuiteCatchesBrokenProcesses(t *testing.T) {
	checks, caught := map[string]bodytest.Check{}, map[string]bool{}
	for _, c := range bodytest.Checks() {
		caught[c.Name] = c.Name != "time never runs back" // TestSuiteCatchesBrokenBodies shows it
	}
	for _, c := range slices.Concat(bodytest.BareChecks(), bodytest.ProcessChecks(), bodytest.LatchChecks()) {
		checks[c.Name] = c
	}
	for _, s := range breakages() {
		t.Run(s.name, func(t *testing.T) {
			check, ok := checks[s.caught]
			if !ok {
				t.Fatalf("no check is called %q", s.caught)
			}
			b := &broken{apart: newApart(t)}
			s.because(b)
			if err := check.Run(b); err == nil {
				t.Errorf("%q passes", s.caught)
			} else {
				t.Log(err)
			}
			caught[s.caught] = true
		})
	}
	for name := range checks {
		if !caught[name] {
			t.Errorf("no broken process shows that %q can fail", name)
		}
	}
}
