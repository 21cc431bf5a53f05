package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Bounds on what waits to be printed.
const (
	maxUnprinted = 1024
	flushWithin  = 2 * time.Second
)

// console prints events in order, from whatever goroutine. Telling never waits: where nobody takes the output, a person can
// still stop the robot.
type console struct {
	out    io.Writer
	asJSON bool
	style  palette

	mu      sync.Mutex
	waiting chan chatEvent // nil: closed
	lost    int
	ended   chan struct{}
	failed  error // the first error of out; readable once ended is closed
}

func newConsole(out io.Writer, asJSON bool, style palette) *console {
	c := &console{out: out, asJSON: asJSON, style: style, waiting: make(chan chatEvent, maxUnprinted), ended: make(chan struct{})}
	go c.print(c.waiting)
	return c
}

// tell prints the event soon, unless too much waits already.
func (c *console) tell(e chatEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil {
		return
	}
	if c.lost > 0 && len(c.waiting) < maxUnprinted/2 {
		c.waiting <- chatEvent{Event: evWarning, Says: fmt.Sprintf("%d lines were not printed: nobody took them in time", c.lost)}
		c.lost = 0
	}
	select {
	case c.waiting <- e:
	default:
		c.lost++
	}
}

func (c *console) print(waiting <-chan chatEvent) {
	defer close(c.ended)
	for e := range waiting {
		if text := c.text(&e); len(text) > 0 && c.failed == nil {
			_, c.failed = c.out.Write(text)
		}
	}
}

func (c *console) text(e *chatEvent) []byte {
	if !c.asJSON {
		return []byte(c.style.human(e))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil // unreachable: an event is texts and finite numbers
	}
	return asciiControls(b.Bytes())
}

// close waits until everything is printed, within bounds.
func (c *console) close() error {
	c.mu.Lock()
	if c.waiting != nil {
		close(c.waiting)
		c.waiting = nil
	}
	c.mu.Unlock()
	t := time.NewTimer(flushWithin)
	defer t.Stop()
	select {
	case <-c.ended:
		return c.failed
	case <-t.C:
		return errors.New("nobody took the output")
	}
}
