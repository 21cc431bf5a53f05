package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
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
	list, err := runningRobots(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("which robots run cannot be told, and --folded needs none: %w", err)
	case len(list) > 1:
		return badInput(fmt.Errorf("which robot? There run %s; ROBOT, the last argument, names one, and --folded talks to a simulated one in this process", namesOf(list)))
	case len(list) == 1:
		f.robot, f.found = list[0].Name, true
	default:
		f.alone = true
	}
	return nil
}

// watchForRobots warns once of a robot that begins to run while the conversation is with a folded one, until ctx ends: what
// is typed does not reach it.
func watchForRobots(ctx context.Context, warn func(string)) {
	for {
		if list, err := runningRobots(ctx); err == nil && len(list) > 0 {
			warn(fmt.Sprintf("%s runs now, and is not the robot of this conversation: nothing typed here reaches it, nor does \"stop\"; interlock chat %s talks to it", namesOf(list), list[0].Name))
			return
		}
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return
		}
	}
}

// knocksWithin is how long a robot's address may take to accept a connection. For one that is frozen the system accepts.
const knocksWithin = time.Second

// runningRobots lists the robots of this user that run: their process lives, and somebody listens at their address. Whether they
// answer is another matter.
func runningRobots(ctx context.Context) (list []entry, err error) {
	all, err := entries()
	if err != nil {
		return nil, err
	}
	there := make([]bool, len(all))
	var asked sync.WaitGroup
	for i, e := range all {
		asked.Go(func() { there[i] = alive(e.PID) && listens(ctx, e.Address) })
	}
	asked.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, e := range all {
		if there[i] {
			list = append(list, e)
		}
	}
	return list, nil
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
