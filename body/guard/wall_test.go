package guard_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"interlock/body"
	"interlock/body/guard"
)

// wallReaders are the calls that take from a time its wall clock, or make a time that has no other. What is left of a time
// without them is the monotonic clock: differences, timers and deadlines follow it, whatever a wall clock does.
var wallReaders = []string{
	"Unix", "UnixMilli", "UnixMicro", "UnixNano", "UTC", "Local", "Format", "AppendFormat", "Truncate", "Round", "AddDate",
	"YearDay", "Weekday", "Hour", "Minute", "time.Parse", "time.ParseInLocation", "time.Date",
}

// wallAllowed are the places in the rooms that decide and move which read the wall clock, and why that decides nothing.
var wallAllowed = map[string]string{
	"body/guard/lease.go UnixNano":    "first epoch; the latch file keeps epochs growing where the clock was set back",
	"body/plant/plant.go UnixNano":    "first epoch of a simulator",
	"robot/restart.go UnixMilli":      "first epoch; the record keeps epochs growing where the clock was set back",
	"robot/audit/log.go UnixMilli":    "what a record tells people",
	"robot/audit/writer.go UnixMilli": "what a record tells people",
}

// No deadline, expiry, lease or approval rests on the wall clock: outside of the places that are listed with their reason, no
// room that decides or moves reads it.
//
// Verifies: P08, F20, D29
func TestNoDecisionReadsTheWallClock(t *testing.T) {
	const root = "../.."
	files := token.NewFileSet()
	seen := map[string]bool{}
	for _, room := range []string{"units", "body", "robot", "transport"} {
		check(t, filepath.WalkDir(filepath.Join(root, room), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".pb.go") {
				return err
			}
			f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			name, _ := filepath.Rel(root, path)
			for _, reader := range wallReadersIn(f) {
				place := filepath.ToSlash(name) + " " + reader
				if seen[place] = true; wallAllowed[place] == "" {
					t.Errorf("%s reads the wall clock", place)
				}
			}
			return nil
		}))
	}
	for place := range wallAllowed {
		if !seen[place] {
			t.Errorf("%s does not read the wall clock, and is listed", place)
		}
	}
	f, err := parser.ParseFile(files, "x.go", "package x\nimport \"time\"\nvar late = time.Now().Round(0).After(time.Unix(0, 0))", 0)
	check(t, err)
	if got := wallReadersIn(f); !slices.Equal(got, []string{"Round", "Unix"}) {
		t.Errorf("of what reads the wall clock, %v is found", got)
	}
}

func wallReadersIn(f *ast.File) (found []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		s, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of := ""
		if x, ok := s.X.(*ast.Ident); ok {
			of = x.Name
		}
		if of != "math" && of != "os" && slices.Contains(wallReaders, s.Sel.Name) || slices.Contains(wallReaders, of+"."+s.Sel.Name) {
			found = append(found, s.Sel.Name)
		}
		return true
	})
	return found
}

// jumped is a time whose wall clock reads so much later, and whose monotonic clock reads the same.
func jumped(at time.Time, by time.Duration) time.Time {
	const nanoBits = 30 // of the first word of a time.Time: above them are the seconds of the wall clock
	*(*uint64)(unsafe.Pointer(&at)) += uint64(int64(by/time.Second)) << nanoBits
	return at
}

// The clock that the guard's loop reads goes on as it did when the wall clock is set an hour on, an hour back, to 1970 or to
// 2038: as many steps are due, and none is lost.
//
// Verifies: P08, F20, D29
func TestAWallClockThatJumpsMakesNoStep(t *testing.T) {
	start := time.Now()
	if by := jumped(start, time.Hour); by.Sub(start) != 0 || by.Unix()-start.Unix() != 3600 {
		t.Fatalf("the jump is one of %v, and of %d s of the wall clock", by.Sub(start), by.Unix()-start.Unix())
	}
	for _, by := range []time.Duration{time.Hour, -time.Hour, time.Unix(0, 0).Sub(start.Round(0)), time.Date(2038, 1, 19, 3, 14, 8, 0, time.UTC).Sub(start.Round(0)), time.Second} {
		p := body.Pace{Step: step, Most: 100 * time.Millisecond}
		p.Due(start)
		for i := range 10 {
			now := start.Add(time.Duration(i+1) * 4 * time.Millisecond)
			if i >= 5 {
				now = jumped(now, by)
			}
			if steps, lost := p.Due(now); steps != 2 || lost != 0 {
				t.Errorf("a jump by %v: look %d finds %d steps due and %v lost", by, i, steps, lost)
			}
		}
	}
}

// A wall clock that was set back, by an hour or to 1970, while no driver ran: the next process's epochs are larger all the
// same, so that no lease from before it is good.
//
// Verifies: P09, F20, D29
func TestEpochsGrowOverAClockThatWasSetBack(t *testing.T) {
	for _, ahead := range []time.Duration{0, time.Hour, 50 * 365 * 24 * time.Hour} {
		cfg, path := latched(t)
		cfg.Leased = true
		was := uint64(time.Now().Add(ahead).UnixNano()) // of a process whose clock was so far ahead
		check(t, os.WriteFile(path, fmt.Appendf(nil, `{"format":1,"epoch":%d}`, was), 0o600))
		for range 3 {
			g := guard.New(newPlant(), cfg)
			check(t, g.Open())
			epoch, err := g.Acquire("test")
			if check(t, err); epoch <= was {
				t.Errorf("epoch %d came after %d", epoch, was)
			}
			check(t, g.Close())
			was = epoch
		}
	}
}
