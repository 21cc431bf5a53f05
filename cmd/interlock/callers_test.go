package main

import (
	"strings"
	"testing"

	contractv1 "interlock/contract/v1"
	"interlock/transport"
	"interlock/transport/connect"
)

// dialled is a client at an address of the robot's, with the token in a file of the runtime folder; without one it is this
// user, at a unix socket.
func dialled(t *testing.T, addr, tokenFile string) transport.Client {
	t.Helper()
	var o connect.DialOptions
	if tokenFile != "" {
		path, err := runtimeFile(tokenFile)
		if err != nil {
			t.Fatal(err)
		}
		if o.Token, err = connect.ReadToken(path); err != nil {
			t.Fatal(err)
		}
	}
	c, closer, err := connect.Dial(addr, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = closer.Close() })
	return c
}

// waving starts a wave and returns once it moves, or has ended on a machine that is too busy.
func waving(t *testing.T, c transport.Client, id string) {
	t.Helper()
	startMission(t, c, &contractv1.StartRequest{MissionId: id, Capability: "wave", ArgsJson: []byte("{}")})
	for e, err := range c.Events(t.Context(), &contractv1.EventsRequest{MissionId: id, FromSeq: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.GetKind() == contractv1.EventKind_PHASE {
			return
		}
	}
}

// What the robot's own user starts at its socket without a token is a person's to see and to end, in the commands that bring
// the robot's token.
//
// Verifies: U162
func TestTheOwnersMissionsAreThePersons(t *testing.T) {
	h := inhabited(t, "robots/so101-tabletop.yaml", "--listen", "SOCKET", "--caller", "guest")
	waving(t, dialled(t, h.socket("r"), ""), "m1")
	if code, out, errOut := command(t, "cancel", "m1"); code == exitRefused || code == exitBadInput || out == "" {
		t.Errorf("cancel: exit %d, %q %q", code, out, errOut)
	}
	if code, out, errOut := command(t, "events", "m1"); code != exitFine || !strings.Contains(out, "accepted") {
		t.Errorf("events: exit %d, %q %q", code, out, errOut)
	}
	_, out, errOut := command(t, "missions", "--json")
	if s := said[missionState](t, out); len(s) != 1 || !s[0].Final || s[0].Source != fromRobot || s[0].Caller != connect.Owner {
		t.Errorf("missions: %q %q", out, errOut)
	}
	if _, out, _ := command(t, "missions"); strings.Contains(out, "(of ") {
		t.Errorf("the owner's mission is told as another's: %q", out)
	}
}

// The mission of a further caller is listed as its record has it, with the caller's name; its end and its events are that
// caller's alone, and what a person is told instead works.
//
// Verifies: U163
func TestAFurtherCallersMissionIsListedAndTakenFrom(t *testing.T) {
	h := inhabited(t, "robots/so101-tabletop.yaml", "--caller", "guest")
	e, err := entryOf("so101")
	if err != nil {
		t.Fatal(err)
	}
	guest := dialled(t, e.Address, "so101.guest.token")
	waving(t, guest, "g1")
	if code, out, errOut := command(t, "cancel", "g1"); code != exitRefused || out != "" || !strings.Contains(errOut, "interlock take so101") || !strings.Contains(errOut, "interlock stop so101") {
		t.Errorf("cancel: exit %d, %q %q", code, out, errOut)
	}
	if code, out, errOut := command(t, "events", "g1"); code != exitRefused || out != "" || !strings.Contains(errOut, "interlock missions so101") || !strings.Contains(errOut, "interlock audit show so101 --mission g1") {
		t.Errorf("events: exit %d, %q %q", code, out, errOut)
	}
	listed := func(final bool) {
		t.Helper()
		_, out, errOut := command(t, "missions", "so101")
		if !strings.Contains(out, "g1") || !strings.Contains(out, "(of guest)") {
			t.Errorf("missions: %q %q", out, errOut)
		}
		_, out, _ = command(t, "missions", "--json")
		if s := said[missionState](t, out); len(s) != 1 || s[0].Caller != "guest" || s[0].State == "" || s[0].State == "unknown" || s[0].Source != fromRecord || final && !s[0].Final {
			t.Errorf("missions: %q", out)
		}
	}
	listed(false)
	if code, out, errOut := command(t, "audit", "show", "so101", "--mission", "g1"); code != exitFine || !strings.Contains(out, "by guest") {
		t.Errorf("audit show: exit %d, %q %q", code, out, errOut)
	}
	if code, out, errOut := command(t, "take", "so101"); code != exitFine {
		t.Errorf("take: exit %d, %q %q", code, out, errOut)
	}
	for _, err := range guest.Events(t.Context(), &contractv1.EventsRequest{MissionId: "g1", FromSeq: 1}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	listed(true)
	h.robot.end()
}
