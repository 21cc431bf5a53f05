package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/transport/leasing"
	"interlock/units"
)

// lookEvery is how often a conversation asks whether the robot is there and what it offers.
const lookEvery = 500 * time.Millisecond

// distantRobot is a robot in another process, as a conversation knows it. The line remembers which verbs move nothing,
// from the manifest that the brain's tools were made of.
type distantRobot struct {
	*leasing.Client // what moves for the conversation stops when the conversation dies
	line            *namedLine

	mu    sync.Mutex
	looks map[string]bool
	stops string // operator line of its driver, as it was last known
}

// Describe implements transport.Client.
func (d *distantRobot) Describe(ctx context.Context) (*contractv1.Manifest, error) {
	m, err := d.Client.Describe(ctx)
	if err != nil {
		return nil, err
	}
	looks := map[string]bool{}
	for _, k := range m.GetCapabilities() {
		looks[k.GetName()] = k.GetReadOnly()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.looks = looks
	return m, nil
}

func (d *distantRobot) reads(verb string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.looks[verb]
}

// operator is where the driver's stop is. It stays known when the robot is gone.
func (d *distantRobot) operator() (string, error) {
	list, err := operators(d.line.who, "")
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, addr := range list {
		d.stops = addr
	}
	switch {
	case d.stops != "":
		return d.stops, nil
	case err != nil:
		return "", err
	}
	return "", fmt.Errorf("it is not known where the driver of %s is stopped", d.line.who)
}

// distant makes a session with a robot that runs elsewhere, or will.
func (f *chatFlags) distant(s *session) error {
	line := newNamedLine(f.robot, f.token)
	if _, err := line.now(); err != nil && !robotName.MatchString(f.robot) {
		return err // no such robot can come
	}
	d := &distantRobot{Client: leasing.New(line, "chat, process "+strconv.Itoa(os.Getpid()), units.LeaseRenew), line: line}
	stop := distantLatch{addr: d.operator}
	if f.operator != "" {
		d.stops = f.operator
		stop.addr = func() (string, error) { return f.operator, nil }
	}
	s.operator = f.operator
	s.distant, s.looks, s.name, s.where = d, d.reads, f.robot, "another process"
	s.robot = &folded{client: d, guard: stop, end: func() error {
		defer line.end()
		return d.Close()
	}}
	return nil
}

// resetting is the command that resets a stop, whole; operator is the driver's address where that was given.
func (d *distantRobot) resetting(number uint64, operator string) string {
	said := stopSaid{Robot: d.line.who, Operator: operator, Number: number, byAddress: operator != ""}
	return said.resetting()
}

// watch tells when the robot comes, goes, or offers something else, until ctx ends.
func (d *distantRobot) watch(ctx context.Context, note func(string)) {
	for last, first := "", true; ; first = false {
		asking, done := context.WithTimeout(ctx, lineWithin)
		m, err := d.line.Describe(asking)
		done()
		now := ""
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			now = m.GetManifestHash()
		}
		switch {
		case now == last && !first:
		case now == "":
			stop := "; where its driver is stopped is not known before it does: use the robot's own switch"
			if _, err := d.operator(); err == nil {
				stop = ", and \"stop\" goes to its driver all the same"
			}
			note("the robot " + d.line.who + " does not answer: " + err.Error() + "; what you ask for is refused until it does" + stop)
		case last == "":
			_, _ = d.operator() // to know it when there is no robot to ask any more
			note(fmt.Sprintf("the robot %s is there (%s), with %d verbs%s", m.GetRobot(), m.GetMode(), len(m.GetCapabilities()), suchAs(m)))
		default:
			note(fmt.Sprintf("the robot %s now offers %d verbs; the brain's tools change with your next request", m.GetRobot(), len(m.GetCapabilities())))
		}
		last = now
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return
		}
	}
}
