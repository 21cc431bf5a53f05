package main

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock/body/plant"
	"interlock/body/remote"
	"interlock/body/sim"
)

// Processes are for the gate ON, and a driver whose time is an evaluation's is asked for whole or not at all.
//
// Verifies: E104
func TestWhatCannotBeRunAsProcesses(t *testing.T) {
	for name, c := range map[string]struct {
		line []string
		says string
	}{
		"both gates":          {[]string{"eval", "suites/seven.yaml", "--processes"}, "--gate on"},
		"gate off":            {[]string{"eval", "suites/seven.yaml", "--processes", "--gate", "off"}, "--gate on"},
		"demo":                {[]string{"demo", "--processes"}, "--processes"},
		"plant-lab alone":     {[]string{"driver", "sim", "--contract", "robots/so101-tabletop.yaml", "--plant-lab", "unix:x"}, "--plant-lab"},
		"no lab of its own":   {[]string{"driver", "sim", "--contract", "robots/so101-tabletop.yaml", "--plant-lab", "unix:x", "--plant", "unix:y"}, "--plant-lab"},
		"a latch that lasts":  {[]string{"driver", "sim", "--contract", "robots/so101-tabletop.yaml", "--plant-lab", "unix:x", "--plant", "unix:y", "--lab-socket", "unix:z", "--latch-file", "l"}, "--latch-file"},
		"lab without plant's": {[]string{"driver", "sim", "--contract", "robots/so101-tabletop.yaml", "--plant", "unix:y", "--lab-socket", "unix:z"}, "--plant-lab"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, errOut := command(t, c.line...)
			if code != exitBadInput || !strings.Contains(errOut, c.says) {
				t.Errorf("exit %d, stderr %q; want 2 and %q", code, errOut, c.says)
			}
		})
	}
}

// What an evaluation's robot reaches of the lab is its next tick: no truth, no set-up, and nothing while no episode is
// played.
//
// Verifies: E107
func TestTheRobotGetsTimeAndNothingElse(t *testing.T) {
	addr := "unix:" + filepath.Join(t.TempDir(), "pace")
	l, err := remote.Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	p := &pacer{}
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() { _ = remote.Serve(ctx, l, remote.LabHandler(plant.Serve(p))) })
	defer func() { cancel(); serving.Wait() }()
	robot := plant.DialLab(addr)
	defer robot.Close()
	passed := time.Duration(0)
	p.set(func(by time.Duration) error { passed += by; return nil })
	if err := robot.Advance(20 * time.Millisecond); err != nil || passed != 20*time.Millisecond {
		t.Errorf("a tick: %v, %v passed", err, passed)
	}
	if truth, err := robot.Look(); err == nil {
		t.Errorf("the robot sees the truth: %v", truth)
	}
	if err := robot.SetUp(sim.DefaultConfig(), "", true); err == nil {
		t.Error("the robot sets up a world")
	}
	p.set(nil)
	if err := robot.Advance(20 * time.Millisecond); err == nil || passed != 20*time.Millisecond {
		t.Errorf("time passes between episodes: %v", err)
	}
}

// `interlock robot` knows no lab: no flag leads it to one, and none of its files opens a lab line.
//
// Verifies: E107
func TestNoRobotOpensALab(t *testing.T) {
	if flags := newRobot().Flags().FlagUsages(); regexp.MustCompile(`--\S*(lab|pace)`).MatchString(flags) || !strings.Contains(flags, "--driver") {
		t.Errorf("interlock robot has a flag for a lab, or none at all: %s", flags)
	}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	opened := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if id, is := n.(*ast.Ident); is && id.Name == "DialLab" {
				opened++
				if strings.HasPrefix(f.Name(), "robot") {
					t.Errorf("%s opens a lab line", f.Name())
				}
			}
			return true
		})
	}
	if opened == 0 {
		t.Error("nothing opens a lab line: this test looks in the wrong place")
	}
}
