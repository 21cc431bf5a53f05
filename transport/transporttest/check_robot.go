package transporttest

import (
	"context"
	"fmt"
	"testing"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
)

// Arguments of motions on the scene's table.
const (
	there     = `{"x_cm":20,"y_cm":5,"z_cm":15}`
	slowly    = `{"x_cm":20,"y_cm":5,"z_cm":15,"speed_mps":0.02}`
	elsewhere = `{"x_cm":18,"y_cm":-5,"z_cm":12}`
)

func request(id, capability, args string) *contractv1.StartRequest {
	return &contractv1.StartRequest{MissionId: id, Capability: capability, ArgsJson: []byte(args)}
}

// follow reads a mission to its last word.
func follow(ctx context.Context, c transport.Client, id string) ([]*contractv1.Event, error) {
	var events []*contractv1.Event
	for e, err := range c.Events(ctx, &contractv1.EventsRequest{MissionId: id, FromSeq: 1}) {
		if err != nil {
			return events, fmt.Errorf("events of %s: %w", id, err)
		}
		if e.GetSeq() != uint64(len(events)+1) {
			return events, fmt.Errorf("event %d of %s came after %d others", e.GetSeq(), id, len(events))
		}
		events = append(events, e)
	}
	if len(events) == 0 || !events[len(events)-1].GetFinal() {
		return events, fmt.Errorf("the events of %s ended before the mission did", id)
	}
	return events, nil
}

func lastWord(events []*contractv1.Event) contractv1.EventKind {
	if len(events) == 0 {
		return contractv1.EventKind_EVENT_KIND_UNSPECIFIED
	}
	return events[len(events)-1].GetKind()
}

// startIdempotent: the same start again is the same mission; the same id with another body is CONFLICT.
func startIdempotent(ctx context.Context, t *testing.T, l *line) error {
	s, err := running(t)
	if err != nil {
		return err
	}
	client := l.open(t, s.robot)
	ack, err := client.Start(ctx, request("m1", "move_to", there))
	if err != nil || !ack.GetAccepted() || ack.GetDuplicate() {
		return wrong("a start", ack, err)
	}
	events, err := follow(ctx, client, "m1")
	if err != nil {
		return err
	}
	if lastWord(events) != contractv1.EventKind_VERIFIED {
		return fmt.Errorf("the mission ended %v", lastWord(events))
	}
	again, err := client.Start(ctx, request("m1", "move_to", there))
	if err != nil || !again.GetAccepted() || !again.GetDuplicate() {
		return wrong("the same start again", again, err)
	}
	other, err := client.Start(ctx, request("m1", "move_to", elsewhere))
	if err != nil || other.GetAccepted() || len(other.GetRejections()) != 1 || other.GetRejections()[0].GetCode() != string(reject.Conflict) {
		return wrong("the same id with another body", other, err)
	}
	repeated, err := follow(ctx, client, "m1")
	if err == nil && len(repeated) != len(events) {
		err = fmt.Errorf("the repeated start added %d events", len(repeated)-len(events))
	}
	return err
}

// cancels: a cancel in mid-motion ends the mission with CANCELLED, at standstill, for whoever follows it.
func cancels(ctx context.Context, t *testing.T, l *line) error {
	s, err := newScene(t)
	if err != nil {
		return err
	}
	client := l.open(t, &turns{s.robot, s.pacer})
	followed, err := underWay(ctx, client, s)
	if err != nil {
		return err
	}
	if ack, err := client.Cancel(ctx, &contractv1.CancelRequest{MissionId: "m1"}); err != nil || !ack.GetAccepted() {
		return wrong("a cancel", ack, err)
	}
	s.pacer.all()
	if end := <-followed; end.err != nil || end.kind != contractv1.EventKind_CANCELLED {
		return wrong("the cancelled mission ended", end.kind, end.err)
	}
	o, err := client.Observe(ctx, &contractv1.ObserveRequest{})
	if err != nil || !o.GetStandstill() || o.GetRunningMission() != "" {
		return wrong("after the cancel", o, err)
	}
	return nil
}

type ending struct {
	kind contractv1.EventKind
	err  error
}

// underWay starts a slow mission, follows it, and lets ten ticks of it pass.
func underWay(ctx context.Context, client transport.Client, s *scene) (<-chan ending, error) {
	ack, err := client.Start(ctx, request("m1", "move_to", slowly))
	if err != nil || !ack.GetAccepted() {
		return nil, wrong("a start", ack, err)
	}
	followed := make(chan ending, 1)
	go func() {
		// Asking for the events takes a turn of the robot, and turns come with ticks.
		events, err := follow(ctx, client, "m1")
		followed <- ending{lastWord(events), err}
	}()
	return followed, s.pacer.grant(ctx, 10)
}

// stops: a person's stop ends the mission for whoever follows it, is seen through the line, and stays, whatever is
// called.
func stops(ctx context.Context, t *testing.T, l *line) error {
	s, err := newScene(t)
	if err != nil {
		return err
	}
	client := l.open(t, s.robot)
	followed, err := underWay(ctx, client, s)
	if err != nil {
		return err
	}
	number := s.guard.Stop("a person said stop")
	s.pacer.all()
	if end := <-followed; end.err != nil || end.kind != contractv1.EventKind_ABORTED {
		return wrong("the stopped mission ended", end.kind, end.err)
	}
	for name, call := range calls(client) {
		if _, err := call(ctx); err != nil && ctx.Err() != nil {
			return fmt.Errorf("%s of a stopped robot: %w", name, err)
		}
	}
	ack, err := client.Start(ctx, request("m2", "move_to", there))
	if err != nil || ack.GetAccepted() || len(ack.GetRejections()) == 0 || ack.GetRejections()[0].GetCode() != string(reject.Stopped) {
		return wrong("a start of a stopped robot", ack, err)
	}
	o, err := client.Observe(ctx, &contractv1.ObserveRequest{})
	if err != nil || !o.GetStopped() || o.GetStopNumber() != number || !o.GetStandstill() {
		return wrong(fmt.Sprintf("stop %d is seen", number), o, err)
	}
	return nil
}
