package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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
		Use:   "approve [HASH] [ROBOT]",
		Short: "List what waits for a person, and let one call pass, or deny it",
		Long: `Approve without HASH lists the calls that wait for a person. With the first digits
of a call's hash, 6 or more, it shows the call and asks; a yes lets exactly this
call pass, once, for a while. Nothing moves by it: whoever asked must ask again.

A HASH alone is looked for at every robot of this user. ROBOT may stand before HASH
as well.

--watch keeps waiting and asks for each call as it comes, with one key.

Exit codes: 0 decided or listed, 2 no such call, or it is another by now, 3 the
robot sheds load, 4 you did not say yes, 6 a person is needed: no terminal.`,
		Args: takes(argument{"HASH", hashSays, true}, robotArgument()),
		RunE: func(cmd *cobra.Command, a []string) error { return f.run(cmd, a) },
	}
	f.add(c, 1, nil)
	c.ValidArgsFunction = f.complete
	c.Flags().BoolVar(&f.deny, "deny", false, "deny the call instead")
	c.Flags().BoolVar(&f.list, "list", false, "list what waits, and nothing else")
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask: you have read what HASH stands for")
	c.Flags().BoolVar(&f.watch, "watch", false, "wait for calls, and decide each with one key: y approves, n denies")
	return c
}

func (f *approveFlags) run(cmd *cobra.Command, a []string) error {
	who, prefix, err := f.meant(cmd, a)
	if err != nil {
		return err
	}
	l, err := f.holder(cmd.Context(), who, prefix)
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
	p, err := theOne(l, list.GetPending(), prefix)
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
func theOne(l *personLine, list []*contractv1.Pending, prefix string) (one *contractv1.Pending, err error) {
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
		return nil, badInput(fmt.Errorf("nothing that waits begins with %s: it was decided, or it was too late; interlock approve%s lists what waits", prefix, l.argument))
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
