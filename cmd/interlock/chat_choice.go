package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// choose settles whom the conversation is with, where nobody named a robot: the one of this user that runs, so that a typed
// stop reaches the arm that moves. own says that the contract of a robot in this process was named.
func (f *chatFlags) choose(ctx context.Context, own bool) error {
	switch {
	case f.robot != "" && own:
		return badInput(errors.New("--contract is for a robot in this process; the one that ROBOT names has its own"))
	case f.robot != "" && f.folded:
		return badInput(errors.New("--folded is for a robot in this process, and ROBOT names one that runs elsewhere"))
	case f.robot != "" || f.folded || own || f.token != "" || f.operator != "":
		return nil // what is missing then is said when the session is made
	}
	list, bad, err := runningRobots(ctx, nil)
	switch {
	case err != nil:
		return fmt.Errorf("which robots run cannot be told, and --folded needs none: %w", err)
	case len(list) > 1:
		return badInput(errors.Join(fmt.Errorf("which robot? There run %s; ROBOT, the last argument, names one, and --folded talks to a simulated one in this process", namesOf(list)), allDamaged(bad)))
	case len(list) == 1:
		f.robot, f.found = list[0].Name, true
	case len(bad) > 0: // no simulator beside an arm that may move
		return badInput(fmt.Errorf("which robot? %w; its address as ROBOT reaches one that runs, and --folded talks to a simulated one in this process", allDamaged(bad)))
	default:
		f.alone = true
	}
	return nil
}

// newcomers tells of robots that nobody named: each that runs beside the one of a conversation, once, so that nobody takes a word
// that is typed for one of theirs.
type newcomers struct {
	with string // the robot of the conversation; empty: a simulated one in this process
	told map[string]bool
	tell func(chatEvent)
}

// watchForRobots tells of robots that run, or may, and are not the one of the conversation, until ctx ends.
func (f *chatFlags) watchForRobots(ctx context.Context, tell func(chatEvent)) {
	n := &newcomers{with: f.robot, told: map[string]bool{f.robot: true}, tell: tell}
	for {
		if list, bad, err := runningRobots(ctx, n.told); err == nil {
			n.all(list, bad)
		}
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return
		}
	}
}

func (n *newcomers) all(list []entry, bad []damaged) {
	for _, e := range list {
		n.one(e.Name, fmt.Sprintf("%s runs %s, and is not the robot of this conversation: nothing typed here reaches it, nor does \"stop\"; interlock chat %[1]s talks to it", e.Name, n.beside()))
	}
	for _, d := range bad {
		n.one(d.name, d.Error()+"; if it runs, nothing typed here reaches it, nor does \"stop\"")
	}
}

func (n *newcomers) beside() string {
	if n.with == "" {
		return "now"
	}
	return "beside " + n.with
}

func (n *newcomers) one(name, says string) {
	if !n.told[name] {
		n.told[name] = true
		n.tell(chatEvent{Event: evWarning, Robot: name, Says: says})
	}
}

// knocksWithin is how long a robot's address may take to accept a connection. For one that is frozen the system accepts.
const knocksWithin = time.Second

// runningRobots lists the robots of this user that run, but for those of these names: their process lives, and somebody listens at
// their address. Whether they answer is another matter. Of those whose entries are damaged it is not known whether they run.
func runningRobots(ctx context.Context, but map[string]bool) (list []entry, bad []damaged, err error) {
	all, bad, err := entries()
	if err != nil {
		return nil, nil, err
	}
	all = slices.DeleteFunc(all, func(e entry) bool { return but[e.Name] })
	there := make([]bool, len(all))
	var asked sync.WaitGroup
	for i, e := range all {
		asked.Go(func() { there[i] = alive(e.PID) && listens(ctx, e.Address) })
	}
	asked.Wait()
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	for i, e := range all {
		if there[i] {
			list = append(list, e)
		}
	}
	return list, bad, nil
}

func listens(ctx context.Context, addr string) bool {
	network, where := "tcp", addr
	if path, unix := strings.CutPrefix(addr, "unix:"); unix {
		network, where = "unix", path
	}
	c, err := (&net.Dialer{Timeout: knocksWithin}).DialContext(ctx, network, where)
	if err != nil { // a robot that has no time for a connection is there
		return !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist)
	}
	_ = c.Close()
	return true
}
