package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// argument is one word of a command line, in its place.
type argument struct {
	name     string // as the usage line has it
	says     string // what may be given
	optional bool
}

// Arguments that more than one command takes.
func robotArgument() argument {
	return argument{"ROBOT", "a robot's name or its address; interlock robots lists them", true}
}

func missionArgument() argument {
	return argument{name: "MISSION", says: "the id of a mission; interlock missions lists them"}
}

func contractArgument() argument {
	return argument{name: "FILE", says: "a contract file, such as robots/so101-tabletop.yaml"}
}

func runArgument() argument {
	return argument{name: "DIR", says: "the folder that eval or demo saved a run in with --out"}
}

func callArgument() argument {
	return argument{name: "CALL", says: `one call as a model writes it, {"tool": NAME, "arguments": {…}}, or - for standard input`}
}

// takes refuses a command line that lacks one of the arguments or has more than these, and says what each may be.
func takes(list ...argument) cobra.PositionalArgs {
	return func(c *cobra.Command, given []string) error {
		var lacks []string
		for i, a := range list {
			if !a.optional && (i >= len(given) || given[i] == "") {
				lacks = append(lacks, a.name+" is missing: "+a.says)
			}
		}
		switch {
		case len(lacks) > 0:
			return badInput(fmt.Errorf("%s (usage: %s)", strings.Join(lacks, "; "), c.UseLine()))
		case len(given) > len(list) && len(list) == 0:
			return badInput(fmt.Errorf("%q is too much: %s takes flags only; %s --help lists them", given[0], c.CommandPath(), c.CommandPath()))
		case len(given) > len(list):
			return badInput(fmt.Errorf("%q is too much (usage: %s)", given[len(list)], c.UseLine()))
		}
		return nil
	}
}

// group is what a command does that only holds others: it lists them.
func group(c *cobra.Command, given []string) error {
	if len(given) == 0 {
		return c.Help()
	}
	return noCommand(c, given[0])
}

// noCommand says that a command holds none of this name, and which comes near.
func noCommand(c *cobra.Command, name string) error {
	near := ""
	for c.SuggestionsMinimumDistance = 1; near == "" && c.SuggestionsMinimumDistance <= 2; c.SuggestionsMinimumDistance++ {
		if s := c.SuggestionsFor(name); len(s) > 0 {
			near = "; did you mean " + s[0] + "?"
		}
	}
	of, _ := strings.CutPrefix(c.CommandPath(), c.Root().Name())
	return badInput(fmt.Errorf("there is no command %q%s (%s --help lists them)", strings.TrimSpace(of+" "+name), near, c.CommandPath()))
}

// newHelp is the command that prints another one's help, and refuses a name that is none.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND ...]",
		Short: "Print what a command does and takes",
		Args:  cobra.ArbitraryArgs,
		ValidArgsFunction: func(c *cobra.Command, given []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			if of, rest, err := c.Root().Find(given); err == nil && len(rest) == 0 {
				for _, one := range of.Commands() {
					if one.IsAvailableCommand() {
						names = append(names, one.Name()+"\t"+one.Short)
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, given []string) error {
			of, rest, err := c.Root().Find(given)
			if err != nil || len(rest) > 0 {
				return noCommand(of, strings.Join(rest, " "))
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
}

// strictCompletion lets the completion command, which is the library's, refuse what it does not take.
func strictCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Args, c.RunE = cobra.ArbitraryArgs, group
		for _, shell := range c.Commands() {
			shell.Args = takes()
		}
	}
}

// What the library's errors about flags can tell. Their types are of a module of its own that only the library names.
type (
	namedFlag interface {
		GetSpecifiedName() string
		GetSpecifiedShortnames() string
	}
	badSyntax interface{ GetSpecifiedFlag() string }
)

// flagOf is the flag that an error is about; like is any flag, for its type.
func flagOf[F any](err error, like F) (flag F, is bool) {
	var e interface {
		error
		GetFlag() F
	}
	if errors.As(err, &e) {
		return e.GetFlag(), true
	}
	return like, false
}

// flagFault says which flag a command line got wrong, and what it takes.
func flagFault(c *cobra.Command, err error) error {
	c.InitDefaultHelpFlag()
	flag, known := flagOf(err, c.Flags().Lookup("help"))
	var value interface{ GetValue() string }
	var named namedFlag
	var syntax badSyntax
	see := c.CommandPath() + " --help lists them"
	switch {
	case known && errors.As(err, &value):
		return badInput(fmt.Errorf("--%s: %q is not accepted; it takes %s", flag.Name, value.GetValue(), accepted(flag.Value.Type(), err)))
	case known:
		return badInput(fmt.Errorf("--%s: its value is missing; it takes %s (%s)", flag.Name, accepted(flag.Value.Type(), err), flag.Usage))
	case errors.As(err, &named) && named.GetSpecifiedShortnames() != "":
		return badInput(fmt.Errorf("there is no flag -%s in %q (%s)", named.GetSpecifiedName(), "-"+named.GetSpecifiedShortnames(), see))
	case errors.As(err, &named):
		return badInput(fmt.Errorf("there is no flag --%s (%s)", named.GetSpecifiedName(), see))
	case errors.As(err, &syntax):
		return badInput(fmt.Errorf("%q is no flag (%s)", syntax.GetSpecifiedFlag(), see))
	}
	return badInput(err)
}

// accepted says what a flag of the library's type takes.
func accepted(kind string, err error) string {
	says := map[string]string{
		"bool": "true or false", "int": "a whole number", "uint64": "a whole number from 0 on", "float64": "a number",
		"duration": "a duration, such as 500ms, 10s or 2m", "intSlice": "whole numbers with commas between them",
		"stringSlice": "a list with commas between its parts", "stringArray": "a text", "string": "a text",
	}[kind]
	if says == "" {
		says = "a value of the kind " + kind
	}
	if errors.Is(err, strconv.ErrRange) {
		says += " that this machine can hold"
	}
	return says
}

// checkAddress refuses what can be no address of a process. what is the flag or argument that holds it; an empty one was
// not given.
func checkAddress(what, addr string) error {
	if path, unix := strings.CutPrefix(addr, "unix:"); addr == "" || unix && path != "" {
		return nil
	}
	host, port, err := net.SplitHostPort(addr)
	if n, numberErr := strconv.ParseUint(port, 10, 16); err == nil && host != "" && numberErr == nil && n <= 65_535 {
		return nil
	}
	return badInput(fmt.Errorf("%s: %q is no address: it is unix:PATH or HOST:PORT, such as unix:driver.sock or 127.0.0.1:7460", what, addr))
}

// checkAddresses does so for pairs of a flag and its value.
func checkAddresses(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if err := checkAddress(pairs[i], pairs[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// word is a text as one word of a shell's command line, so that a command that is printed can be pasted.
func word(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@%+=,", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
