package drills_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"time"

	"interlock/body"
	"interlock/body/remote"
)

// How the drill's robot moves: long lines that outlast any silence, so that only the driver can end them.
const (
	swingRad  = 1.2
	swingOver = 2400 * time.Millisecond
	beat      = 50 * time.Millisecond
	ahead     = 900 * time.Millisecond // expiry: later than the silence
)

// beRobot swings the arm's first joint for ever, as a robot that is about to be killed. It prints a word for each state.
func beRobot(addr string) (code int) {
	d, err := remote.Dial(context.Background(), addr, remote.Options{Holder: "drill"})
	for tries := 0; err != nil && tries < 50; tries++ {
		time.Sleep(100 * time.Millisecond)
		d, err = remote.Dial(context.Background(), addr, remote.Options{Holder: "drill"})
	}
	if err == nil {
		err = swing(d)
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func swing(d *remote.Driver) error {
	err := d.Open()
	for tries := 0; err != nil && tries < 50; tries++ {
		time.Sleep(100 * time.Millisecond)
		err = d.Open()
	}
	if err != nil {
		return err
	}
	fmt.Println("open")
	o, err := d.Observe()
	if err != nil {
		return err
	}
	began := o.Latch.Number
	for side := -math.Copysign(1, o.GoalRad[0]); ; side = -side { // the far side first
		to := append([]float64(nil), o.GoalRad...)
		to[0] = side * swingRad / 2
		for left := swingOver; left > beat; left -= beat {
			if o, err = d.Observe(); err != nil {
				return err
			}
			if _, err = d.Send(body.Setpoint{PositionsRad: to, Over: left, Expires: o.At.Add(ahead), Stop: began}); err != nil {
				return err
			}
			fmt.Println("sent")
			time.Sleep(beat)
		}
	}
}
