package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Tree is the repository as the checks see it.
type Tree struct {
	Files []*File           // every Go file, in path order
	Texts map[string][]byte // every text file by path, Go files included
	fset  *token.FileSet
}

// File is one parsed Go file.
type File struct {
	Path      string // slash-separated, from the root
	Room      string // the directory: "robot/gate"
	Package   string // the package clause's name
	Test      bool   // its name ends in _test.go
	Generated bool
	Lines     int
	AST       *ast.File
	names     map[string]string // local name of an import → its path
}

// Finding is one broken rule, at a place, with the rule's reason.
type Finding struct {
	Where string // path or path:line
	What  string
	Why   string
}

func (f Finding) String() string { return f.Where + ": " + f.What + " (" + f.Why + ")" }

// Load reads the tree below root. It leaves out what git keeps apart: .git, and the folders that .gitignore names by a
// line of the form "/name/".
func Load(root fs.FS) (*Tree, error) {
	t := &Tree{Texts: map[string][]byte{}, fset: token.NewFileSet()}
	skip, err := ignoredFolders(root)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skip[p]:
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		src, err := fs.ReadFile(root, p)
		if err != nil {
			return err
		}
		return t.add(p, src)
	})
	return t, err
}

func ignoredFolders(root fs.FS) (map[string]bool, error) {
	skip := map[string]bool{".git": true}
	src, err := fs.ReadFile(root, ".gitignore")
	if err != nil {
		return nil, fmt.Errorf("archtest: the root holds no .gitignore: %w", err)
	}
	for l := range strings.Lines(string(src)) {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "/") && strings.HasSuffix(l, "/") {
			skip[strings.Trim(l, "/")] = true
		}
	}
	return skip, nil
}

// add keeps a text file, and parses it if it is Go that the go command would see.
func (t *Tree) add(p string, src []byte) error {
	if bytes.IndexByte(src, 0) >= 0 {
		return nil // not text
	}
	t.Texts[p] = src
	if path.Ext(p) != ".go" || strings.Contains("/"+p, "/testdata/") || strings.Contains("/"+p, "/_") || strings.Contains("/"+p, "/.") {
		return nil
	}
	syntax, err := parser.ParseFile(t.fset, p, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	f := &File{
		Path: p, Room: path.Dir(p), Package: syntax.Name.Name, Test: strings.HasSuffix(p, "_test.go"),
		Generated: ast.IsGenerated(syntax), Lines: bytes.Count(src, []byte("\n")), AST: syntax, names: map[string]string{},
	}
	for _, i := range syntax.Imports {
		f.names[localName(i)] = importPath(i)
	}
	t.Files = append(t.Files, f)
	return nil
}

func importPath(i *ast.ImportSpec) string {
	p, err := strconv.Unquote(i.Path.Value)
	if err != nil {
		return i.Path.Value // the parser lets no such literal through
	}
	return p
}

// localName is the name an import is used by. Without types it is a guess for packages whose name is not the last part
// of their path; ours and the standard library's, which the rules ask for, are all so or carry a version.
func localName(i *ast.ImportSpec) string {
	if i.Name != nil {
		return i.Name.Name
	}
	p := importPath(i)
	last := path.Base(p)
	if len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
		last = path.Base(path.Dir(p))
	}
	return last
}

// at names the place of a node: path:line.
func (t *Tree) at(n ast.Node) string {
	p := t.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// span is how many lines a node covers.
func (t *Tree) span(n ast.Node) int {
	return t.fset.Position(n.End()).Line - t.fset.Position(n.Pos()).Line + 1
}

// matches reports whether name is pattern, or lies below it where the pattern ends in "/*".
func matches(pattern, name string) bool {
	if below, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, below) && name != below
	}
	return pattern == name
}

func anyMatches(patterns []string, name string) bool {
	for _, p := range patterns {
		if matches(p, name) {
			return true
		}
	}
	return false
}
