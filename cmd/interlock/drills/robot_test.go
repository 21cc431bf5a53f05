package drills_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"interlock/body"
	"interlock/body/remote"
	"interlock/reject"
)

// How the drill's robot moves: long lines that outlast any silence, so that only the driver can end them.
const (
	swingRad  = 0.6 // to either side
	swingRadS = 0.5
	beat      = 50 * time.Millisecond
	ahead     = 900 * time.Millisecond // expiry: later than the silence, unless shortEnv is set
)

// beRobot swings the arm's first joint for ever, as a robot that is about to be killed. It prints a word once it is open.
func beRobot(addr string) (code int) {
	d, err := remote.Dial(context.Background(), addr, remote.Options{Holder: "drill"})
	for tries := 0; err != nil && tries < 100; tries++ {
		time.Sleep(100 * time.Millisecond)
		d, err = remote.Dial(context.Background(), addr, remote.Options{Holder: "drill"})
	}
	if err == nil {
		err = swing(d)
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// swing ends only with the lease: whatever else the driver refuses or is late with is sent anew, from where the arm then
// is. The stop that it knows stays the one it began under.
func swing(d *remote.Driver) error {
	err := d.Open()
	for tries := 0; err != nil && tries < 100; tries++ {
		time.Sleep(100 * time.Millisecond)
		err = d.Open()
	}
	if err != nil {
		return err
	}
	fmt.Println("open")
	said := ""
	tell := func(err error) { // once, however often it comes
		if text := err.Error(); text != said {
			said = text
			fmt.Fprintln(os.Stderr, text)
		}
	}
	var began uint64
	side, expiry := 0.0, ahead
	if os.Getenv(shortEnv) != "" {
		expiry = body.Expiry
	}
	for first := true; ; time.Sleep(beat) {
		o, err := d.Observe()
		if noLease(err) {
			return err
		} else if err != nil {
			tell(err)
			continue
		}
		if first {
			first, began, side = false, o.Latch.Number, -math.Copysign(1, o.GoalRad[0]) // the far side first
		}
		to := append([]float64(nil), o.GoalRad...)
		way := math.Abs(side*swingRad - to[0])
		if way < swingRadS*beat.Seconds() {
			side = -side
			way = math.Abs(side*swingRad - to[0])
		}
		to[0] = side * swingRad
		over := time.Duration(way / swingRadS * float64(time.Second))
		_, err = d.Send(body.Setpoint{PositionsRad: to, Over: over, Expires: o.At.Add(expiry), Stop: began})
		if noLease(err) {
			return err
		} else if err != nil {
			tell(err)
		}
	}
}

func noLease(err error) bool {
	var r reject.Rejection
	return errors.As(err, &r) && r.Code == reject.NoLease
}
