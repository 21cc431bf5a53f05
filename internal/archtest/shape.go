package archtest

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// CheckDocs asks for exactly one package comment in each package, of the usual form.
func CheckDocs(t *Tree) (found []Finding) {
	const why = "a package's comment says what it is for and what it must never do; two of them would disagree"
	docs, seen := map[string][]string{}, []string{}
	for _, f := range t.Files {
		if f.Test || f.Generated {
			continue
		}
		if !slices.Contains(seen, f.Room) {
			seen = append(seen, f.Room)
		}
		if f.AST.Doc == nil {
			continue
		}
		docs[f.Room] = append(docs[f.Room], f.Path)
		text := f.AST.Doc.Text()
		if !strings.HasPrefix(text, "Package "+f.Package+" ") && (f.Package != "main" || !strings.HasPrefix(text, "Command ")) {
			found = append(found, Finding{f.Path, `the package comment starts neither with "Package ` + f.Package + `" nor, for a program, with "Command"`, why})
		}
	}
	for _, r := range seen {
		switch n := len(docs[r]); {
		case n == 0:
			found = append(found, Finding{r, "has no package comment", why})
		case n > 1:
			found = append(found, Finding{r, "has package comments in " + strings.Join(docs[r], " and "), why})
		}
	}
	return found
}

// CheckSizes bounds functions, files and whole rooms. Generated files are left out.
func CheckSizes(t *Tree) (found []Finding) {
	for _, f := range t.Files {
		if f.Generated {
			continue
		}
		limit := maxFile
		if f.Test {
			limit = maxTestFile
		}
		if f.Lines > limit {
			found = append(found, Finding{f.Path, fmt.Sprintf("has %d lines, more than %d", f.Lines, limit), sizeWhy})
		}
		found = append(found, checkFunctions(t, f)...)
	}
	for _, b := range budgets {
		if n := linesOf(t, b.rooms); n > b.lines {
			found = append(found, Finding{b.name, fmt.Sprintf("has %d lines, more than %d", n, b.lines), b.why})
		}
	}
	return found
}

func checkFunctions(t *Tree, f *File) (found []Finding) {
	ast.Inspect(f.AST, func(n ast.Node) bool {
		name := "a function literal"
		switch n := n.(type) {
		case *ast.FuncDecl:
			name = n.Name.Name
		case *ast.FuncLit:
		default:
			return true
		}
		if lines := t.span(n); lines > maxFunction {
			found = append(found, Finding{t.at(n), fmt.Sprintf("%s has %d lines, more than %d", name, lines, maxFunction), sizeWhy})
			return false // what lies inside is the same finding
		}
		return true
	})
	return found
}

// linesOf counts the code of rooms, tests and generated files apart.
func linesOf(t *Tree, rooms []string) (n int) {
	for _, f := range t.Files {
		if !f.Test && !f.Generated && slices.Contains(rooms, f.Room) {
			n += f.Lines
		}
	}
	return n
}

// CheckHiddenWork refuses what runs, or binds names, without being called: init functions, blank and dot imports.
func CheckHiddenWork(t *Tree) (found []Finding) {
	for _, f := range t.Files {
		if f.Generated {
			continue
		}
		for _, d := range f.AST.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				found = append(found, Finding{t.at(fn), "declares init", "registries are explicit lists; nothing runs because it was imported"})
			}
		}
		for _, i := range f.AST.Imports {
			switch local := localName(i); {
			case local == "." && !f.Test:
				found = append(found, Finding{t.at(i), "imports " + importPath(i) + " with a dot", "a name must show where it comes from; these rules read names"})
			case local == "_" && !f.Test && importPath(i) != "embed":
				found = append(found, Finding{t.at(i), "imports " + importPath(i) + " only for its effects", "registries are explicit lists; nothing runs because it was imported"})
			}
		}
	}
	return found
}
