package drills_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot/operator"
)

// askedBelow5cm is the shipped contract with a soft condition: who wants to go below 5 cm needs a person.
func (h home) askedBelow5cm(t testing.TB) (file string) {
	t.Helper()
	text, err := os.ReadFile(contractFile)
	check(t, err)
	reachable := []byte(`      - {id: reachable, that: "reach_mm(point_cm(args.x_cm`)
	if !bytes.Contains(text, reachable) {
		t.Fatal("the contract file has changed")
	}
	file = filepath.Join(string(h), "asked.yaml")
	text = bytes.Replace(text, reachable, append([]byte(`      - {id: low, that: "args.z_cm >= 5.0", on_false: ask, says: "z = {z_cm} cm is low"}`+"\n"), reachable...), 1)
	check(t, os.WriteFile(file, text, 0o600))
	return file
}

// A line between the robot and its person that is held up, both ways: what needs a person is refused and moves nothing, what
// was allowed without one goes on and is verified, and a stop, which goes to the driver, works. What the person says once the
// line is good again counts for the call that was shown.
//
// Verifies: F10, P04, U146
func TestNobodyHearsThePerson(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	file := h.askedBelow5cm(t)
	h.driverOf(t, file, "--lab-socket", h.socket("lab"))
	w := watch(t, h)
	h.serveFile(t, file, "--driver", h.socket("driver"), "--operator", h.socket("operator"), "--listen", h.socket("robot"))
	c := h.call(t)
	ready(t, c)
	var entry struct{ Person string }
	text, err := os.ReadFile(filepath.Join(string(h), "interlock", "so101.robot.json"))
	check(t, err)
	check(t, json.Unmarshal(text, &entry))
	name, err := filepath.Rel(string(h), strings.TrimPrefix(entry.Person, "unix:"))
	check(t, err)
	line := h.rope(t, name)
	person := operator.Dial(line.addr())
	t.Cleanup(person.Close)
	if _, err := person.ListPending(t.Context(), &contractv1.ListPendingRequest{}); err != nil {
		t.Fatalf("the person does not reach the robot: %v", err)
	}
	line.set(true, true, 0)
	const low = `{"x_cm": 20, "y_cm": 0, "z_cm": 4}`
	needs := func() {
		t.Helper()
		if ack := judged(t, c, "low", low); ack.GetAccepted() || ack.GetRejections()[0].GetCode() != string(reject.NeedsApproval) {
			t.Errorf("what needs a person is answered by %v", ack)
		}
	}
	needs()
	w.still(stillFor, "a call that needs a person")
	hurried, done := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer done()
	if _, err := person.ListPending(hurried, &contractv1.ListPendingRequest{}); err == nil {
		t.Error("the person is heard over a line that is held up")
	}
	carry(t, c, "goes-on", toLeft)
	slow := carrySlowly(t, c, w, "stopped")
	stops := operate(t, h)
	w.standsAfter("a stop", halting, func() {
		_, _, err := stops.Stop(t.Context(), "drill")
		check(t, err)
	})
	if e := last(t, c, slow); e.GetKind() != contractv1.EventKind_ABORTED && e.GetKind() != contractv1.EventKind_VERIFIED && !wasSpoiled(e) { // before the stop
		t.Errorf("the mission ended %v: %s", e.GetKind(), e.GetReason())
	}
	line.cut(false)
	line.set(false, false, 0)
	unlatch(t, stops)
	ready(t, c)
	needs() // a stop ends what waited before it
	list, err := person.ListPending(t.Context(), &contractv1.ListPendingRequest{})
	if check(t, err); len(list.GetPending()) != 1 {
		t.Fatalf("%d calls wait: %v", len(list.GetPending()), list)
	}
	p := list.GetPending()[0]
	_, err = person.Approve(t.Context(), &contractv1.ApproveRequest{Hash: p.GetHash(), Displayed: p.GetAct().GetDisplayed(), By: "ada"})
	check(t, err)
	if ack := judged(t, c, "low", low); !ack.GetAccepted() {
		t.Errorf("what a person allowed is answered by %v", ack)
	}
	if e := last(t, c, "low"); e.GetKind() != contractv1.EventKind_VERIFIED && !wasSpoiled(e) {
		t.Errorf("what a person allowed ended %v: %s", e.GetKind(), e.GetReason())
	}
}
