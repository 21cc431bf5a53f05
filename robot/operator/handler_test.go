package operator

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	contractv1 "interlock/contract/v1"
	"interlock/contract/v1/contractv1connect"
	"interlock/internal/peer"
)

// answering is a person's robot that only counts, and that can hang or fail.
type answering struct {
	contractv1connect.UnimplementedOperatorHandler
	approved int
	in, out  chan struct{} // ListPending tells that it began, and waits; nil: it does not
}

func (a *answering) Approve(context.Context, *contractv1.ApproveRequest) (*contractv1.Pending, error) {
	a.approved++
	return &contractv1.Pending{Approved: true}, nil
}

func (a *answering) ListPending(context.Context, *contractv1.ListPendingRequest) (*contractv1.PendingList, error) {
	if a.in != nil {
		a.in <- struct{}{}
		<-a.out
	}
	return &contractv1.PendingList{}, nil
}

func (a *answering) Deny(context.Context, *contractv1.DenyRequest) (*contractv1.Pending, error) {
	panic("a secret of the robot's")
}

func (a *answering) Take(context.Context, *contractv1.TakeRequest) (*contractv1.TakeReply, error) {
	return nil, nil //nolint:nilnil // what is tested
}

// call makes a request as the user of the id; below 0: one the system does not know.
func call(t *testing.T, h http.Handler, uid int, method string, q proto.Message) *httptest.ResponseRecorder {
	t.Helper()
	wire, err := proto.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if uid >= 0 {
		ctx = context.WithValue(ctx, userKey{}, uint32(uid))
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/interlock.v1.Operator/"+method, bytes.NewReader(wire))
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Connect-Protocol-Version", "1")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

var approval = &contractv1.ApproveRequest{Hash: "h", Displayed: "d", By: "ada"}

// Verifies: O15
func TestOtherUsersAreNotHeard(t *testing.T) {
	me := os.Getuid()
	robot := new(answering)
	h := newHandler(robot, uint32(me), time.Now)
	others := []int{me + 1, me ^ 1<<20}
	if peer.Known {
		others = append(others, -1)
	}
	for _, uid := range others {
		if w := call(t, h, uid, "Approve", approval); w.Code != http.StatusForbidden || robot.approved != 0 {
			t.Errorf("user %d: %d %s", uid, w.Code, w.Body)
		}
	}
	if w := call(t, h, me, "Approve", approval); w.Code != http.StatusOK || robot.approved != 1 {
		t.Errorf("the user: %d %s", w.Code, w.Body)
	}
}

// However many approvals are sent, no more reach the robot than a person can have read.
//
// Verifies: O17
func TestApprovalsComeNoFasterThanAPersonReads(t *testing.T) {
	now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	robot := new(answering)
	h := newHandler(robot, 7, func() time.Time { return now })
	send := func(n int) (last *httptest.ResponseRecorder) {
		for range n {
			last = call(t, h, 7, "Approve", approval)
		}
		return last
	}
	if w := send(100); robot.approved != approveBurst || w.Code != http.StatusTooManyRequests {
		t.Errorf("of 100 at once %d reached the robot; %d", robot.approved, w.Code)
	}
	now = now.Add(approveEvery - 1)
	if send(1); robot.approved != approveBurst {
		t.Errorf("a nanosecond too early %d reached the robot", robot.approved)
	}
	now = now.Add(1)
	if send(10); robot.approved != approveBurst+1 {
		t.Errorf("after a second %d reached the robot", robot.approved)
	}
	now = now.Add(-time.Hour) // a clock that is set back gives nothing away
	if send(10); robot.approved != approveBurst+1 {
		t.Errorf("after the clock ran back %d reached the robot", robot.approved)
	}
	now = now.Add(2 * time.Hour)
	if send(100); robot.approved != 2*approveBurst+1 {
		t.Errorf("after a long time %d reached the robot", robot.approved)
	}
	if w := call(t, h, 7, "ListPending", &contractv1.ListPendingRequest{}); w.Code != http.StatusOK {
		t.Errorf("what is no approval: %d", w.Code)
	}
}

// Verifies: O18
func TestTooManyCallsAreShed(t *testing.T) {
	robot := &answering{in: make(chan struct{}), out: make(chan struct{})}
	h := newHandler(robot, 7, time.Now)
	var all sync.WaitGroup
	for range maxCalls {
		all.Go(func() { call(t, h, 7, "ListPending", &contractv1.ListPendingRequest{}) })
	}
	for range maxCalls {
		<-robot.in
	}
	if w := call(t, h, 7, "Approve", approval); w.Code != http.StatusTooManyRequests || robot.approved != 0 {
		t.Errorf("one too many: %d %s", w.Code, w.Body)
	}
	close(robot.out)
	all.Wait()
	if w := call(t, h, 7, "Approve", approval); w.Code != http.StatusOK {
		t.Errorf("when there is room again: %d %s", w.Code, w.Body)
	}
}

// Verifies: O18
func TestAFailingRobotTellsNothing(t *testing.T) {
	h := newHandler(new(answering), 7, time.Now)
	if w := call(t, h, 7, "Deny", &contractv1.DenyRequest{Hash: "h", By: "ada"}); w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("a panic: %d %s", w.Code, w.Body)
	}
	if w := call(t, h, 7, "Take", &contractv1.TakeRequest{By: "ada"}); w.Code != http.StatusInternalServerError {
		t.Errorf("no reply: %d %s", w.Code, w.Body)
	}
	if w := call(t, h, 7, "GiveBack", &contractv1.GiveBackRequest{By: "ada"}); w.Code == http.StatusOK {
		t.Errorf("an error: %d %s", w.Code, w.Body)
	}
}
