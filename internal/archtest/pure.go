package archtest

import (
	"go/ast"
	"slices"
)

// CheckPure keeps clock, goroutines, I/O and randomness out of the pure rooms.
func CheckPure(t *Tree) (found []Finding) {
	for _, f := range t.Files {
		if f.Test || !slices.Contains(pure, f.Room) {
			continue
		}
		for _, i := range f.AST.Imports {
			if p := importPath(i); anyMatches(pureImports, p) && !granted(f.Room, p) {
				found = append(found, Finding{t.at(i), f.Room + " imports " + p, pureWhy})
			}
		}
		for _, d := range f.AST.Decls {
			found = append(found, checkPureDecl(t, f, d)...)
		}
	}
	return found
}

// granted reports whether some function of the room may use the package.
func granted(room, path string) bool {
	return slices.ContainsFunc(grants, func(g grant) bool { return g.room == room && g.path == path })
}

func checkPureDecl(t *Tree, f *File, d ast.Decl) (found []Finding) {
	function := ""
	if fn, ok := d.(*ast.FuncDecl); ok {
		function = fn.Name.Name
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, Finding{t.at(n), f.Room + " starts a goroutine", pureWhy})
		case *ast.SelectorExpr:
			id, ok := n.X.(*ast.Ident)
			if !ok {
				break
			}
			path := f.names[id.Name]
			if impure(path, n.Sel.Name) && !slices.ContainsFunc(grants, func(g grant) bool {
				return g.room == f.Room && g.function == function && g.path == path && g.name == n.Sel.Name
			}) {
				found = append(found, Finding{t.at(n), f.Room + " uses " + path + "." + n.Sel.Name, pureWhy})
			}
		}
		return true
	})
	return found
}

// impure reports whether a name of a package is clock, sleep or I/O. Of a package granted to one function, all is.
func impure(path, name string) bool {
	return slices.Contains(pureCalls[path], name) || anyMatches(pureImports, path)
}
