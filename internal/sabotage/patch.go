package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// sabotage is one wrong version of a room.
type sabotage struct {
	room  string // "robot/mission"
	name  string // "01-stop-does-not-halt"
	why   string // what it makes wrong, in one line
	edits []edit
}

// edit replaces whole lines of one file; they must stand there exactly once.
type edit struct{ file, was, now string }

func (s sabotage) String() string { return s.room + "/" + s.name }

// folder is where the list lies below the module's root.
const folder = "internal/sabotage/testdata"

// moduleRoot returns the nearest folder above the working one that holds a go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the working folder")
		}
		dir = filepath.Dir(dir)
	}
}

// load reads the whole list, sorted by room and name.
func load(root string) (list []sabotage, err error) {
	base := filepath.Join(root, filepath.FromSlash(folder))
	err = filepath.WalkDir(base, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(base, p)
		if err != nil {
			return err
		}
		src, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		s, err := parse(filepath.ToSlash(rel), string(src))
		list = append(list, s)
		return err
	})
	return list, err
}

// parse reads one file of the list: the reason in the first line, then for each file a line "--- PATH" and its changes.
// A change is a diff without line numbers: kept lines begin with a blank, old ones with "-", new ones with "+"; a line
// "@@" begins another change of the same file.
func parse(name, src string) (sabotage, error) {
	s := sabotage{room: path.Dir(name), name: strings.TrimSuffix(path.Base(name), ".patch")}
	if path.Ext(name) != ".patch" {
		return s, fmt.Errorf("%s: the list holds files ROOM/NN-name.patch only", name)
	}
	why, rest, _ := strings.Cut(src, "\n")
	s.why = strings.TrimSpace(why)
	file := ""
	for line := range strings.Lines(rest) {
		text := strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(text, "--- "):
			file = strings.TrimPrefix(text, "--- ")
			s.edits = append(s.edits, edit{file: file})
		case text == "@@":
			s.edits = append(s.edits, edit{file: file})
		case file == "":
			return s, fmt.Errorf("%s: a change stands before its \"--- PATH\"", name)
		default:
			if !s.edits[len(s.edits)-1].take(text) {
				return s, fmt.Errorf("%s: %q begins with neither blank, - nor +", name, text)
			}
		}
	}
	return s, s.complete()
}

// take adds one line of a diff.
func (e *edit) take(text string) bool {
	if text == "" {
		text = " " // an editor took the blank of an empty kept line
	}
	switch line := text[1:] + "\n"; text[0] {
	case ' ':
		e.was, e.now = e.was+line, e.now+line
	case '-':
		e.was += line
	case '+':
		e.now += line
	default:
		return false
	}
	return true
}

func (s sabotage) complete() error {
	if s.why == "" || len(s.edits) == 0 {
		return fmt.Errorf("%s: a sabotage needs a reason in its first line and at least one change", s)
	}
	for _, e := range s.edits {
		if e.was == e.now || e.was == "" {
			return fmt.Errorf("%s: a change of %s changes nothing, or does not say where", s, e.file)
		}
		if path.Dir(e.file) != s.room || path.Ext(e.file) != ".go" || strings.HasSuffix(e.file, "_test.go") {
			return fmt.Errorf("%s: %s is no source of its room", s, e.file)
		}
	}
	return nil
}

// apply returns the sabotaged text of every file it changes, by path below the root.
func (s sabotage) apply(root string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, e := range s.edits {
		src, again := files[e.file]
		if !again {
			var err error
			if src, err = os.ReadFile(filepath.Join(root, filepath.FromSlash(e.file))); err != nil {
				return nil, fmt.Errorf("%s: %w", s, err)
			}
		}
		src = append([]byte("\n"), src...)
		was := []byte("\n" + e.was)
		if n := bytes.Count(src, was); n != 1 {
			return nil, fmt.Errorf("%s is stale: the lines it changes stand %d times in %s. Write the patch anew against the present source so that it still does this: %s", s, n, e.file, s.why)
		}
		files[e.file] = bytes.Replace(src, was, []byte("\n"+e.now), 1)[1:]
	}
	return files, nil
}

// sorted returns the keys of a set of files.
func sorted(files map[string][]byte) []string {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
