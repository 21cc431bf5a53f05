package remote_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"interlock/body"
	"interlock/body/guard"
	"interlock/body/remote"
	driverv1 "interlock/body/remote/v1"
	"interlock/body/sim"
	"interlock/reject"
	"interlock/units"
)

// leased is a simulated arm behind its guard and its line, with a time of its own, whose lease was held twice before and is
// held now.
type leased struct {
	t     *testing.T
	guard *guard.Guard
	line  driverv1.DriverClient
	truth body.Truth
	now   uint64            // the epoch that holds the lease
	wrong map[string]uint64 // epochs that do not
	seq   uint64
}

func newLeased(t *testing.T) *leased {
	t.Helper()
	arm, err := sim.New(sim.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	g := guard.New(arm, guard.Config{
		Ceiling: guard.Limits{TipSpeedMPS: 1, JointSpeedRadS: 4.71}, Leased: true,
		Tip: func(q []float64) units.Vec3 { return sim.TipInBase([sim.NumJoints]float64(q)) },
	})
	if err := g.Open(); err != nil {
		t.Fatal(err)
	}
	client, base, _ := remote.LabLine(serve(t, remote.DriverHandler(g)))
	t.Cleanup(client.CloseIdleConnections)
	l := &leased{t: t, guard: g, line: driverv1.NewDriverClient(client, base), truth: arm.Truth()}
	first := l.open("first")
	l.advance(units.LeaseTTL + 100*time.Millisecond) // it lapses
	second := l.open("second")
	if _, err := l.line.Close(t.Context(), &driverv1.CloseRequest{Epoch: second}); err != nil { // it goes back
		t.Fatal(err)
	}
	l.now = l.open("holder")
	l.wrong = map[string]uint64{
		"none": 0, "one that lapsed": first, "one that went back": second, "one that is not yet": l.now + 1, "the last there can be": math.MaxUint64,
	}
	return l
}

func (l *leased) open(holder string) uint64 {
	l.t.Helper()
	p, err := l.line.Open(l.t.Context(), &driverv1.OpenRequest{Holder: holder})
	if err != nil || len(p.GetRejections()) > 0 {
		l.t.Fatalf("open for %s: %v, %v", holder, p, err)
	}
	return p.GetEpoch()
}

func (l *leased) advance(d time.Duration) {
	l.t.Helper()
	if err := l.guard.Advance(d); err != nil {
		l.t.Fatal(err)
	}
}

// setpoint turns the arm from where it stands.
func (l *leased) setpoint(epoch uint64) *driverv1.Setpoint {
	l.t.Helper()
	o, err := l.guard.Watch(0)
	if err != nil {
		l.t.Fatal(err)
	}
	l.seq++
	to := append([]float64(nil), o.GoalRad...)
	to[0] += 0.2
	return &driverv1.Setpoint{
		PositionsRad: to, OverNs: int64(time.Second), ExpiresNs: int64(o.At.Add(body.Expiry)), Stop: o.Latch.Number, Epoch: epoch, Sequence: l.seq,
	}
}

// holds lets the holder send where the arm stands already, so that its commands are counted.
func (l *leased) holds() {
	l.t.Helper()
	p := l.setpoint(l.now)
	p.PositionsRad[0] -= 0.2
	if sent, err := l.line.Send(l.t.Context(), p); err != nil || len(sent.GetRejections()) > 0 {
		l.t.Fatalf("%v, %v", sent, err)
	}
}

// refusedAs returns the code and the field of the first refusal of a reply, or of an error that carries one.
func refusedAs(list []*driverv1.Rejection, err error) (code, field string) {
	var r reject.Rejection
	switch {
	case len(list) > 0:
		return list[0].GetCode(), list[0].GetField()
	case errors.As(err, &r):
		return string(r.Code), r.Field
	}
	return fmt.Sprint("no refusal: ", err), ""
}

// methods are all of the robot's line, each called under an epoch that does not hold the lease, with the refusal that is
// due; empty: it is for everybody, and the lease is no matter.
var methods = map[string]func(l *leased, epoch uint64) (got, want string){
	"Describe": func(l *leased, _ uint64) (string, string) {
		_, err := l.line.Describe(l.t.Context(), &driverv1.DescribeRequest{})
		return fmt.Sprint(err), fmt.Sprint(nil)
	},
	"Open": func(l *leased, _ uint64) (string, string) { // a name is no proof of who asks
		p, err := l.line.Open(l.t.Context(), &driverv1.OpenRequest{Holder: "holder"})
		code, _ := refusedAs(p.GetRejections(), err)
		return fmt.Sprint(code, p.GetEpoch()), fmt.Sprint(reject.Busy, 0)
	},
	"Renew": func(l *leased, epoch uint64) (string, string) {
		p, err := l.line.Renew(l.t.Context(), &driverv1.RenewRequest{Epoch: epoch})
		code, _ := refusedAs(p.GetRejections(), err)
		return code, string(reject.NoLease)
	},
	"Send": func(l *leased, epoch uint64) (string, string) {
		p, err := l.line.Send(l.t.Context(), l.setpoint(epoch))
		code, field := refusedAs(p.GetRejections(), err)
		return fmt.Sprint(code, field, p.GetApplied()), fmt.Sprint(reject.NoLease, "epoch", 0)
	},
	"Halt": func(l *leased, epoch uint64) (string, string) { // for everybody; it must not overtake what the holder sends next
		_, err := l.line.Halt(l.t.Context(), &driverv1.HaltRequest{Epoch: epoch, Sequence: math.MaxUint64})
		return fmt.Sprint(err), fmt.Sprint(nil)
	},
	"Observe": func(l *leased, epoch uint64) (string, string) {
		_, err := l.guard.Watch(epoch) // as the handler asks; the stub's error has no type here
		if epoch == 0 {
			return fmt.Sprint(err), fmt.Sprint(nil)
		}
		if _, lineErr := l.line.Observe(l.t.Context(), &driverv1.ObserveRequest{Epoch: epoch}); lineErr == nil {
			return "observed", string(reject.NoLease)
		}
		code, _ := refusedAs(nil, err)
		return code, string(reject.NoLease)
	},
	"Stop": func(l *leased, _ uint64) (string, string) {
		was := l.guard.Latch().Number
		p, err := l.line.Stop(l.t.Context(), &driverv1.StopRequest{Reason: "matrix"})
		if err == nil && l.guard.Latch().Stopped {
			err = l.guard.Reset(p.GetNumber())
		}
		return fmt.Sprint(p.GetNumber(), err), fmt.Sprint(was+1, nil)
	},
	"Close": func(l *leased, epoch uint64) (string, string) {
		_, err := l.line.Close(l.t.Context(), &driverv1.CloseRequest{Epoch: epoch})
		return fmt.Sprint(err), fmt.Sprint(nil) // it says nothing, and changes nothing
	},
}

// The whole matrix: every method of the driver's line under every epoch that does not hold the lease. What needs the lease
// is refused and moves nothing; what needs none does its own and takes nothing from the holder, who keeps the lease, can
// move, and loses the lease at its own time: no other epoch's call lengthens it.
//
// Verifies: P09, F05, F07, F19, U110
func TestEveryEpochThatDoesNotHoldTheLease(t *testing.T) {
	service := driverv1.File_driver_proto.Services().ByName("Driver")
	for i := range service.Methods().Len() {
		if name := string(service.Methods().Get(i).Name()); methods[name] == nil {
			t.Errorf("the matrix has no line for %s", name)
		}
	}
	for method, call := range methods {
		for _, name := range []string{"none", "one that lapsed", "one that went back", "one that is not yet", "the last there can be"} {
			t.Run(method+" under "+name, func(t *testing.T) {
				l := newLeased(t)
				l.holds()
				before := l.truth.TipInBase()
				if got, want := call(l, l.wrong[name]); got != want {
					t.Errorf("answered by %s, not %s", got, want)
				}
				l.advance(300 * time.Millisecond)
				if moved := l.truth.TipInBase().Distance(before); !(moved < 0.001) {
					t.Errorf("the tip moved by %v m", moved)
				}
				if holder := l.guard.Holder(); holder != "holder" {
					t.Errorf("the lease is held by %q", holder)
				}
				if p, err := l.line.Send(t.Context(), l.setpoint(l.now)); err != nil || len(p.GetRejections()) > 0 {
					t.Errorf("the holder's own setpoint is answered by %v, %v", p, err)
				}
				l.advance(units.LeaseTTL - 100*time.Millisecond)
				_, _ = call(l, l.wrong[name])
				l.advance(200 * time.Millisecond)
				if p, err := l.line.Renew(t.Context(), &driverv1.RenewRequest{Epoch: l.now}); err != nil || len(p.GetRejections()) == 0 {
					t.Errorf("after its time the lease is renewed: %v, %v", p, err)
				}
			})
		}
	}
}
