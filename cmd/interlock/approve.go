package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	contractv1 "interlock/contract/v1"
	"interlock/robot/operator"
)

type approveFlags struct {
	personFlags
	deny, list, yes, watch bool
}

func newApprove() *cobra.Command {
	var f approveFlags
	c := &cobra.Command{
		Use:   "approve [ROBOT] [HASH]",
		Short: "List what waits for a person, and let one call pass, or deny it",
		Long: `Approve without HASH lists the calls that wait for a person. With the first digits
of a call's hash, 6 or more, it shows the call and asks; a yes lets exactly this
call pass, once, for a while. Nothing moves by it: whoever asked must ask again.

--watch keeps waiting and asks for each call as it comes, with one key.

Exit codes: 0 decided or listed, 2 no such call, or it is another by now, 3 the
robot sheds load, 4 you did not say yes, 6 a person is needed: no terminal.`,
		Args:              args(cobra.MaximumNArgs(2)),
		RunE:              func(cmd *cobra.Command, a []string) error { return f.run(cmd, a) },
		ValidArgsFunction: f.complete,
	}
	f.add(c)
	c.Flags().BoolVar(&f.deny, "deny", false, "deny the call instead")
	c.Flags().BoolVar(&f.list, "list", false, "list what waits, and nothing else")
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask: you have read what HASH stands for")
	c.Flags().BoolVar(&f.watch, "watch", false, "wait for calls, and decide each with one key: y approves, n denies")
	return c
}

// hashPrefix is what names a call: enough digits of its hash that nobody hits one by chance.
var hashPrefix = regexp.MustCompile(`^[0-9a-f]{6,64}$`)

func (f *approveFlags) run(cmd *cobra.Command, a []string) error {
	who, prefix, err := f.meant(a)
	if err != nil {
		return err
	}
	l, err := f.line(who)
	if err != nil {
		return err
	}
	defer l.Close()
	if f.watch {
		return f.follow(cmd, l)
	}
	list, err := l.pending(cmd.Context())
	if err != nil {
		return err
	}
	if prefix == "" {
		return f.printAll(cmd.OutOrStdout(), l, list)
	}
	p, err := theOne(list.GetPending(), prefix)
	if err != nil {
		return err
	}
	if !f.yes {
		if err := f.confirm(cmd, l, p); err != nil {
			return err
		}
	}
	return f.decide(cmd.Context(), cmd.OutOrStdout(), l, p, !f.deny)
}

// meant tells robot and hash apart, and refuses flags that contradict each other.
func (f *approveFlags) meant(a []string) (who, prefix string, err error) {
	switch {
	case len(a) == 2:
		who, prefix = a[0], a[1]
	case len(a) == 1 && !knownRobot(a[0]) && hashPrefix.MatchString(strings.ToLower(a[0])):
		prefix = a[0]
	case len(a) == 1:
		who = a[0]
	}
	prefix = strings.ToLower(prefix)
	switch {
	case prefix != "" && !hashPrefix.MatchString(prefix):
		err = fmt.Errorf("%q is not the beginning of a hash: 6 to 64 of the digits 0-9 and a-f", prefix)
	case prefix == "" && (f.deny || f.yes):
		err = errors.New("which call? give the first digits of its hash; interlock approve lists what waits")
	case prefix != "" && (f.list || f.watch), f.list && f.watch:
		err = errors.New("--list, --watch and HASH exclude each other")
	}
	if err != nil {
		return "", "", badInput(err)
	}
	return who, prefix, nil
}

func knownRobot(name string) bool {
	if !robotName.MatchString(name) {
		return false
	}
	_, err := entryOf(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// pending asks for the list, and holds each act against its hash: what is shown must be what is approved.
func (l *personLine) pending(ctx context.Context) (*contractv1.PendingList, error) {
	list, err := l.ListPending(ctx, &contractv1.ListPendingRequest{})
	if err != nil {
		return nil, l.status(err)
	}
	for _, p := range list.GetPending() {
		if operator.Hash(p.GetAct()) != p.GetHash() {
			return nil, fmt.Errorf("%s lists a call under a hash that is not its own; nothing can be decided", l.name())
		}
	}
	return list, nil
}

// theOne is the call whose hash begins so.
func theOne(list []*contractv1.Pending, prefix string) (one *contractv1.Pending, err error) {
	for _, p := range list {
		if !strings.HasPrefix(p.GetHash(), prefix) {
			continue
		}
		if one != nil {
			return nil, badInput(fmt.Errorf("more than one call begins with %s; give more digits", prefix))
		}
		one = p
	}
	if one == nil {
		return nil, badInput(fmt.Errorf("nothing that waits begins with %s: it was decided, or it was too late; interlock approve lists what waits", prefix))
	}
	return one, nil
}

// confirm shows the call and asks the person in front of the terminal.
func (f *approveFlags) confirm(cmd *cobra.Command, l *personLine, p *contractv1.Pending) error {
	in, is := terminalOf(cmd.InOrStdin())
	if !is {
		return exitStatus{exitPerson, errors.New("a person is needed to decide: run it in a terminal, or read the call and give --yes")}
	}
	question, verb := "approve", "approved"
	if f.deny {
		question, verb = "deny", "denied"
	}
	if _, err := fmt.Fprintf(f.aside(cmd), "%s%s this call? [y/N] ", pendingText(l, p), question); err != nil {
		return err
	}
	said, err := answerOf(cmd.Context(), in)
	if err != nil {
		return err
	}
	if said := strings.ToLower(strings.TrimSpace(said)); said != "y" && said != "yes" {
		return exitStatus{exitNotDone, errors.New("not " + verb + "; it still waits")}
	}
	return nil
}

// aside is where a person is asked: with --json the output is for programs.
func (f *approveFlags) aside(cmd *cobra.Command) io.Writer {
	if f.asJSON {
		return cmd.ErrOrStderr()
	}
	return cmd.OutOrStdout()
}

// terminalOf is the input, if a person can sit in front of it.
func terminalOf(in io.Reader) (*os.File, bool) {
	file, is := in.(*os.File)
	return file, is && term.IsTerminal(int(file.Fd()))
}

// answerOf reads one line, or ends with ctx.
func answerOf(ctx context.Context, in io.Reader) (string, error) {
	type line struct {
		text string
		err  error
	}
	lines := make(chan line, 1)
	go func() {
		text, err := bufio.NewReader(io.LimitReader(in, maxLine)).ReadString('\n')
		lines <- line{text, err}
	}()
	select {
	case l := <-lines:
		if l.err != nil && !errors.Is(l.err, io.EOF) {
			return "", l.err
		}
		return l.text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// decide sends the person's word: the whole hash, and the text as it was shown.
func (f *approveFlags) decide(ctx context.Context, out io.Writer, l *personLine, p *contractv1.Pending, yes bool) error {
	state := "denied"
	var err error
	var now *contractv1.Pending
	if yes {
		state = "approved"
		now, err = l.Approve(ctx, &contractv1.ApproveRequest{Hash: p.GetHash(), Displayed: p.GetAct().GetDisplayed(), By: f.who()})
	} else {
		now, err = l.Deny(ctx, &contractv1.DenyRequest{Hash: p.GetHash(), By: f.who()})
	}
	if err != nil {
		return l.status(err)
	}
	if f.asJSON {
		return printSafe(out, pendingOf(l, now, state))
	}
	text := fmt.Sprintf("%s: %.12s denied; it may not be asked for again at once\n", l.name(), now.GetHash())
	if yes {
		text = fmt.Sprintf("%s: %.12s approved, once, for %s; whoever asked must ask again\n", l.name(), now.GetHash(), shortly(now.GetExpiresInMs()))
	}
	_, err = io.WriteString(out, text)
	return err
}

func (f *approveFlags) complete(c *cobra.Command, a []string, typed string) (words []string, _ cobra.ShellCompDirective) {
	who := ""
	switch len(a) {
	case 0:
		words, _ = completeRobots(c, a, typed)
	case 1:
		who = a[0]
	default:
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	l, err := f.line(who)
	if err != nil {
		return words, cobra.ShellCompDirectiveNoFileComp // which robot is not known yet
	}
	defer l.Close()
	ctx, done := soon()
	defer done()
	list, err := l.pending(ctx)
	if err != nil {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	for _, p := range list.GetPending() {
		words = append(words, fmt.Sprintf("%.12s\t%s", p.GetHash(), shown(p.GetAct().GetCapability())))
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
