package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"interlock/body/plant"
	"interlock/body/remote"
	"interlock/contract"
	"interlock/robot"
	"interlock/transport/connect"
)

// The files of a crew's folder. Every process of the crew finds the others by them.
const (
	crewContract  = "contract.yaml"
	crewRobot     = "robot"      // where the brain reaches the robot
	crewPace      = "pace"       // where the robot asks for its next tick
	crewDriver    = "driver"     // where the robot reaches its driver
	crewOperator  = "operator"   // where a person would reach the driver
	crewDriverLab = "driver.lab" // set-up and time, for the evaluation
	crewPlant     = "plant"      // where the driver reaches the plant
	crewPlantLab  = "plant.lab"  // truth, for the evaluation; set-up and time, for the driver
)

// What an evaluation tells its robot's process, a line each, and what that answers.
const (
	crewPlay  = "play"  // make a robot
	crewReady = "ready" // it is made
	crewRest  = "rest"  // end the robot
	crewRests = "rests" // it has ended
)

func socketIn(dir, name string) string { return "unix:" + filepath.Join(dir, name) }

// newLabRobot is the robot's process of `interlock eval --processes`. It serves what `interlock robot` serves, with a
// robot made anew for every episode, and differs in one thing: it asks the evaluation for its ticks, which no robot
// outside of one does.
func newLabRobot() *cobra.Command {
	return &cobra.Command{
		Use:    "lab-robot",
		Short:  "Be the robot of an evaluation that runs it as a process",
		Hidden: true,
		Args:   takes(),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			// The folder is this process's, since it outlives an evaluation that is killed by as long as it takes to remove it.
			dir, err := os.MkdirTemp("", "interlock-eval-")
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, removeShared(cmd.Context(), dir)) }()
			r := &labRobot{dir: dir, out: cmd.OutOrStdout(), front: &front{}}
			if err := r.tell(dir); err != nil {
				return err
			}
			return r.serve(ctx, linesOf(cmd.InOrStdin()))
		},
	}
}

// removeShared removes a folder in which other processes, which are ending too, may still make a socket meanwhile.
func removeShared(ctx context.Context, dir string) (err error) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer done()
	for {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// linesOf reads lines until there are no more; then the channel closes.
func linesOf(in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(in); s.Scan(); {
			lines <- s.Text()
		}
	}()
	return lines
}

// labRobot is the process. At most one robot is in it at a time.
type labRobot struct {
	dir      string
	out      io.Writer
	front    *front
	contract *contract.Contract // nil before the first robot

	end   func()     // asks the robot to end; nil: there is none
	ended chan error // of the robot
}

func (r *labRobot) tell(line string) error {
	_, err := fmt.Fprintln(r.out, line)
	return err
}

// serve does what the lines say until they end, which is when the evaluation is gone or wants no more.
func (r *labRobot) serve(ctx context.Context, lines <-chan string) error {
	l, err := connect.Listen(ctx, socketIn(r.dir, crewRobot), connect.Options{})
	if err != nil {
		return err
	}
	pace := plant.DialLab(socketIn(r.dir, crewPace))
	defer pace.Close()
	serving, endServing := context.WithCancel(context.WithoutCancel(ctx))
	defer endServing()
	served := make(chan error, 1)
	go func() { served <- connect.Serve(serving, l, r.front, connect.Options{}) }()
	err = errors.Join(r.obeyAll(ctx, lines, pace), r.rest())
	endServing()
	return errors.Join(err, <-served)
}

func (r *labRobot) obeyAll(ctx context.Context, lines <-chan string, pace *plant.Lab) error {
	for {
		select {
		case line, more := <-lines:
			if !more {
				return nil
			}
			if err := r.obey(ctx, line, pace); err != nil {
				return err
			}
		case err := <-r.ended:
			r.end, r.ended = nil, nil
			return fmt.Errorf("the robot ended by itself: %w", errors.Join(err, robot.ErrClosed))
		case <-ctx.Done():
			return nil
		}
	}
}

func (r *labRobot) obey(ctx context.Context, line string, pace *plant.Lab) error {
	switch line {
	case crewPlay:
		if err := r.play(ctx, pace); err != nil {
			return err
		}
		return r.tell(crewReady)
	case crewRest:
		if err := r.rest(); err != nil {
			return err
		}
		return r.tell(crewRests)
	}
	return fmt.Errorf("lab-robot understands %q and %q, not %q", crewPlay, crewRest, line)
}

// play makes a robot on the driver as it is now: nothing of an earlier one is left.
func (r *labRobot) play(ctx context.Context, pace *plant.Lab) (err error) {
	if r.end != nil {
		return errors.New("a robot plays already")
	}
	if r.contract == nil {
		if r.contract, _, err = loadContract(filepath.Join(r.dir, crewContract)); err != nil {
			return err
		}
	}
	d, err := remote.Dial(ctx, socketIn(r.dir, crewDriver), remote.Options{Holder: "robot of an evaluation", CallTimeout: pacedCall, OpenWithin: pacedCall})
	if err != nil {
		return err
	}
	if theirs := d.ContractHash(); theirs != r.contract.Hash() {
		return errors.Join(fmt.Errorf("%w: %.12s, not %.12s", errOtherContract, theirs, r.contract.Hash()), d.Close())
	}
	s := &served{options: robotOptions{name: r.contract.Robot}, contract: r.contract, out: r.out, errOut: io.Discard} // the evaluation compares manifests
	a, g, err := s.aligned(d.Describe())
	if err != nil {
		return errors.Join(err, d.Close())
	}
	made, err := robot.New(robot.Config{
		Contract: r.contract, Alignment: a, Gate: g, Body: d, Pacer: robot.Lockstep(plant.Stepped{Driver: d, Lab: pace}), MaxMissions: missionBudget,
	})
	if err != nil {
		return errors.Join(err, d.Close())
	}
	running, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- made.Run(running) }()
	r.end, r.ended = end, ended
	r.front.open(made)
	return nil
}

// rest ends the robot, if there is one, and waits for it.
func (r *labRobot) rest() error {
	if r.end == nil {
		return nil
	}
	r.front.open(nil)
	r.end()
	err := <-r.ended
	r.end, r.ended = nil, nil
	return err
}
