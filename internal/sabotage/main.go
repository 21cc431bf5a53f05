// Command sabotage keeps a list of sabotaged versions of the rooms that decide about motion, and plays them: each is the
// real room with one thing made wrong, and the room's real tests must then fail. A sabotage that survives is a promise
// that no test keeps.
//
// One file testdata/ROOM/NN-name.patch is one sabotage: its reason, and a diff without line numbers. It is applied
// through the go command's overlay, so that the command must never write into the tree, and never does.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

func main() {
	room := flag.String("room", "", "play only this room, such as robot/mission")
	flag.Parse()
	root, err := moduleRoot()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sabotage:", err)
		os.Exit(2)
	}
	if err := playAll(root, *room); err != nil {
		fmt.Fprintln(os.Stderr, "sabotage:", err)
		os.Exit(1)
	}
}

// playAll plays the list, or the part of it that sabotages one room, and prints a row each.
func playAll(root, room string) error {
	list, err := load(root)
	if err != nil {
		return err
	}
	if room != "" {
		list = slices.DeleteFunc(list, func(s sabotage) bool { return s.room != room })
	}
	if len(list) == 0 {
		return fmt.Errorf("there is nothing to play")
	}
	if err := honest(root, list); err != nil {
		return err
	}
	fmt.Println("| room | sabotage | what it does | caught by | seconds |\n|---|---|---|---|---:|")
	var bad []string
	begun := time.Now()
	for _, s := range list {
		r, err := play(root, s)
		switch {
		case err != nil:
			fmt.Fprintln(os.Stderr, err)
			r.by, bad = "**not played**", append(bad, s.String())
		case r.by == "":
			r.by, bad = "**nothing**", append(bad, s.String())
		}
		fmt.Printf("| %s | %s | %s | %s | %.1f |\n", s.room, s.name, s.why, r.by, r.took.Seconds())
	}
	fmt.Printf("\n%d of %d caught, in %.0f s.\n", len(list)-len(bad), len(list), time.Since(begun).Seconds())
	if len(bad) > 0 {
		return fmt.Errorf("no test catches %s: write one that does; remove a sabotage only if it makes nothing wrong", strings.Join(bad, ", "))
	}
	return nil
}

// honest plays each room as it is: tests that fail already catch everything and prove nothing.
func honest(root string, list []sabotage) error {
	rooms := map[string]bool{}
	for _, s := range list {
		if rooms[s.room] {
			continue
		}
		rooms[s.room] = true
		r, err := play(root, sabotage{room: s.room, name: "as it is"})
		if err != nil {
			return fmt.Errorf("the tests of %s, without any sabotage: %w", s.room, err)
		}
		if r.by != "" {
			return fmt.Errorf("the tests of %s fail without any sabotage: %s", s.room, r.by)
		}
	}
	return nil
}
