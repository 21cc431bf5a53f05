package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// takeSuffix marks the file in which a take is remembered until it is given back.
const takeSuffix = ".take.json"

// taken is a take of this user's, as it is remembered.
type taken struct {
	By    string    `json:"by"`
	Epoch uint64    `json:"epoch"`
	At    time.Time `json:"at"`
}

// takeSaid is how it stands after a take, or after its end.
type takeSaid struct {
	Robot        string `json:"robot"`
	TakenBy      string `json:"taken_by"` // empty: nobody
	Epoch        uint64 `json:"epoch"`
	WasHeldBy    string `json:"was_held_by"`
	EndedMission string `json:"ended_mission"`
}

func newTake() *cobra.Command {
	var f personFlags
	var release bool
	var epoch uint64
	c := &cobra.Command{
		Use:   "take [ROBOT]",
		Short: "Take a robot from whoever holds it, or give it back",
		Long: `Take takes the robot for you: the mission that moves is ended, and nobody else can
move the robot until it is given back. It is no stop: "interlock stop" halts at the
driver and latches.

--release gives the robot back. Nothing is started by that.

Exit codes: 0 taken or given back, 2 no such robot or take, 3 refused.`,
		Args: takes(robotArgument()),
		RunE: func(cmd *cobra.Command, a []string) error {
			if epoch != 0 && !release {
				return badInput(errors.New("--epoch says which take --release ends"))
			}
			l, err := f.line(cmd, a, 0)
			if err != nil {
				return err
			}
			defer l.Close()
			if release {
				return f.giveBack(cmd, l, epoch)
			}
			return f.take(cmd, l)
		},
	}
	f.add(c, 0, nil)
	c.Flags().BoolVar(&release, "release", false, "give the robot back")
	c.Flags().Uint64Var(&epoch, "epoch", 0, "with --release: the number of the take (default: the one that was made here)")
	return c
}

func (f *personFlags) take(cmd *cobra.Command, l *personLine) error {
	reply, err := l.Take(cmd.Context(), &contractv1.TakeRequest{By: f.who()})
	if err != nil {
		return l.status(err)
	}
	if err := l.remember(taken{f.who(), reply.GetEpoch(), time.Now()}); err != nil {
		return fmt.Errorf("%s is taken, but that could not be remembered; give it back by: interlock take --release --epoch %d%s: %w", l.name(), reply.GetEpoch(), l.argument, err)
	}
	if f.asJSON {
		return printSafe(cmd.OutOrStdout(), takeOf(l, reply))
	}
	text := fmt.Sprintf("%s is taken by %s (take %d)\n", l.name(), shown(reply.GetTakenBy()), reply.GetEpoch())
	if by := reply.GetWasHeldBy(); by != "" {
		text += "    it was held by " + shown(by) + "\n"
	}
	if m := reply.GetEndedMission(); m != "" {
		text += "    mission " + shown(m) + " was ended\n"
	}
	_, err = io.WriteString(cmd.OutOrStdout(), text+"    to give it back: interlock take --release"+l.argument+"\n")
	return err
}

func takeOf(l *personLine, r *contractv1.TakeReply) takeSaid {
	return takeSaid{l.robot, r.GetTakenBy(), r.GetEpoch(), r.GetWasHeldBy(), r.GetEndedMission()}
}

func (f *personFlags) giveBack(cmd *cobra.Command, l *personLine, epoch uint64) error {
	if epoch == 0 {
		t, err := l.remembered()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return l.noTake(cmd.Context())
		case err != nil:
			return err
		}
		epoch = t.Epoch
	}
	reply, err := l.GiveBack(cmd.Context(), &contractv1.GiveBackRequest{By: f.who(), Epoch: epoch})
	var r reject.Rejection
	if errors.As(err, &r) && r.Code == reject.Conflict { // our take has ended in any case
		return errors.Join(l.status(err), l.forget())
	}
	if err != nil {
		return l.status(err)
	}
	if err := l.forget(); err != nil {
		return err
	}
	if f.asJSON {
		return printSafe(cmd.OutOrStdout(), takeOf(l, reply))
	}
	text := l.name() + " is given back; nothing was started\n"
	if by := reply.GetTakenBy(); by != "" {
		text = l.name() + " is taken by " + shown(by) + "\n"
	}
	_, err = io.WriteString(cmd.OutOrStdout(), text)
	return err
}

// noTake says what can be done where no take of this user's is remembered.
func (l *personLine) noTake(ctx context.Context) error {
	list, err := l.ListPending(ctx, &contractv1.ListPendingRequest{})
	switch by := list.GetTakenBy(); {
	case err != nil:
		return l.status(err)
	case by == "":
		return badInput(fmt.Errorf("nobody has taken %s", l.name()))
	default:
		return badInput(fmt.Errorf("%s is taken by %s, and not from here; interlock take --release --epoch N%s gives back the take of number N", l.name(), shown(by), l.argument))
	}
}

// takeFile is where a take of this robot is remembered; a robot without a name goes by its address.
func (l *personLine) takeFile() (string, error) {
	if robotName.MatchString(l.robot) {
		return runtimeFile(l.robot + takeSuffix)
	}
	sum := sha256.Sum256([]byte(l.addr))
	return runtimeFile("at-" + hex.EncodeToString(sum[:8]) + takeSuffix)
}

func (l *personLine) remember(t taken) error {
	path, err := l.takeFile()
	if err != nil {
		return err
	}
	return writeWhole(path, t)
}

func (l *personLine) remembered() (t taken, err error) {
	path, err := l.takeFile()
	if err != nil {
		return t, err
	}
	return t, readWhole(path, &t)
}

func (l *personLine) forget() error {
	path, err := l.takeFile()
	if err != nil {
		return err
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
