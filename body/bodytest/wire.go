package bodytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"interlock/body"
	"interlock/reject"
	"interlock/units"
)

// wireChecks are what only single calls of the protocol show.
func wireChecks() []Check {
	return []Check{
		{"refuses commands that come late", lateCommands},
		{"reads plain JSON strictly", strictJSON},
		{"reads numbers of 64 bits in both forms", bothForms},
		{"resets nothing on the robot's line", noReset},
	}
}

// caller makes calls of the driver protocol in plain JSON under a lease of its own.
type caller struct {
	Line
	epoch string
}

// reply is what is read of an answer; 64-bit numbers are strings in the protocol's JSON.
type reply struct {
	Epoch, TTLNs, Number string
	Rejections           []refusal
}

// refusal is what is read of one reason.
type refusal struct{ Code, Field, Retry string }

// rejectedAs reports whether the first reason of a refusal is this one.
func (r *reply) rejectedAs(code reject.Code, field string) bool {
	return len(r.Rejections) > 0 && r.Rejections[0].Code == string(code) && r.Rejections[0].Field == field
}

// later reports whether a refusal lifts by itself.
func (r *reply) later() bool {
	for _, one := range r.Rejections {
		if one.Retry != string(reject.Later) {
			return false
		}
	}
	return len(r.Rejections) > 0
}

func (c *caller) call(method string, fields map[string]any) (r reply, err error) {
	q, err := json.Marshal(fields)
	if err != nil {
		return r, err
	}
	status, text, err := c.Post(method, string(q))
	switch {
	case err != nil:
		return r, fmt.Errorf("%s: %w", method, err)
	case status != 200:
		return r, fmt.Errorf("%s %s is answered with status %d", method, q, status)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s: %w", method, err)
	}
	return r, nil
}

// callerName is the holder's name in a caller's leases.
const callerName = "bodytest"

func callerOf(b body.Stepper) (*caller, error) {
	l, err := as[Line](b)
	if err != nil {
		return nil, err
	}
	c := &caller{Line: l}
	lease, err := c.call("Open", map[string]any{"holder": callerName})
	if err != nil || lease.Epoch == "" || len(lease.Rejections) > 0 {
		return nil, errors.Join(err, fmt.Errorf("no lease is given: %+v", lease))
	}
	if c.epoch = lease.Epoch; lease.TTLNs != strconv.FormatInt(int64(units.LeaseTTL), 10) {
		return nil, errors.Join(fmt.Errorf("a lease lasts for %q ns, not for %v", lease.TTLNs, units.LeaseTTL), c.end())
	}
	return c, nil
}

func (c *caller) end() error {
	_, err := c.call("Close", map[string]any{"epoch": c.epoch})
	return err
}

// send sends a setpoint at the present goal, which moves nothing, under the epoch and the number.
func (c *caller) send(epoch string, sequence int) (reply, error) {
	o, err := c.Watch()
	if err != nil {
		return reply{}, err
	}
	return c.post(&o, o.GoalRad, tick, epoch, fmt.Sprint(sequence))
}

// post sends a setpoint for what was seen. The sequence is a string or a number, as is all of 64 bits.
func (c *caller) post(o *body.Observation, toRad []float64, over time.Duration, epoch string, sequence any) (reply, error) {
	q := under(epoch)
	q["positionsRad"], q["sequence"] = toRad, sequence
	q["overNs"], q["expiresNs"] = fmt.Sprint(int64(over)), fmt.Sprint(int64(o.At.Add(body.MaxAhead/2)))
	if _, is := sequence.(int); is {
		q["overNs"] = int64(over)
	}
	if o.Latch.Number > 0 {
		q["stop"] = strconv.FormatUint(o.Latch.Number, 10)
	}
	return c.call("Send", q)
}

// warm moves nothing and gives the driver the time to note that something may move.
func warm(b body.Stepper) error {
	s, err := start(b)
	if err != nil {
		return err
	}
	_, err = s.Send(s.setpoint())
	return errors.Join(err, s.Close())
}

// lateCommands: what a later command overtook on the line must not be obeyed after it, least of all after a halt. Only the
// holder's own commands count, so that nobody else can number it out.
func lateCommands(b body.Stepper) (err error) {
	if err := warm(b); err != nil {
		return err
	}
	c, err := callerOf(b)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.end()) }()
	halt := func(epoch string, sequence int) error {
		_, err := c.call("Halt", map[string]any{"epoch": epoch, "sequence": fmt.Sprint(sequence)})
		return err
	}
	stranger := func() error { // with an epoch that nobody was ever granted
		r, err := c.send(strconv.FormatUint(math.MaxUint64, 10), 1000)
		if err == nil && len(r.Rejections) == 0 {
			err = errors.New("a setpoint under an epoch that was never granted was taken")
		}
		return err
	}
	if r, err := c.send(c.epoch, 0); err != nil || len(r.Rejections) == 0 {
		return errors.Join(err, errors.New("a command without a number is answered as if it were in order"))
	}
	for _, step := range []struct {
		name     string
		before   func() error
		sequence int
		late     bool
	}{
		{"a first command", nil, 5, false},
		{"the same again", nil, 5, true},
		{"an earlier one", nil, 4, true},
		{"one before the holder's halt", func() error { return halt(c.epoch, 9) }, 8, true},
		{"one after somebody else's halt", func() error { return halt("0", 1000) }, 10, false},
		{"an earlier one, after a stranger's setpoint", stranger, 9, true},
		{"a later one, after a stranger's setpoint", stranger, 11, false},
		{"an earlier one, after a halt that came late itself", func() error { return halt(c.epoch, 3) }, 7, true},
	} {
		if step.before != nil {
			if err := step.before(); err != nil {
				return err
			}
		}
		r, err := c.send(c.epoch, step.sequence)
		if err != nil {
			return err
		}
		if r.rejectedAs(reject.Conflict, "sequence") != step.late || len(r.Rejections) > 0 != step.late {
			return fmt.Errorf("%s (sequence %d) is answered with %+v", step.name, step.sequence, r.Rejections)
		}
	}
	return nil
}

// strictJSON: what cannot be read whole is an error of the call, never half a command.
func strictJSON(b body.Stepper) error {
	l, err := as[Line](b)
	if err != nil {
		return err
	}
	for _, bad := range []struct{ name, method, body string }{
		{"a field that the protocol does not know", "Open", `{"holder":"bodytest","speed":1}`},
		{"JSON that breaks off", "Open", `{"holder":`},
		{"a list", "Open", `[]`},
		{"an epoch that is no number", "Renew", `{"epoch":"the latest"}`},
		{"a sequence that is no number", "Send", `{"positionsRad":[0.1],"epoch":"1","sequence":"soon"}`},
		{"a time that is no number", "Send", `{"positionsRad":[0.1],"overNs":"soon","epoch":"1","sequence":"1"}`},
		{"positions that are no list", "Send", `{"positionsRad":0.1,"epoch":"1","sequence":"1"}`},
		{"a position that is no number", "Send", `{"positionsRad":["a little"],"epoch":"1","sequence":"1"}`},
	} {
		if err := unreadable(l, bad.method, bad.body); err != nil {
			return fmt.Errorf("%s: %w", bad.name, err)
		}
	}
	_, err = unanswered(l, "Open", `{"holder":"a page"}`, "Origin", "https://page.example")
	return errors.Join(err, l.Open(), l.Close())
}

// unreadable asks for a call that is refused as one that cannot be read.
func unreadable(l Line, method, text string) error {
	answer, err := unanswered(l, method, text)
	if err != nil {
		return err
	}
	var why struct{ Code string }
	if err := json.Unmarshal(answer, &why); err != nil || why.Code == "" {
		return fmt.Errorf("%s %s is answered without a code: %s", method, text, answer[:min(len(answer), 200)])
	}
	return nil
}

// bothForms: 64-bit numbers come as strings, and as numbers from whoever has it so.
func bothForms(b body.Stepper) (err error) {
	if err := warm(b); err != nil {
		return err
	}
	c, err := callerOf(b)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.end()) }()
	for sequence, form := range []any{1, "2", 3} {
		o, err := c.Watch()
		if err != nil {
			return err
		}
		r, err := c.post(&o, o.GoalRad, tick, c.epoch, form)
		if err != nil || len(r.Rejections) > 0 {
			return errors.Join(err, fmt.Errorf("sequence %d as %T is answered with %+v", sequence+1, form, r.Rejections))
		}
	}
	return nil
}

// unanswered asks for a call that is refused as such.
func unanswered(l Line, method, body string, header ...string) (answer []byte, err error) {
	status, answer, err := l.Post(method, body, header...)
	if err == nil && (status < 400 || status > 499) {
		err = fmt.Errorf("%s %s %v is answered with status %d: %s", method, body, header, status, answer[:min(len(answer), 200)])
	}
	return answer, err
}

// noReset: a robot's line has a stop and no reset, under no name.
func noReset(b body.Stepper) error {
	l, err := as[Line](b)
	if err != nil {
		return err
	}
	for _, method := range []string{"Reset", "/interlock.driver.v1.Operator/Reset", "/interlock.driver.v1.Lab/Advance"} {
		if _, err := unanswered(l, method, `{}`); err != nil {
			return err
		}
	}
	return nil
}
