package main

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"interlock/body"
	"interlock/body/remote"
)

// Times of a stop that is not confirmed at once.
const (
	stopWithin = 2 * operatorWithin    // altogether
	stopRetry  = 20 * time.Millisecond // between two attempts
)

// stopDriver stops the driver with this operator line, again and again until it confirms it or the time is up. Where that line
// does not answer it stops it where robots reach it, if that is known: there is a stop too.
func stopDriver(ctx context.Context, addr, reason string) (number uint64, durable bool, err error) {
	o := remote.DialOperator(addr)
	defer o.Close()
	beside := robotsLine(addr)
	d := remote.Expect(beside, body.Description{}, remote.Options{CallTimeout: operatorWithin})
	defer func() { _ = d.Close() }() // nothing was opened; its connections go
	begun := time.Now()
	for tries := 1; ; tries++ {
		trying, done := context.WithTimeout(ctx, operatorWithin)
		number, durable, err = o.Stop(trying, reason)
		done()
		if err == nil {
			return number, durable, nil
		}
		if beside != "" {
			if number, durable := d.StopKept(reason); number != 0 {
				return number, durable, nil
			}
		}
		took := time.Since(begun)
		stood := tries == 1 && took >= 2*stopWithin // this process, and with it the time for a second try
		if took >= stopWithin && !stood || ctx.Err() != nil {
			return 0, false, err
		}
		time.Sleep(stopRetry)
	}
}

// robotsLine is where robots reach the driver with this operator line: as a robot's entry says, or as the usual sockets are called;
// empty: it is not known.
func robotsLine(operator string) string {
	robots, _, _ := entries()                                                                    // without them there are the usual sockets
	slices.SortStableFunc(robots, func(a, b entry) int { return cmp.Compare(gone(a), gone(b)) }) // of several the one that runs
	for _, e := range robots {
		if e.Operator == operator && e.Driver != "" {
			return e.Driver
		}
	}
	if before, usual := strings.CutSuffix(operator, operatorSuffix+".sock"); usual {
		return before + driverSuffix + ".sock"
	}
	return ""
}

// gone is 1 for a robot whose process has ended.
func gone(e entry) int {
	if e.PID > 0 && !alive(e.PID) {
		return 1
	}
	return 0
}
