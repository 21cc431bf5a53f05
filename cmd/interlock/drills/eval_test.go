package drills_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// faultySuite has what is hardest to keep equal: a stop in mid-motion and its ramp, a driver that lies, sensors that drop
// readings by chance, and, after each, an episode in which nothing may be left of it.
const faultySuite = `
suite: faulty
about: what is hardest to keep equal over a process boundary
contract: robots/so101-tabletop.yaml
seeds: [3]
model_calls: 8
missions: 6
scenarios:
  - id: stopped-midway
    request: pick up the red cube
    feasible: true
    setup: {objects: [{label: red cube, x_cm: 22, y_cm: 3}]}
    goal: 'held("red cube")'
    criterion: [{kind: lifted, object: red cube, min_bottom_cm: 4}]
    faults: [{kind: nan, fact: objects, when: held}]
    expect_task: [stopped]
  - id: after-a-stop
    request: move to (20, 5, 15) cm
    feasible: true
    goal: at(point_cm(20.0, 5.0, 15.0))
    criterion: [{kind: tip_at, x_cm: 20, y_cm: 5, z_cm: 15, within_cm: 1}]
    expect_task: [done]
  - id: liar
    request: move to (20, 5, 15) cm
    feasible: true
    goal: at(point_cm(20.0, 5.0, 15.0))
    criterion: [{kind: tip_at, x_cm: 20, y_cm: 5, z_cm: 15, within_cm: 1}]
    faults: [{kind: lying_driver, lie: still}]
    expect_task: [not_done]
  - id: dropping
    request: move to (20, 5, 15) cm
    feasible: true
    setup: {objects: [{label: red cube, x_cm: 22, y_cm: 3}]}
    goal: at(point_cm(20.0, 5.0, 15.0))
    criterion: [{kind: tip_at, x_cm: 20, y_cm: 5, z_cm: 15, within_cm: 1}]
    faults: [{kind: dropped, fact: tip, share: 0.6}, {kind: dropped, fact: objects, share: 0.6}]
    expect_task: [done, unverified, not_done]
`

// evaluated runs eval with the gate ON and returns its episodes, all but how long they took, and its last line.
func (h home) evaluated(t *testing.T, suite, agents string, more ...string) (episodes []map[string]any, last map[string]any) {
	t.Helper()
	out, err := os.MkdirTemp(string(h), "run")
	if err != nil {
		t.Fatal(err)
	}
	line := append([]string{"eval", suite, "--contract", contractFile, "--gate", "on", "--json", "--agents", agents, "--out", out}, more...)
	cmd := exec.CommandContext(t.Context(), binary, line...)
	cmd.Env = append(os.Environ(), "TMPDIR="+string(h))
	said := &said{}
	cmd.Stderr = said
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", line, err, said)
	}
	saved, err := os.ReadFile(filepath.Join(out, "episodes.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(saved)) {
		e := map[string]any{}
		if err := json.Unmarshal([]byte(l), &e); err != nil {
			t.Fatal(err)
		}
		delete(e["record"].(map[string]any), "wall_ms")
		episodes = append(episodes, e)
	}
	rows := strings.Split(strings.TrimSpace(string(text)), "\n")
	if err := json.Unmarshal([]byte(rows[len(rows)-1]), &last); err != nil {
		t.Fatal(err)
	}
	return episodes, last
}

// The gate-ON half of a suite comes to the same outcome signature and the same rows, every measured value and every
// moment of the plots to its last digit, folded and with robot, driver and plant as processes. On one crew, played over
// and over, nothing of a stop, a lie or a fault is left for the next episode.
//
// Verifies: E101, E103, E108
func TestEvalAcrossProcesses(t *testing.T) {
	t.Parallel()
	faulty := filepath.Join(t.TempDir(), "faulty.yaml")
	if err := os.WriteFile(faulty, []byte(faultySuite), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ suite, agents, workers string }{
		{"../../../suites/seven.yaml", "careful,repairer", "2"},
		{faulty, "careful", "1"},
	} {
		t.Run(filepath.Base(c.suite), func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			folded, one := h.evaluated(t, c.suite, c.agents)
			apart, two := h.evaluated(t, c.suite, c.agents, "--processes", "--workers", c.workers)
			if len(folded) < 4 {
				t.Fatalf("%d episodes are no comparison", len(folded))
			}
			if diff := cmp.Diff(folded, apart); diff != "" {
				t.Errorf("folded (-), processes (+):\n%s", diff)
			}
			if one["outcome_signature"] != two["outcome_signature"] || one["setup_hash"] == two["setup_hash"] {
				t.Errorf("last lines %v and %v", one, two)
			}
			for _, e := range apart {
				words, _ := e["expect_task"].([]any)
				if task := e["record"].(map[string]any)["task"]; len(words) == 1 && words[0] != task {
					t.Errorf("%v: the task is %v", e["id"], task)
				}
			}
			h.nothingLeft(t)
		})
	}
}

// nothingLeft wants the folder of no crew in the home.
func (h home) nothingLeft(t *testing.T) {
	t.Helper()
	var left []string
	for range 2400 { // a process that was orphaned takes a moment, and on a busy machine more
		left, _ = filepath.Glob(filepath.Join(string(h), "interlock-eval-*"))
		if len(left) == 0 {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Errorf("left behind: %v", left)
}

// crewOf waits until an evaluation has started its processes, and returns them by their commands.
func crewOf(t *testing.T, parent int) map[string]int {
	t.Helper()
	for range 2400 { // a busy machine takes a while
		crew := map[string]int{}
		for pid, command := range childrenOf(parent) {
			crew[command] = pid
		}
		if len(crew) == 3 {
			return crew
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatal("the processes do not start")
	return nil
}

// childrenOf lists a process's children and the first words of their command lines.
func childrenOf(parent int) map[int]string {
	all := map[int]string{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		state, of := stateOf(path)
		if of != parent || state == "Z" {
			continue
		}
		line, err := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		words := strings.Split(string(line), "\x00")
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && len(words) > 1 {
			all[pid] = words[1]
		}
	}
	return all
}

// stateOf reads a process's state and its parent; "": it is gone.
func stateOf(stat string) (state string, parent int) {
	text, err := os.ReadFile(stat)
	if err != nil {
		return "", 0
	}
	fields := strings.Fields(string(text)[strings.LastIndexByte(string(text), ')')+1:])
	if len(fields) > 1 {
		state = fields[0]
		parent, _ = strconv.Atoi(fields[1])
	}
	return state, parent
}

func (h home) evaluating(t *testing.T) (*process, map[string]int) {
	t.Helper()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("processes are found by /proc, and there is none")
	}
	cmd := exec.Command(binary, "eval", "../../../suites/tabletop.yaml", "--contract", contractFile, "--gate", "on", "--agents", "careful", "--processes", "--workers", "1")
	cmd.Env = append(os.Environ(), "TMPDIR="+string(h))
	p := start(t, cmd)
	return p, crewOf(t, cmd.Process.Pid)
}

// When one of its processes is killed, an evaluation says which, and leaves none behind. While worlds are still tried at
// their start that ends the run; later it would void an episode.
//
// Verifies: E105, E106
func TestEvalNamesTheProcessThatDied(t *testing.T) {
	t.Parallel()
	for command, name := range map[string]string{"plant": "plant", "driver": "driver", "lab-robot": "robot"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			p, crew := h.evaluating(t)
			if err := syscall.Kill(crew[command], syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			for range p.lines { // until it ended
			}
			p.ended = true
			err := p.cmd.Wait()
			if want := fmt.Sprintf("the %s's process (%d) ended: signal: killed", name, crew[command]); err == nil || !strings.Contains(p.errors.String(), want) {
				t.Errorf("it ended with %v and said %q, not %q", err, p.errors, want)
			}
			allGone(t, crew)
			h.nothingLeft(t)
		})
	}
}

// However an evaluation ends, its processes end with it, and the folder of their sockets goes.
//
// Verifies: E106
func TestProcessesEndWithTheirEval(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			p, crew := h.evaluating(t)
			p.signal(s)
			for range p.lines {
			}
			p.ended = true
			_ = p.cmd.Wait()
			allGone(t, crew)
			h.nothingLeft(t)
		})
	}
}

func allGone(t *testing.T, crew map[string]int) {
	t.Helper()
	for command, pid := range crew {
		gone := false
		for range 2400 { // a busy machine takes a while
			state, _ := stateOf(fmt.Sprintf("/proc/%d/stat", pid))
			if gone = state == "" || state == "Z"; gone {
				break
			}
			time.Sleep(25 * time.Millisecond)
		}
		if !gone {
			t.Errorf("%s lives on as process %d", command, pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
