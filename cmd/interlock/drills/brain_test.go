package drills_test

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/transport"
	"interlock/transport/connect"
	"interlock/units"
)

// The drill's brain moves the arm from side to side, so slowly that a lease lapses in between.
const brainMPS = 0.08

// beBrain takes the lease of the robot's arm, keeps it, and starts one mission after the other, as a brain that is about to
// be killed. It prints a line for each: "started ID", "ended ID KIND REASON", "refused CODE".
func beBrain(addr string) (code int) {
	c, closer, err := connect.Dial(addr, connect.DialOptions{})
	if err == nil {
		defer func() { _ = closer.Close() }()
		err = think(c)
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func think(c transport.Client) error {
	ctx := context.Background()
	lease, err := takeLease(ctx, c, "drill")
	if err != nil {
		return err
	}
	var held atomic.Pointer[contractv1.Lease]
	held.Store(lease)
	go func() {
		for {
			time.Sleep(units.LeaseRenew)
			if r, err := c.RenewLease(ctx, &contractv1.RenewLeaseRequest{Lease: held.Load()}); err == nil && len(r.GetRejections()) == 0 {
				held.Store(r.GetLease())
			}
		}
	}()
	for n := 0; ; n++ {
		side := 14
		if n%2 == 1 {
			side = -14
		}
		q := &contractv1.StartRequest{
			MissionId: fmt.Sprintf("brain-%d-%d", os.Getpid(), n), Capability: startOf, Lease: held.Load(),
			ArgsJson: fmt.Appendf(nil, `{"x_cm": 20, "y_cm": %d, "z_cm": 15, "speed_mps": %v}`, side, brainMPS),
		}
		ack, err := c.Start(ctx, q)
		switch {
		case err != nil:
			return err
		case !ack.GetAccepted():
			fmt.Println("refused", ack.GetRejections()[0].GetCode())
			time.Sleep(beat)
			continue
		}
		fmt.Println("started", q.GetMissionId())
		for e, err := range c.Events(ctx, &contractv1.EventsRequest{MissionId: q.GetMissionId(), FromSeq: 1}) {
			if err != nil {
				return err
			}
			if e.GetFinal() {
				fmt.Println("ended", q.GetMissionId(), e.GetKind(), e.GetReason())
			}
		}
	}
}

// takeLease asks until nobody else holds it, as often as it is told to.
func takeLease(ctx context.Context, c transport.Client, holder string) (*contractv1.Lease, error) {
	for range 100 {
		r, err := c.AcquireLease(ctx, &contractv1.AcquireLeaseRequest{Resource: "arm", Holder: holder})
		switch {
		case err != nil:
			fmt.Fprintln(os.Stderr, err)
			time.Sleep(units.Beat)
		case len(r.GetRejections()) == 0:
			return r.GetLease(), nil
		default:
			fmt.Fprintln(os.Stderr, r.GetRejections())
			time.Sleep(max(2*units.Beat, time.Duration(r.GetRejections()[0].GetAfterMs())*time.Millisecond))
		}
	}
	return nil, fmt.Errorf("nobody gives a lease")
}
