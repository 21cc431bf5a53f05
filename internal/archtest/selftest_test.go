package archtest

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// broken is a small tree that breaks a rule (or does not), and what the check must find in it.
type broken struct {
	name  string
	files map[string]string
	want  []string // the places, in order
}

// judge runs the check on each tree and compares where it found something.
func judge(t *testing.T, check func(*Tree) []Finding, cases []broken) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			root := fstest.MapFS{".gitignore": {Data: []byte("/bin/\n")}}
			for p, src := range c.files {
				root[p] = &fstest.MapFile{Data: []byte(src)}
			}
			tree, err := Load(root)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range check(tree) {
				if f.What == "" || f.Why == "" {
					t.Errorf("finding without words or reason: %+v", f)
				}
				got = append(got, f.Where)
			}
			if strings.Join(got, " ") != strings.Join(c.want, " ") {
				t.Errorf("found at %q, want %q", got, c.want)
			}
		})
	}
}

// file is a tree of one file.
func file(path, src string) map[string]string { return map[string]string{path: src} }

func TestImportsFindsBreaches(t *testing.T) {
	judge(t, CheckImports, []broken{
		{"allowed", file("world/a.go", "package world\nimport (\n\"interlock/units\"\n\"fmt\"\n)\n"), nil},
		{"allowed through another", file("robot/gate/a.go", "package gate\nimport \"interlock/units\"\n"), nil},
		{"upwards", file("units/a.go", "package units\nimport \"interlock/world\"\n"), []string{"units/a.go:2"}},
		{"brain to robot", file("brain/agent/a.go", "package agent\nimport \"interlock/robot\"\n"), []string{"brain/agent/a.go:2"}},
		{"brain to contract", file("brain/tool/a.go", "package tool\nimport \"interlock/contract\"\n"), []string{"brain/tool/a.go:2"}},
		{"test of a brain to body", file("brain/agent/a_test.go", "package agent_test\nimport \"interlock/body/sim\"\n"), []string{"brain/agent/a_test.go:2"}},
		{"test below a brain to robot", file("brain/llm/scripted/a_test.go", "package scripted\nimport \"interlock/robot\"\n"), []string{"brain/llm/scripted/a_test.go:2"}},
		{"test of an agent to a provider", file("brain/agent/a_test.go", "package agent_test\nimport (\n\"interlock/brain/llm/scripted\"\n\"interlock/internal/golden\"\n)\n"), nil},
		{"an agent to a provider", file("brain/agent/a.go", "package agent\nimport \"interlock/brain/llm/scripted\"\n"), []string{"brain/agent/a.go:2"}},
		{"test of the judge to verify", file("eval/judge/a_test.go", "package judge_test\nimport \"interlock/robot/verify\"\n"), []string{"eval/judge/a_test.go:2"}},
		{"test elsewhere builds what it needs", file("robot/a_test.go", "package robot_test\nimport \"interlock/body/sim\"\n"), nil},
		{"robot to a driver", file("robot/a.go", "package robot\nimport \"interlock/body/sim\"\n"), []string{"robot/a.go:2"}},
		{"sibling drivers", file("body/sim/a.go", "package sim\nimport \"interlock/body/guard\"\n"), []string{"body/sim/a.go:2"}},
		{"sibling providers", file("brain/llm/ollama/a.go", "package ollama\nimport \"interlock/brain/llm/openai\"\n"), []string{"brain/llm/ollama/a.go:2"}},
		{"an exact line wins", file("body/remote/a.go", "package remote\nimport \"interlock/world\"\n"), []string{"body/remote/a.go:2"}},
		{"the lab may all", file("eval/lab/a.go", "package lab\nimport \"interlock/body/sim\"\n"), nil},
		{"but no command", file("eval/lab/a.go", "package lab\nimport \"interlock/cmd/interlock\"\n"), []string{"eval/lab/a.go:2"}},
		{"a room without a line", file("misc/a.go", "package misc\n"), []string{"misc"}},
		{"behind a build tag", file("body/sim/a.go", "//go:build never\n\npackage sim\nimport \"interlock/robot\"\n"), []string{"body/sim/a.go:4"}},
	})
}

func TestDependenciesFindsBreaches(t *testing.T) {
	judge(t, CheckDependencies, []broken{
		{"at home", file("contract/rule/a.go", "package rule\nimport \"cel.dev/cel-go/cel\"\n"), nil},
		{"elsewhere", file("robot/gate/a.go", "package gate\nimport \"cel.dev/cel-go/cel\"\n"), []string{"robot/gate/a.go:2"}},
		{"in a test elsewhere", file("robot/gate/a_test.go", "package gate\nimport \"cel.dev/cel-go/cel\"\n"), []string{"robot/gate/a_test.go:2"}},
		{"never chosen", file("eval/a.go", "package eval\nimport \"example.com/nice\"\n"), []string{"eval/a.go:2"}},
		{"never chosen, in a test", file("eval/a_test.go", "package eval\nimport \"example.com/nice\"\n"), []string{"eval/a_test.go:2"}},
		{"a test module in a test", file("units/a_test.go", "package units\nimport \"pgregory.net/rapid\"\n"), nil},
		{"a test module in code", file("units/a.go", "package units\nimport \"pgregory.net/rapid\"\n"), []string{"units/a.go:2"}},
		{"a longer path decides", file("robot/a.go", "package robot\nimport \"google.golang.org/protobuf/proto\"\n"), nil},
		{"a shorter one refuses", file("robot/a.go", "package robot\nimport \"google.golang.org/protobuf/encoding/protojson\"\n"), []string{"robot/a.go:2"}},
		{"a name that only begins alike", file("contract/a.go", "package contract\nimport \"cel.dev/cel-gone\"\n"), []string{"contract/a.go:2"}},
		{"cgo", file("body/sim/a.go", "package sim\nimport \"C\"\n"), []string{"body/sim/a.go:2"}},
	})
}

func TestOracleFindsBreaches(t *testing.T) {
	verify := "package verify\nimport (\n\"interlock/contract\"\n\"interlock/units\"\n)\n"
	contract := "package contract\nimport (\n\"interlock/reject\"\n\"interlock/world\"\n)\n"
	judge(t, CheckOracle, []broken{
		{"apart", map[string]string{
			"robot/verify/a.go": verify, "contract/a.go": contract, "body/a.go": "package body\nimport \"interlock/reject\"\n",
			"eval/judge/a.go": "package judge\nimport (\n\"interlock/body\"\n\"interlock/units\"\n)\n",
		}, nil},
		{"shared at second hand", map[string]string{
			"robot/verify/a.go": verify, "contract/a.go": contract, "body/a.go": "package body\nimport \"interlock/world\"\n",
			"eval/judge/a.go": "package judge\nimport \"interlock/body\"\n",
		}, []string{"eval/judge"}},
		{"the verifier itself", map[string]string{"robot/verify/a.go": verify, "eval/judge/a.go": "package judge\nimport \"interlock/robot/verify\"\n"}, []string{"eval/judge", "eval/judge"}},
		{"reject at first hand", file("eval/judge/a.go", "package judge\nimport \"interlock/reject\"\n"), []string{"eval/judge"}},
	})
}

func TestGuardedFindsBreaches(t *testing.T) {
	const off = "package p\nimport \"interlock/robot/gate\"\nvar g = gate.Off\n"
	const truth = "package p\nimport b \"interlock/body\"\nvar t b.Truth\n"
	judge(t, CheckGuarded, []broken{
		{"the lab switches the gate off", file("eval/lab/a.go", off), nil},
		{"a command does", file("cmd/interlock/a.go", off), []string{"cmd/interlock/a.go:3"}},
		{"a test of the robot does", file("robot/a_test.go", off), []string{"robot/a_test.go:3"}},
		{"under another name", file("robot/a.go", "package robot\nimport g \"interlock/robot/gate\"\nvar x = g.Off\n"), []string{"robot/a.go:3"}},
		{"something else of this name", file("robot/a.go", "package robot\nimport \"interlock/robot/skill\"\nvar x = skill.Off\n"), nil},
		{"the gate declares it", file("robot/gate/a.go", "package gate\nfunc Off() {}\n"), nil},
		{"the gate wraps it", file("robot/gate/a.go", "package gate\nfunc Off() {}\nfunc Test() { Off() }\n"), []string{"robot/gate/a.go:3"}},
		{"the judge reads truth", file("eval/judge/a.go", truth), nil},
		{"a driver offers it", file("body/sim/a.go", truth), nil},
		{"the robot reads it", file("robot/a.go", truth), []string{"robot/a.go:3"}},
		{"a test of the robot reads it", file("robot/a_test.go", truth), nil},
		{"a test of a brain reads it", file("brain/agent/a_test.go", truth), []string{"brain/agent/a_test.go:3"}},
	})
}

func TestDocsFindsBreaches(t *testing.T) {
	judge(t, CheckDocs, []broken{
		{"one", map[string]string{"arm/a.go": "// Package arm bends.\npackage arm\n", "arm/b.go": "package arm\n"}, nil},
		{"none", file("arm/a.go", "package arm\n"), []string{"arm"}},
		{"a detached one", file("arm/a.go", "// Package arm bends.\n\npackage arm\n"), []string{"arm"}},
		{"two", map[string]string{"arm/a.go": "// Package arm bends.\npackage arm\n", "arm/b.go": "// Package arm turns.\npackage arm\n"}, []string{"arm"}},
		{"another's name", file("arm/a.go", "// Package army bends.\npackage arm\n"), []string{"arm/a.go"}},
		{"a program", file("cmd/x/a.go", "// Command x runs.\npackage main\n"), nil},
		{"tests need none", file("arm/a_test.go", "package arm_test\n"), nil},
	})
}

func TestSizesFindsBreaches(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("//\n", n) }
	body := func(n int) string { return "func f() {\n" + lines(n-2) + "}\n" }
	core := map[string]string{}
	for i := range 9 {
		core[fmt.Sprintf("units/a%d.go", i)] = "package units\n" + lines(450)
	}
	judge(t, CheckSizes, []broken{
		{"a function of 70 lines", file("arm/a.go", "package arm\n"+body(70)), nil},
		{"one of 71", file("arm/a.go", "package arm\n"+body(71)), []string{"arm/a.go:2"}},
		{"a literal of 71", file("arm/a.go", "package arm\nvar g = "+strings.Replace(body(71), "f()", "()", 1)), []string{"arm/a.go:2"}},
		{"a file of 500 lines", file("arm/a.go", "package arm\n"+lines(499)), nil},
		{"one of 501", file("arm/a.go", "package arm\n"+lines(500)), []string{"arm/a.go"}},
		{"a test file of 800", file("arm/a_test.go", "package arm\n"+lines(799)), nil},
		{"one of 801", file("arm/a_test.go", "package arm\n"+lines(800)), []string{"arm/a_test.go"}},
		{"generated code", file("arm/a.go", "// Code generated by gen. DO NOT EDIT.\n\npackage arm\n"+lines(2000)+body(100)), nil},
		{"the core in all", core, []string{"the pure core"}},
	})
}

func TestPureFindsBreaches(t *testing.T) {
	in := func(imports, body string) string {
		return "package p\nimport (" + imports + ")\nfunc f() {\n" + body + "\n}\n"
	}
	judge(t, CheckPure, []broken{
		{"a duration is no clock", file("robot/mission/a.go", in(`"time"`, "_ = time.Second")), nil},
		{"now", file("robot/mission/a.go", in(`"time"`, "_ = time.Now()")), []string{"robot/mission/a.go:4"}},
		{"now under another name", file("robot/mission/a.go", in(`t "time"`, "_ = t.Now()")), []string{"robot/mission/a.go:4"}},
		{"now as a value", file("arm/a.go", "package arm\nimport \"time\"\nvar clock = time.Now\n"), []string{"arm/a.go:3"}},
		{"a ticker", file("robot/verify/a.go", in(`"time"`, "_ = time.NewTicker(1)")), []string{"robot/verify/a.go:4"}},
		{"a goroutine", file("robot/goal/a.go", in("", "go f()")), []string{"robot/goal/a.go:4"}},
		{"the system", file("world/a.go", "package world\nimport \"os\"\n"), []string{"world/a.go:2"}},
		{"the net below", file("world/a.go", "package world\nimport \"net/http\"\n"), []string{"world/a.go:2"}},
		{"chance", file("units/a.go", "package units\nimport \"math/rand/v2\"\n"), []string{"units/a.go:2"}},
		{"printing", file("units/a.go", in(`"fmt"`, "fmt.Println()")), []string{"units/a.go:4"}},
		{"words are no printing", file("units/a.go", in(`"fmt"`, "_ = fmt.Sprint()")), nil},
		{"the contract loads its file", file("contract/a.go", "package contract\nimport \"os\"\nfunc LoadFile() { os.ReadFile(``) }\n"), nil},
		{"and does nothing else there", file("contract/a.go", "package contract\nimport \"os\"\nfunc LoadFile() { os.Getenv(``) }\n"), []string{"contract/a.go:3"}},
		{"nor reads elsewhere", file("contract/a.go", "package contract\nimport \"os\"\nfunc Load() { os.ReadFile(``) }\n"), []string{"contract/a.go:3"}},
		{"a generator beside it is no pure room", file("reject/gen/a.go", "package main\nimport \"os\"\n"), nil},
		{"tests may", file("units/a_test.go", in(`"time"`, "_ = time.Now()")), nil},
		{"the shell may", file("robot/a.go", in(`"time"`, "go f(); _ = time.Now()")), nil},
	})
}

func TestHiddenWorkFindsBreaches(t *testing.T) {
	judge(t, CheckHiddenWork, []broken{
		{"init", file("arm/a.go", "package arm\nfunc init() {}\n"), []string{"arm/a.go:2"}},
		{"init in a test", file("arm/a_test.go", "package arm\nfunc init() {}\n"), []string{"arm/a_test.go:2"}},
		{"a method of this name", file("arm/a.go", "package arm\ntype t int\nfunc (t) init() {}\n"), nil},
		{"blank", file("arm/a.go", "package arm\nimport _ \"image/png\"\n"), []string{"arm/a.go:2"}},
		{"blank in a test", file("arm/a_test.go", "package arm\nimport _ \"image/png\"\n"), nil},
		{"embedding", file("cmd/x/a.go", "package main\nimport _ \"embed\"\n"), nil},
		{"a dot", file("arm/a.go", "package arm\nimport . \"math\"\n"), []string{"arm/a.go:2"}},
		{"generated code", file("arm/a.go", "// Code generated by gen. DO NOT EDIT.\n\npackage arm\nfunc init() {}\n"), nil},
	})
}

func TestPromisesFindsBreaches(t *testing.T) {
	table := func(ids ...string) string {
		s := "| id | promise |\n|---|---|\n"
		for _, id := range ids {
			s += "| " + id + " | words |\n"
		}
		return s
	}
	tests := func(comment string) string { return "package arm\n\n// " + comment + "\nfunc TestX() {}\n" }
	judge(t, CheckPromises, []broken{
		{"kept", map[string]string{requirements: table("P13", "M01"), "arm/a_test.go": tests("Verifies: P13, M01")}, nil},
		{"no test", map[string]string{requirements: table("P13", "P14"), "arm/a_test.go": tests("Verifies: P13")}, []string{requirements + ":4"}},
		{"no promise", map[string]string{requirements: table("P13"), "arm/a_test.go": tests("Verifies: P13 P99")}, []string{"arm/a_test.go:3"}},
		{"only in code", map[string]string{requirements: table("P13"), "arm/a.go": tests("Verifies: P13")}, []string{requirements + ":3"}},
		{"only in a text", map[string]string{requirements: table("P13"), "arm/a_test.go": tests("It verifies: P13")}, []string{requirements + ":3"}},
		{"twice", map[string]string{requirements: table("P13", "P13"), "arm/a_test.go": tests("Verifies: P13")}, []string{requirements + ":4"}},
		{"words for an id", map[string]string{requirements: table("P13"), "arm/a_test.go": tests("Verifies: P13 truly")}, []string{"arm/a_test.go:3"}},
		{"no table", file("arm/a_test.go", "package arm\n"), []string{requirements}},
	})
}

func TestTextsFindsBreaches(t *testing.T) {
	cases := []broken{
		{"clean", file("README.md", "go run ./cmd/interlock demo\n"), nil},
		{"not text", file("robots/mesh.bin", "\x00"+forbiddenText[0].text), nil},
		{"ignored", file("bin/tool.txt", forbiddenText[0].text), nil},
		{"hidden", file(".ci/run", "cd "+forbiddenText[0].text), []string{".ci/run:1"}},
	}
	for _, bad := range forbiddenText {
		cases = append(cases, broken{bad.text, file("docs/a.md", "words\nsee "+bad.text+"x\n"), []string{"docs/a.md:2"}})
	}
	judge(t, CheckTexts, cases)
}
