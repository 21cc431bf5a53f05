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
)

// wireChecks are what only single calls of the protocol show.
func wireChecks() []Check {
	return []Check{
		{"refuses commands that come late", lateCommands},
		{"reads plain JSON strictly", strictJSON},
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
	Epoch string `json:"epoch"`
	AtNs  string `json:"atNs"`
	Latch struct {
		Stopped bool   `json:"stopped"`
		Number  string `json:"number"`
	} `json:"latch"`
	GoalRad    []float64 `json:"goalRad"`
	Rejections []struct {
		Code  string `json:"code"`
		Field string `json:"field"`
	} `json:"rejections"`
}

// rejectedAs reports whether the first reason of a refusal is this one.
func (r *reply) rejectedAs(code reject.Code, field string) bool {
	return len(r.Rejections) > 0 && r.Rejections[0].Code == string(code) && r.Rejections[0].Field == field
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

func callerOf(b body.Stepper) (*caller, error) {
	l, err := as[Line](b)
	if err != nil {
		return nil, err
	}
	c := &caller{Line: l}
	lease, err := c.call("Open", map[string]any{"holder": "bodytest"})
	if err != nil || lease.Epoch == "" || len(lease.Rejections) > 0 {
		return nil, errors.Join(err, fmt.Errorf("no lease is given: %+v", lease))
	}
	c.epoch = lease.Epoch
	return c, nil
}

func (c *caller) end() error {
	_, err := c.call("Close", map[string]any{"epoch": c.epoch})
	return err
}

// send sends a setpoint at the present goal, which moves nothing, under the epoch and the number.
func (c *caller) send(epoch string, sequence int) (reply, error) {
	o, err := c.call("Observe", map[string]any{"epoch": c.epoch})
	if err != nil {
		return o, err
	}
	var at time.Duration
	if _, err := fmt.Sscan(o.AtNs, (*int64)(&at)); err != nil {
		return o, fmt.Errorf("at_ns is %q: %w", o.AtNs, err)
	}
	q := map[string]any{
		"positionsRad": o.GoalRad, "overNs": fmt.Sprint(int64(tick)), "expiresNs": fmt.Sprint(int64(at + body.MaxAhead/2)),
		"epoch": epoch, "sequence": fmt.Sprint(sequence),
	}
	if o.Latch.Number != "" {
		q["stop"] = o.Latch.Number
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
		{"positions that are no list", "Send", `{"positionsRad":0.1,"epoch":"1","sequence":"1"}`},
		{"a position that is no number", "Send", `{"positionsRad":["a little"],"epoch":"1","sequence":"1"}`},
	} {
		if err := unanswered(l, bad.method, bad.body); err != nil {
			return fmt.Errorf("%s: %w", bad.name, err)
		}
	}
	return errors.Join(unanswered(l, "Open", `{"holder":"a page"}`, "Origin", "https://page.example"), l.Open(), l.Close())
}

// unanswered asks for a call that is refused as such.
func unanswered(l Line, method, body string, header ...string) error {
	status, text, err := l.Post(method, body, header...)
	if err != nil {
		return err
	}
	if status < 400 || status > 599 {
		return fmt.Errorf("%s %s %v is answered with status %d: %s", method, body, header, status, text[:min(len(text), 200)])
	}
	return nil
}

// noReset: a robot's line has a stop and no reset, under no name.
func noReset(b body.Stepper) error {
	l, err := as[Line](b)
	if err != nil {
		return err
	}
	for _, method := range []string{"Reset", "/interlock.driver.v1.Operator/Reset", "/interlock.driver.v1.Lab/Advance"} {
		if err := unanswered(l, method, `{}`); err != nil {
			return err
		}
	}
	return nil
}
