package main

import (
	"os/exec"
	"strings"
	"testing"

	contractv1 "interlock/contract/v1"
)

// What names something that there is not is answered with the command that lists what there is, which works as printed; where there
// is nothing yet that is said.
//
// Verifies: U186
func TestWhatIsMissingNamesItsList(t *testing.T) {
	folderOf(t)
	for _, line := range [][]string{{"reset", "1"}, {"stop"}} {
		refusedAsInput(t, line, "no robot and no driver of this user is known", "--operator")
	}
	inhabited(t, "robots/so101-tabletop.yaml").nothingYet()
}

// nothingYet asks a robot that has done nothing for what it did.
func (h *house) nothingYet() {
	t := h.t
	t.Helper()
	if code, out, errOut := command(t, "missions"); code != exitFine || out != "so101 has begun no mission\n" {
		t.Errorf("missions: exit %d, %q %q", code, out, errOut)
	}
	if code, out, _ := command(t, "missions", "--json"); code != exitFine || out != "" {
		t.Errorf("missions --json: exit %d, %q", code, out)
	}
	for _, line := range [][]string{{"events", "m1"}, {"events", "-f", "m1"}, {"cancel", "m1"}} {
		code, out, errOut := command(t, line...)
		if lists := pasted(t, errOut, "; "); code != exitBadInput || out != "" || strings.Join(lists, " ") != "missions so101 lists them" {
			t.Errorf("%q: exit %d, %q %q", line, code, out, errOut)
		}
	}
	refusedAsInput(t, []string{"approve", "0a1"}, "HASH", "interlock approve lists")
	h.carry("m1", "home", "{}")
	if code, out, errOut := command(t, "cancel", "m1"); code != exitFine || !strings.HasPrefix(out, "m1 had ended before:\n") || !strings.Contains(out, "verified") {
		t.Errorf("the cancel of what has ended: exit %d, %q %q", code, out, errOut)
	}
	_, out, _ := command(t, "cancel", "m1", "--json")
	if e := said[chatEvent](t, out); len(e) != 1 || !e[0].Final || e[0].State != "verified" {
		t.Errorf("as JSON: %q", out)
	}
}

// The list of robots says who has taken one, how many calls wait for a person, and that the process of one is gone.
//
// Verifies: U187
func TestRobotsSayWhatAPersonMustKnow(t *testing.T) {
	h := inhabited(t, soft(t))
	state := func() robotState {
		t.Helper()
		_, out, _ := command(t, "robots", "so101", "--json")
		return said[robotState](t, out)[0]
	}
	if s := state(); s.TakenBy != "" || s.Waiting != 0 {
		t.Errorf("%+v", s)
	}
	l := newNamedLine("so101", "")
	defer l.end()
	ask := &contractv1.StartRequest{MissionId: "m1", Capability: "move_to", ArgsJson: []byte(`{"x_cm":20,"y_cm":5,"z_cm":3}`)}
	if ack, err := l.Start(t.Context(), ask); err != nil || !onlyAPerson(ack) {
		t.Fatal(ack, err)
	}
	if s := state(); s.Waiting != 1 {
		t.Errorf("%+v", s)
	}
	if _, out, _ := command(t, "robots"); !strings.Contains(out, "1 waiting for a person (interlock approve so101)") {
		t.Errorf("%q", out)
	}
	if code, _, errOut := command(t, "take", "--by", "ada"); code != exitFine {
		t.Fatal(errOut)
	}
	if s := state(); s.TakenBy != "ada" || s.Waiting != 0 {
		t.Errorf("%+v", s)
	}
	if _, out, _ := command(t, "robots"); !strings.Contains(out, "taken by ada") {
		t.Errorf("%q", out)
	}
	h.robot.end()
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	known(t, "so101", "127.0.0.1:1", gone.Process.Pid, false)
	if s := state(); s.State != "silent" || !strings.Contains(s.Says, "its process is gone") {
		t.Errorf("%+v", s)
	}
}
