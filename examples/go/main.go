// Command drive drives a robot from Go: it opens a task with a goal, starts one mission, follows its events, and claims.
//
//	interlock robot robots/so101-tabletop.yaml &
//	go run ./examples/go ADDRESS TOKEN_FILE
//
// `interlock robot` prints address and token file. Exit codes are those of interlock: 0 measured and done, 3 refused, 4 not
// done, 5 unverified.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
	"interlock/transport/connect"
	"interlock/transport/leasing"
)

// leaseRenew is a third of what a lease lasts.
const leaseRenew = 600 * time.Millisecond

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: drive ADDRESS TOKEN_FILE")
		os.Exit(2)
	}
	code, err := drive(context.Background(), os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "drive:", err)
	}
	os.Exit(code)
}

func drive(ctx context.Context, address, tokenFile string) (code int, err error) {
	token, err := connect.ReadToken(tokenFile)
	if err != nil {
		return 2, err
	}
	client, line, err := connect.Dial(address, connect.DialOptions{Token: token})
	if err != nil {
		return 2, err
	}
	defer func() { _ = line.Close() }()
	// What it moves it leases: if this program dies, the lease lapses within 2 s and the motion ends.
	robot := leasing.New(client, "drive", leaseRenew)
	defer func() { _ = robot.Close() }()
	manifest, err := robot.Describe(ctx)
	if err != nil {
		return 1, err
	}
	var verbs []string
	for _, c := range manifest.GetCapabilities() {
		verbs = append(verbs, c.GetName())
	}
	fmt.Println(manifest.GetRobot(), "offers", strings.Join(verbs, ", "))

	// The goal is fixed before the first call, and decides: not what anybody says afterwards.
	task, err := robot.OpenTask(ctx, &contractv1.OpenTaskRequest{
		Words: "move to 20, 5, 15", Provenance: "person", Goal: "at(point_cm(20.0, 5.0, 15.0))",
	})
	if err != nil {
		return 1, err
	}
	if code, err := move(ctx, robot, task.GetTaskId()); err != nil {
		return code, err
	}

	// A claim is written beside what was measured, and changes nothing of it.
	task, err = robot.Claim(ctx, &contractv1.ClaimRequest{
		TaskId: task.GetTaskId(), Claim: &contractv1.Claim{Reported: true, Success: true, Message: "I moved there."},
	})
	if err != nil {
		return 1, err
	}
	fmt.Println("claimed: done; measured:", task.GetState())
	switch task.GetState() {
	case contractv1.TaskState_DONE:
		return 0, nil
	case contractv1.TaskState_NOT_DONE:
		return 4, nil
	default:
		return 5, nil
	}
}

// move starts one mission and follows it to its end.
func move(ctx context.Context, robot transport.Client, task string) (code int, err error) {
	ack, err := robot.Start(ctx, &contractv1.StartRequest{
		MissionId:  fmt.Sprint("go-", time.Now().UnixNano()), // the caller's: the same id and arguments again are the same mission
		Capability: "move_to", ArgsJson: []byte(`{"x_cm": 20, "y_cm": 5, "z_cm": 15}`), TaskId: task,
	})
	var refused reject.List
	switch {
	case errors.As(err, &refused): // by the line: each has a code, a field, what was given and what the limit is
		return 3, err
	case err != nil:
		return 1, err
	case !ack.GetAccepted(): // by the robot
		return 3, fmt.Errorf("%s: %v", ack.GetReason(), ack.GetRejections())
	}
	for e, err := range robot.Events(ctx, &contractv1.EventsRequest{MissionId: ack.GetMissionId(), FromSeq: 1}) {
		if err != nil {
			return 1, err
		}
		fmt.Printf("%4d %8d ms  %s %s%s\n", e.GetSeq(), e.GetAtMs(), e.GetKind(), e.GetPhase(), e.GetReason())
	}
	return 0, nil
}
