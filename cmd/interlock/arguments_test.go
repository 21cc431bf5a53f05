package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// every lists all that a visitor is shown: flags, without naming their type, which is not ours.
func every[F any](visit func(func(F))) (list []F) {
	visit(func(f F) { list = append(list, f) })
	return list
}

// commands are all commands, those of the library and hidden ones included.
func commands() (list []*cobra.Command) {
	root := newRoot()
	strictCompletion(root)
	root.InitDefaultHelpCmd()
	below := []*cobra.Command{root}
	for len(below) > 0 {
		c := below[0]
		below = append(below[1:], c.Commands()...)
		list = append(list, c)
	}
	return list
}

// lineOf is a command's words without the program's.
func lineOf(c *cobra.Command) []string { return strings.Fields(c.CommandPath())[1:] }

// refusedAsInput fails unless the line exits with 2, says all of the parts, and leaks no word of the library.
func refusedAsInput(t *testing.T, line []string, says ...string) {
	t.Helper()
	code, out, errOut := command(t, line...)
	if code != exitBadInput || !strings.HasPrefix(errOut, "interlock: ") {
		t.Errorf("%q: exit %d, %q %q", line, code, out, errOut)
	}
	for _, part := range says {
		if !strings.Contains(errOut, part) {
			t.Errorf("%q: no %q in %q", line, part, errOut)
		}
	}
	for _, foreign := range []string{"strconv.", "arg(s)", "unknown command", "unknown flag", "unknown shorthand", "required flag", "invalid argument", "time: invalid", "parse error"} {
		if strings.Contains(errOut, foreign) {
			t.Errorf("%q: %q says %q", line, errOut, foreign)
		}
	}
}

// No command takes a flag that it does not have, a flag without its value or with a value of another kind, or one argument
// more than its usage names: it exits with 2, names the flag or the word, and says what is accepted.
//
// Verifies: U120
func TestEveryCommandRefusesWhatItDoesNotTake(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	said := map[string][]string{
		"bool": {"true or false"}, "int": {"a whole number"}, "uint64": {"a whole number from 0 on"}, "duration": {"500ms"}, "intSlice": {"whole numbers", "commas"},
	}
	tried := 0
	for _, c := range commands() {
		if c.Name() == cobra.ShellCompRequestCmd {
			continue
		}
		name := lineOf(c)
		refusedAsInput(t, append(name, "--no-such-flag"), "--no-such-flag", "--help")
		refusedAsInput(t, append(name, "-Q"), "-Q", "--help")
		refusedAsInput(t, append(name, "--=x"), "--=x")
		if many := append(name, "a", "b", "c", "one-too-many"); len(c.Commands()) == 0 && c.Name() != "bodytest" && c.Name() != "help" {
			refusedAsInput(t, many, "is too much")
		}
		for _, f := range every(c.Flags().VisitAll) {
			kind := f.Value.Type()
			if kind != "bool" {
				refusedAsInput(t, append(name, "--"+f.Name), "--"+f.Name, "its value is missing")
			}
			if kind == "string" || kind == "stringArray" || kind == "stringSlice" {
				continue
			}
			if said[kind] == nil {
				t.Errorf("%s --%s: a flag of the kind %q, which the test does not know", c.CommandPath(), f.Name, kind)
			}
			refusedAsInput(t, append(name, "--"+f.Name+"=maybe"), append(said[kind], "--"+f.Name, `"maybe"`)...)
			if kind == "int" || kind == "uint64" {
				refusedAsInput(t, append(name, "--"+f.Name+"=99999999999999999999"), "--"+f.Name, "can hold")
			}
			tried++
		}
	}
	if tried < 40 {
		t.Errorf("only %d flags were tried", tried)
	}
}

// wrongLines are command lines that are refused, each with what the refusal says. There are two robots, one and two.
const wrongLines = `approve  =>  ROBOT  |  one, two
approve --yes  =>  HASH is missing  |  6 to 64
approve --robot one 3f2  =>  HASH  |  6 to 64
approve one --robot two  =>  --robot  |  "two"
approve --person p  =>  --person  |  unix:PATH
audit shwo  =>  audit shwo  |  did you mean show
audit show  =>  record  |  CONTRACT
audit show nobody  =>  nobody  |  folder
audit show --kind dream  =>  --kind  |  intent
audit verify --checkpoint 12  =>  SEQ:HASH
bench x  =>  bench x
bench echo  =>  --dir is missing
bench flood  =>  --addr is missing
bench ik --n 0  =>  --n  |  1 to
bodytest  =>  --driver ADDR  |  --body ADDR
bodytest --body x  =>  --body  |  unix:PATH or HOST:PORT
bodytest --driver x  =>  --driver  |  unix:PATH or HOST:PORT
bodytest --body unix:b here  =>  here  |  --
call  =>  CALL is missing  |  standard input
cancel  =>  MISSION is missing  |  interlock missions
cancel m1  =>  ROBOT  |  one, two
cancel m1 three  =>  three  |  interlock robots
chat so101 --contract x  =>  --contract
chat --operator x  =>  --operator  |  ROBOT
chat one --operator x  =>  --operator  |  unix:PATH or HOST:PORT
chat --model x  =>  "x"  |  ollama:MODEL
chat --contract nowhere  =>  nowhere
check  =>  FILE is missing  |  contract
completion fish-and-chips  =>  completion fish-and-chips
describe  =>  ROBOT  |  one, two
describe a:b  =>  ROBOT  |  HOST:PORT
describe one --robot two  =>  --robot  |  "one"
describe 127.0.0.1:1 --token-file /no/x  =>  --token-file
driver  =>  NAME is missing  |  sim  |  remote
driver x --contract CONTRACT  =>  NAME  |  "x"  |  remote
driver sim  =>  --contract is missing  |  contract file
driver remote --contract CONTRACT  =>  --plant is missing
driver sim --contract nowhere  =>  nowhere
driver sim --listen x --contract CONTRACT  =>  --listen  |  unix:PATH or HOST:PORT
driver sim --listen 192.0.2.1:80 --contract CONTRACT  =>  --listen  |  loopback
driver sim --listen unix:/no/x --contract CONTRACT  =>  --listen  |  /no/x
driver sim --operator x --contract CONTRACT  =>  --operator  |  unix:PATH
driver sim --plant x --contract CONTRACT  =>  --plant  |  unix:PATH or HOST:PORT
driver sim --lab-socket unix: --contract CONTRACT  =>  --lab-socket  |  unix:PATH or HOST:PORT
driver sim --latch-file /no/such/file --contract CONTRACT  =>  --latch-file  |  /no/such/file
eval  =>  SUITE is missing  |  suites/moves.yaml
eval suites/moves.yaml --out /dev/null  =>  --out
demo --gate x  =>  --gate  |  on, off or both
events  =>  MISSION is missing  |  interlock missions
explain  =>  CALL is missing
help x  =>  "x"  |  --help
help audit x  =>  "audit x"
init a b  =>  "b"
init /no/such/folder/x.yaml  =>  FILE
missions  =>  ROBOT  |  one, two
missions three  =>  three
plant --listen x  =>  --listen  |  unix:PATH or HOST:PORT
plant --listen unix:/no/x  =>  --listen  |  /no/x
plant --lab-socket x  =>  --lab-socket  |  unix:PATH or HOST:PORT
plant --contract nowhere  =>  nowhere
read  =>  FILE  |  --corpus
replay  =>  DIR is missing  |  EPISODE is missing
replay a  =>  EPISODE is missing
report  =>  DIR is missing  |  --out
reset  =>  N is missing  |  number of the stop
reset x  =>  N:  |  "x"  |  number
reset -- -1  =>  N:  |  "-1"
reset 1 one --operator x  =>  --operator  |  unix:PATH or HOST:PORT
resolve  =>  TASK is missing  |  achieved|not_achieved is missing
resolve task-1  =>  achieved|not_achieved is missing
resolve task-1 perhaps  =>  achieved|not_achieved  |  "perhaps"
resolve task-1 achieved  =>  ROBOT  |  one, two
robot  =>  FILE is missing  |  contract
robot nowhere  =>  nowhere
robot CONTRACT --listen x  =>  --listen  |  unix:PATH or HOST:PORT
robot CONTRACT --driver x  =>  --driver  |  unix:PATH or HOST:PORT
robot CONTRACT --operator x  =>  --operator  |  unix:PATH or HOST:PORT
robot CONTRACT --plant x  =>  --plant  |  unix:PATH or HOST:PORT
robot CONTRACT --name A!  =>  --name  |  small letters
robot CONTRACT --caller A!  =>  --caller  |  small letters
robots three  =>  three
stop three  =>  NOT STOPPED  |  three
stop --operator x  =>  NOT STOPPED  |  --operator  |  unix:PATH or HOST:PORT
stop one --robot two  =>  NOT STOPPED  |  --robot
take  =>  ROBOT  |  one, two
take one --epoch 3  =>  --epoch  |  --release
take two  =>  --person unix:PATH`

// Whatever a command needs and does not get is named, with what may be given. The commands without a line here need
// nothing: each was run without arguments to see it.
//
// Verifies: U121
func TestEveryCommandNamesWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	enter(t, "one", "unix:"+filepath.Join(dir, "p"))
	enter(t, "two", "")
	for _, row := range strings.Split(strings.ReplaceAll(wrongLines, "CONTRACT", "robots/so101-tabletop.yaml"), "\n") {
		line, says, _ := strings.Cut(row, "  =>  ")
		refusedAsInput(t, strings.Fields(line), strings.Split(says, "  |  ")...)
	}
	refusedAsInput(t, []string{"cancel", ""}, "MISSION is missing")
	refusedAsInput(t, []string{"stop", "a b"}, "NOT STOPPED", "ROBOT", "HOST:PORT")
}

// What a command needs, by its usage, it refuses to be without.
//
// Verifies: U121
func TestNoCommandGoesWithoutWhatItsUsageNames(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	needs := 0
	for _, c := range commands() {
		for _, w := range strings.Fields(c.Use)[1:] {
			if strings.HasPrefix(w, "[") || strings.HasPrefix(w, "{") {
				break // optional from here on
			}
			refusedAsInput(t, lineOf(c), strings.Split(w, "|")[0])
			needs++
		}
	}
	if needs < 15 {
		t.Errorf("only %d arguments are needed by usage", needs)
	}
}

// Help and completion are there for every command, and go on working when asked for rightly.
//
// Verifies: U120
func TestHelpIsThereForEveryCommand(t *testing.T) {
	for _, c := range commands() {
		if c.Name() == cobra.ShellCompRequestCmd || !c.HasParent() {
			continue
		}
		for _, line := range [][]string{append([]string{"help"}, lineOf(c)...), append(lineOf(c), "--help")} {
			if code, out, errOut := command(t, line...); code != exitFine || !strings.Contains(out, "Usage:") || errOut != "" {
				t.Errorf("%q: exit %d, %q %q", line, code, out, errOut)
			}
		}
	}
	if code, out, _ := command(t, "completion", "bash"); code != exitFine || !strings.Contains(out, "__start_interlock") {
		t.Errorf("completion bash: exit %d, %d bytes", code, len(out))
	}
	if _, out, _ := command(t, "__complete", "help", "audit", ""); !strings.Contains(out, "show\t") || !strings.Contains(out, "verify\t") {
		t.Errorf("help completes %q", out)
	}
}

// A printed word comes back from a shell as it was.
//
// Verifies: U124
func TestPrintedWordsSurviveAShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	for _, text := range []string{"so101", "unix:/run/user/0/a b.sock", "it's", `a"b`, "$HOME", "`id`", "*", "a;b", "", "~", "é", "#x", "a\\b", "!x"} {
		out, err := exec.CommandContext(context.Background(), sh, "-c", "printf %s "+word(text)).Output()
		if err != nil || string(out) != text {
			t.Errorf("%q is printed as %s, and comes back as %q, %v", text, word(text), out, err)
		}
	}
}
