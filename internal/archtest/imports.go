package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// CheckImports holds every file to the import table.
func CheckImports(t *Tree) (found []Finding) {
	unknown := map[string]bool{}
	for _, f := range t.Files {
		if f.Test && !anyMatches(bound, f.Room) {
			continue
		}
		line := lineOf(f.Room)
		if line == nil {
			if !unknown[f.Room] {
				found = append(found, Finding{f.Room, "is no room of the import table", "a new room starts with a line in internal/archtest/rules.go that says what it may import and why"})
			}
			unknown[f.Room] = true
			continue
		}
		allowed := closure(line.name)
		for _, i := range f.AST.Imports {
			target, ours := ownRoom(importPath(i))
			if ours && target != f.Room && !permits(allowed, target) && !(f.Test && testPermits(f.Room, target)) {
				found = append(found, Finding{t.at(i), fmt.Sprintf("%s may not import %s", f.Room, target), line.why})
			}
		}
	}
	return found
}

// ownRoom returns the room of an import path of this module.
func ownRoom(path string) (string, bool) { return strings.CutPrefix(path, module+"/") }

// lineOf finds the table's line for a room: an exact one before one that ends in "/*".
func lineOf(name string) *room {
	var below *room
	for i := range rooms {
		if rooms[i].name == name {
			return &rooms[i]
		}
		if below == nil && matches(rooms[i].name, name) {
			below = &rooms[i]
		}
	}
	return below
}

// closure is every room, or pattern, that the line of this name may import, directly or through what it may import.
func closure(name string) map[string]bool {
	all := map[string]bool{}
	var visit func(string)
	visit = func(n string) {
		line := lineOf(n)
		if line == nil {
			return
		}
		for _, m := range line.may {
			if !all[m] {
				all[m] = true
				visit(m)
			}
		}
	}
	visit(name)
	return all
}

func permits(allowed map[string]bool, target string) bool {
	if allowed[everything] {
		return !strings.HasPrefix(target, "cmd/")
	}
	return allowed[target]
}

// testPermits reports whether a bound room's tests may import the target though its code may not.
func testPermits(name, target string) bool {
	for pattern, may := range boundTestsMay {
		if matches(pattern, name) && anyMatches(may, target) {
			return true
		}
	}
	return false
}

// CheckDependencies holds every file to the table of third-party code.
func CheckDependencies(t *Tree) (found []Finding) {
	for _, f := range t.Files {
		for _, i := range f.AST.Imports {
			path := importPath(i)
			if _, ours := ownRoom(path); ours || standard(path) || f.Test && belowAny(testDependencies, path) {
				continue
			}
			d := dependencyOf(path)
			switch {
			case d == nil:
				found = append(found, Finding{t.at(i), path + " is no chosen part", "third-party code is chosen once, in internal/archtest/rules.go and go.mod, with a reason"})
			case !anyMatches(d.rooms, f.Room):
				found = append(found, Finding{t.at(i), fmt.Sprintf("%s may not import %s", f.Room, path), d.why})
			}
		}
	}
	return found
}

// standard reports whether a path is of the standard library: its first part has no dot. cgo's "C" is not.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".") && path != "C"
}

func belowAny(roots []string, path string) bool {
	return slices.ContainsFunc(roots, func(r string) bool { return path == r || strings.HasPrefix(path, r+"/") })
}

func dependencyOf(path string) (best *dependency) {
	for i := range dependencies {
		d := &dependencies[i]
		if belowAny([]string{d.path}, path) && (best == nil || len(d.path) > len(best.path)) {
			best = d
		}
	}
	return best
}

// CheckOracle holds judge and verifier apart: what both reach is units, and reject, which body's driver interface
// brings along and the judge itself may not import.
func CheckOracle(t *Tree) (found []Finding) {
	const judge, verifier = "eval/judge", "robot/verify"
	const why = "a judge that shares code with the verifier shares its mistakes"
	direct := imported(t)
	verifies := reach(direct, verifier)
	for _, r := range slices.Sorted(maps.Keys(reach(direct, judge))) {
		if verifies[r] && r != "units" && r != "reject" || r == verifier {
			found = append(found, Finding{judge, "shares " + r + " with " + verifier, why})
		}
	}
	if direct[judge]["reject"] {
		found = append(found, Finding{judge, "imports reject", why})
	}
	return found
}

// imported is who imports whom in the code as it stands, tests apart.
func imported(t *Tree) map[string]map[string]bool {
	direct := map[string]map[string]bool{}
	for _, f := range t.Files {
		if f.Test {
			continue
		}
		if direct[f.Room] == nil {
			direct[f.Room] = map[string]bool{}
		}
		for _, i := range f.AST.Imports {
			if r, ours := ownRoom(importPath(i)); ours {
				direct[f.Room][r] = true
			}
		}
	}
	return direct
}

func reach(direct map[string]map[string]bool, from string) map[string]bool {
	all := map[string]bool{}
	var visit func(string)
	visit = func(n string) {
		for m := range direct[n] {
			if !all[m] {
				all[m] = true
				visit(m)
			}
		}
	}
	visit(from)
	return all
}

// CheckGuarded keeps names that only some rooms may use.
func CheckGuarded(t *Tree) (found []Finding) {
	for _, f := range t.Files {
		for _, g := range guardedNames {
			if f.Room == g.room || anyMatches(g.users, f.Room) || f.Test && !g.testsToo && !anyMatches(bound, f.Room) {
				continue
			}
			for n := range f.uses(module+"/"+g.room, g.name) {
				found = append(found, Finding{t.at(n), fmt.Sprintf("%s uses %s.%s", f.Room, g.room, g.name), g.why})
			}
		}
	}
	return append(found, checkOffStaysUnused(t)...)
}

// checkOffStaysUnused: inside its own package the constructor needs no qualifier, and a wrapper would hand it on.
func checkOffStaysUnused(t *Tree) (found []Finding) {
	for _, f := range t.Files {
		if f.Room != "robot/gate" || f.Test {
			continue
		}
		declared := map[*ast.Ident]bool{}
		for _, d := range f.AST.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				declared[fn.Name] = true
			}
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Name == "Off" && !declared[id] {
				found = append(found, Finding{t.at(id), "robot/gate uses its own Off", "a wrapper would hand the gate without checks to other rooms"})
			}
			return true
		})
	}
	return found
}

// uses yields every place where the file names path's exported name.
func (f *File) uses(path, name string) func(yield func(ast.Node) bool) {
	return func(yield func(ast.Node) bool) {
		done := false
		ast.Inspect(f.AST, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if ok && !done && s.Sel.Name == name && f.qualifies(s, path) {
				done = !yield(s)
			}
			return !done
		})
	}
}

// qualifies reports whether a selector's left side is the package of this path.
func (f *File) qualifies(s *ast.SelectorExpr, path string) bool {
	id, ok := s.X.(*ast.Ident)
	return ok && f.names[id.Name] == path
}
