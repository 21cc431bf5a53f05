package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// entry is how a robot of this user is found: a file in the runtime folder. One that was left behind by a robot that died
// still names the driver's operator socket.
type entry struct {
	Name         string    `json:"name"`
	Address      string    `json:"address"`
	TokenFile    string    `json:"token_file"`
	Driver       string    `json:"driver"`
	Operator     string    `json:"operator"` // where a person stops and resets the driver
	Person       string    `json:"person"`   // where a person approves, takes and resolves
	Audit        string    `json:"audit"`    // folder of its record
	ContractHash string    `json:"contract_hash"`
	PID          int       `json:"pid"`
	Started      time.Time `json:"started"`
}

const (
	entrySuffix = ".robot.json"
	maxEntry    = 1 << 20 // bytes of a file in the runtime folder that are read
)

// robotName is what a robot may be called: a piece of a file's name and of an address, and no address itself.
var robotName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)

func runtimeFile(name string) (string, error) {
	dir, err := runtimeFolder()
	return filepath.Join(dir, name), err
}

// writeWhole makes the file appear whole or not at all.
func writeWhole(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // made with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(append(text, '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func readWhole(path string, v any) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > maxEntry {
		return fmt.Errorf("%s is no file, or too long", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (e *entry) write() error {
	path, err := runtimeFile(e.Name + entrySuffix)
	if err != nil {
		return err
	}
	return writeWhole(path, e)
}

// remove takes the entry away, unless another robot of the name has taken its place.
func (e *entry) remove() error {
	path, err := runtimeFile(e.Name + entrySuffix)
	if err != nil {
		return err
	}
	var now entry
	if err := readWhole(path, &now); err != nil || now.PID != e.PID {
		return nil //nolint:nilerr // there is nothing of ours to take away
	}
	return os.Remove(path)
}

// damaged is an entry that cannot be read: whether its robot runs, and where, is not known. It keeps nobody from the others.
type damaged struct {
	name string
	why  error // with the file
}

func (d damaged) Error() string {
	return fmt.Sprintf("the entry of robot %s is damaged, so it is not known whether it runs, or where: %s; end that robot and start it again, or delete the file if it does not run", d.name, shown(d.why.Error()))
}

func (d damaged) Unwrap() error { return d.why }

// allDamaged are several as one error; nil: there are none.
func allDamaged(bad []damaged) error {
	var all []error
	for _, d := range bad {
		all = append(all, d)
	}
	return errors.Join(all...)
}

// entries lists the robots of this user by name, those that died included, and apart those whose entries are damaged.
func entries() (list []entry, bad []damaged, err error) {
	dir, err := runtimeFolder()
	if err != nil {
		return nil, nil, err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		name, is := strings.CutSuffix(f.Name(), entrySuffix)
		if !is || !robotName.MatchString(name) {
			continue
		}
		switch e, err := entryOf(name); {
		case errors.Is(err, fs.ErrNotExist): // it ended just now
		case err != nil:
			bad = append(bad, damaged{name, err})
		default:
			list = append(list, e)
		}
	}
	return list, bad, nil
}

func entryOf(name string) (e entry, err error) {
	path, err := runtimeFile(name + entrySuffix)
	if err != nil {
		return e, err
	}
	if err := readWhole(path, &e); err != nil {
		return e, err
	}
	if e.Name != name {
		return e, fmt.Errorf("%s names the robot %q", path, e.Name)
	}
	return e, nil
}

// find is the robot that a person means: a name, an address, or the only one there is, as far as entries can be read.
func find(who string) (entry, error) {
	switch {
	case robotName.MatchString(who):
		e, err := entryOf(who)
		if errors.Is(err, fs.ErrNotExist) {
			return e, badInput(fmt.Errorf("no robot %q of this user is known; interlock robots lists them", who))
		}
		if err != nil {
			return e, badInput(damaged{who, err})
		}
		return e, nil
	case who != "" && checkAddress("ROBOT", who) != nil:
		return entry{}, badInput(fmt.Errorf("ROBOT: %q is neither a robot's name (interlock robots lists them) nor its address, HOST:PORT or unix:PATH", who))
	}
	list, bad, err := entries()
	if err != nil {
		return entry{}, err
	}
	if who != "" {
		if i := slices.IndexFunc(list, func(e entry) bool { return e.Address == who }); i >= 0 {
			return list[i], nil
		}
		return entry{Address: who}, nil
	}
	switch {
	case len(list) == 1:
		return list[0], nil
	case len(list) == 0 && len(bad) > 0:
		return entry{}, badInput(allDamaged(bad))
	case len(list) == 0:
		return entry{}, badInput(errors.New("no robot of this user is known; " + startOne))
	}
	return entry{}, badInput(fmt.Errorf("which robot? ROBOT, the last argument, is missing: there are %s", namesOf(list)))
}

func namesOf(list []entry) string {
	var names []string
	for _, e := range list {
		names = append(names, e.Name)
	}
	return strings.Join(names, ", ")
}
