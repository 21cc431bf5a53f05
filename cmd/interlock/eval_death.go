package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"interlock/body/plant"
	"interlock/body/remote"
)

// saw notes an error, and puts before it which process died or hangs: most others follow from that. The plant is asked
// first and the driver next, since those that follow may be seen to die before them.
func (k *crew) saw(err error) error {
	if err == nil {
		return nil
	}
	first := k.hung()
	if first == nil {
		first = k.dead()
	}
	if first != nil && !strings.Contains(err.Error(), first.Error()) {
		err = fmt.Errorf("%w (%s)", first, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return k.note(err)
}

// note keeps the first error.
func (k *crew) note(err error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.broken == nil {
		k.broken = err
	}
	return k.broken
}

func (k *crew) cause() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.broken
}

// hangs is how long a process may take to say anything at all before it counts as hung.
const hangs = 2 * time.Second

// hung says which process does not answer; most often it is dead, and that was not noticed yet. One that is dead comes before
// one that is silent, which a busy machine may only keep waiting. What one answers does not matter.
func (k *crew) hung() (silent error) {
	for _, at := range []struct {
		who  *child
		name string
	}{{k.plant, crewPlant}, {k.driver, crewDriver}} {
		if at.who == nil {
			continue
		}
		d, err := remote.Dial(context.Background(), socketIn(k.dir, at.name), remote.Options{CallTimeout: hangs})
		if err == nil {
			_ = d.Close()
			continue
		}
		if dead := at.who.death(childDies); dead != nil {
			return dead
		}
		if silent == nil {
			silent = fmt.Errorf("%s does not answer", at.who.who())
		}
	}
	return silent
}

// dead says which process died.
func (k *crew) dead() error {
	for _, c := range []*child{k.plant, k.driver, k.robot} {
		if c == nil {
			continue
		}
		if err := c.death(0); err != nil {
			return err
		}
	}
	return nil
}

// end ends the processes, the robot first: what it holds it gives back to a driver that is there. Where anything went
// wrong they are not asked.
func (k *crew) end() error {
	var errs []error
	for _, c := range k.closers {
		errs = append(errs, c.Close())
	}
	for _, l := range []*plant.Lab{k.world, k.time} {
		if l != nil {
			l.Close()
		}
	}
	for _, c := range []*child{k.robot, k.driver, k.plant} {
		switch {
		case c == nil:
		case k.cause() != nil:
			c.kill()
		default:
			errs = append(errs, c.end())
		}
	}
	if k.endPacing != nil {
		errs = append(errs, k.endPacing())
	}
	if k.dir != "" { // its owner may have been killed
		errs = append(errs, os.RemoveAll(k.dir))
	}
	return errors.Join(errs...)
}
