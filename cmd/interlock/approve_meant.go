package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	contractv1 "interlock/contract/v1"
)

const hashSays = "the first digits of a call's hash, 6 to 64 of 0-9 and a-f; interlock approve lists what waits"

// hashPrefix is what names a call: enough digits of its hash that nobody hits one by chance.
var hashPrefix = regexp.MustCompile(`^[0-9a-f]{6,64}$`)

// fewDigits is what is meant for a hash and is too short for one.
var fewDigits = regexp.MustCompile(`^[0-9a-fA-F]{1,5}$`)

// meant tells robot and hash apart, and refuses what contradicts itself.
func (f *approveFlags) meant(c *cobra.Command, a []string) (who, prefix string, err error) {
	var rest []string
	switch len(a) {
	case 1:
		if !knownRobot(a[0]) && (isHash(a[0]) || fewDigits.MatchString(a[0]) || f.flag != "") {
			prefix = strings.ToLower(a[0])
		} else {
			rest = a
		}
	case 2:
		if robotFirst(a[0], a[1]) {
			a = []string{a[1], a[0]}
		}
		prefix, rest = strings.ToLower(a[0]), a[1:]
	}
	if who, err = f.warned(c, rest, 0); err != nil {
		return "", "", err
	}
	switch {
	case prefix != "" && !hashPrefix.MatchString(prefix):
		err = fmt.Errorf("HASH: %q is not %s", prefix, hashSays)
	case prefix == "" && (f.deny || f.yes):
		err = errors.New("HASH is missing: which call? It is " + hashSays)
	case prefix != "" && (f.list || f.watch), f.list && f.watch:
		err = errors.New("--list, --watch and HASH exclude each other")
	}
	if err != nil {
		return "", "", badInput(err)
	}
	return who, prefix, nil
}

func isHash(text string) bool { return hashPrefix.MatchString(strings.ToLower(text)) }

// robotFirst reports whether two arguments are ROBOT and HASH, in this order.
func robotFirst(one, other string) bool {
	if isHash(one) != isHash(other) {
		return isHash(other)
	}
	return knownRobot(one) && !knownRobot(other)
}

func knownRobot(name string) bool {
	if !robotName.MatchString(name) {
		return false
	}
	_, err := entryOf(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// holder is the line to the robot that is meant; a hash without a robot leads to the one at which that call waits.
func (f *approveFlags) holder(ctx context.Context, who, prefix string) (*personLine, error) {
	if who != "" || prefix == "" || f.person != "" {
		return f.lineTo(who)
	}
	list, _, err := entries()
	if err != nil || len(list) < 2 {
		return f.lineTo("")
	}
	var holds []string
	for _, e := range list {
		if f.waitsAt(ctx, e.Name, prefix) {
			holds = append(holds, e.Name)
		}
	}
	switch len(holds) {
	case 0:
		return nil, badInput(fmt.Errorf("nothing that waits at %s begins with %s: it was decided, it was too late, or its robot does not answer; interlock approve ROBOT lists what waits at one", namesOf(list), prefix))
	case 1:
		return f.lineTo(holds[0])
	}
	return nil, badInput(fmt.Errorf("calls at %s begin with %s; give more digits, or ROBOT", strings.Join(holds, ", "), prefix))
}

// waitsAt reports whether a call of this hash waits at the robot. One that does not answer in time holds none.
func (f *approveFlags) waitsAt(ctx context.Context, robot, prefix string) bool {
	l, err := f.lineTo(robot)
	if err != nil {
		return false
	}
	defer l.Close()
	ctx, done := context.WithTimeout(ctx, lineWithin)
	defer done()
	list, err := l.pending(ctx)
	return err == nil && slices.ContainsFunc(list.GetPending(), func(p *contractv1.Pending) bool { return strings.HasPrefix(p.GetHash(), prefix) })
}

// complete completes HASH, or ROBOT before it; then the other one of them.
func (f *approveFlags) complete(c *cobra.Command, a []string, typed string) (words []string, _ cobra.ShellCompDirective) {
	who := f.flag
	switch {
	case len(a) > 1 || len(a) == 1 && f.flag != "":
		return nil, cobra.ShellCompDirectiveNoFileComp
	case len(a) == 1 && isHash(a[0]) && !knownRobot(a[0]):
		return completeRobots(c, a, typed)
	case len(a) == 1:
		who = a[0]
	case f.flag == "":
		words, _ = completeRobots(c, a, typed)
	}
	l, err := f.lineTo(who)
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
