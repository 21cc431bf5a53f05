package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"interlock/reject"
	"interlock/robot/operator"
)

// personFlags are what every command takes that acts for a person at the robot itself.
type personFlags struct {
	robotChoice
	person, by string
	asJSON     bool
}

// add adds them; n is the place of ROBOT among the arguments, and complete completes what stands before it.
func (f *personFlags) add(c *cobra.Command, n int, complete cobra.CompletionFunc) {
	f.robotChoice.add(c, n, complete)
	c.Flags().StringVar(&f.person, "person", "", "where the robot hears a person, unix:PATH (default: where the robot's name leads to)")
	c.Flags().StringVar(&f.by, "by", "", "who you are, as the record is to name you (default: your user's name)")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
}

// who is the person, as the record names them.
func (f *personFlags) who() string {
	if f.by != "" {
		return f.by
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "user " + strconv.Itoa(os.Getuid())
}

// personLine is a person's line to one robot.
type personLine struct {
	*operator.Client
	robot, addr string
	argument    string // what names the robot at the end of a command line, with a blank before it
}

// line is the line to the robot that the arguments from number n on mean. Nothing is asked yet.
func (f *personFlags) line(c *cobra.Command, a []string, n int) (*personLine, error) {
	who, err := f.warned(c, a, n)
	if err != nil {
		return nil, err
	}
	return f.lineTo(who)
}

func (f *personFlags) lineTo(who string) (*personLine, error) {
	if f.person != "" {
		if !strings.HasPrefix(f.person, "unix:") {
			return nil, badInput(fmt.Errorf("--person %q is no unix:PATH; a person is heard nowhere else", f.person))
		}
		return &personLine{operator.Dial(f.person), who, f.person, " --person " + word(f.person)}, nil
	}
	e, err := find(who)
	if err != nil {
		return nil, err
	}
	addr, err := personOf(e.Name)
	if err != nil {
		return nil, err
	}
	if addr == "" {
		return nil, badInput(fmt.Errorf("it is not known where %s hears a person; --person unix:PATH says it", robotSaid(e.Name, e.Address)))
	}
	return &personLine{operator.Dial(addr), e.Name, addr, " " + e.Name}, nil
}

func robotSaid(name, addr string) string {
	if name != "" {
		return name
	}
	return "the robot at " + addr
}

// personOf is where a robot of this user hears a person; empty where its entry does not say.
func personOf(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	path, err := runtimeFile(name + entrySuffix)
	if err != nil {
		return "", err
	}
	var e struct {
		Person string `json:"person"`
	}
	return e.Person, readWhole(path, &e)
}

// status gives an error of the line its exit code, and words that say what to do.
func (l *personLine) status(err error) error {
	var list reject.List
	var one reject.Rejection
	switch {
	case err == nil:
		return nil
	case errors.As(err, &list) && len(list) > 0:
		return exitStatus{reject.ExitCode(list[0].Code), err}
	case errors.As(err, &one):
		return exitStatus{reject.ExitCode(one.Code), err}
	}
	return fmt.Errorf("%s does not answer a person (interlock robots tells how it is): %w", robotSaid(l.robot, l.addr), err)
}

// name is the robot's, for people.
func (l *personLine) name() string { return robotSaid(l.robot, l.addr) }

// printSafe prints one object on one line, with nothing in it that a terminal takes for a command.
func printSafe(out io.Writer, v any) error {
	var b bytes.Buffer
	if err := printJSON(&b, v); err != nil {
		return err
	}
	_, err := out.Write(asciiControls(b.Bytes()))
	return err
}

// shownLines prints a text of several lines, indented.
func shownLines(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		b.WriteString("    " + shown(strings.TrimSuffix(l, "\n")) + "\n")
	}
	return b.String()
}

// completeWithin is how long a completion waits for a robot.
const completeWithin = time.Second

// completeRobots completes the names of this user's robots.
func completeRobots(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	list, _, err := entries()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// soon bounds what is asked for a completion.
func soon() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), completeWithin)
}
