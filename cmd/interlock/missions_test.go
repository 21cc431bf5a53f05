package main

import (
	"context"
	"iter"
	"strings"
	"testing"
	"testing/synctest"

	contractv1 "interlock/contract/v1"
	"interlock/transport"
)

// A robot that does not answer, or has ended, is said to; its missions are then told from its record, each with the number of
// the record that says so. Its events are asked for in vain, and that is no success.
//
// Verifies: U125
func TestMissionsOfASilentRobotAreThoseOnRecord(t *testing.T) {
	h := inhabited(t, "robots/so101-tabletop.yaml")
	h.carry("m1", "home", "{}")
	code, out, errOut := command(t, "missions", "--json")
	now := said[missionState](t, out)
	if code != exitFine || len(now) != 1 || !now[0].Final || now[0].Source != fromRobot || now[0].Record != 0 {
		t.Fatalf("exit %d, %+v, %s", code, now, errOut)
	}
	ended := now[0].State // verified, but for a machine that is too busy
	e, err := entryOf("so101")
	if err != nil {
		t.Fatal(err)
	}
	h.robot.end()
	silentMissions(t, ended, "so101 does not run")
	if err := e.write(); err != nil { // as a robot that was killed leaves it
		t.Fatal(err)
	}
	silentMissions(t, ended, "so101 does not answer")
	for _, line := range [][]string{{"events", "m1"}, {"describe"}, {"cancel", "m1"}} {
		if code, out, errOut := command(t, line...); code != exitError || out != "" || !strings.Contains(errOut, "so101 does not answer") {
			t.Errorf("%q: exit %d, %q %q", line, code, out, errOut)
		}
	}
}

func silentMissions(t *testing.T, ended, says string) {
	t.Helper()
	_, shows, _ := command(t, "audit", "show", "--json", "--kind", "event")
	records := said[auditLine](t, shows)
	last := records[len(records)-1].Seq
	code, out, errOut := command(t, "missions", "so101", "--json")
	got := said[missionState](t, out)
	if code != exitFine || len(got) != 1 || got[0].State != ended || !got[0].Final || got[0].Source != fromRecord || got[0].Record != last || !strings.HasPrefix(got[0].Says, says) {
		t.Errorf("%s: exit %d, %+v, want record %d; %s", says, code, got, last, errOut)
	}
	if _, out, _ := command(t, "missions", "so101"); !strings.HasPrefix(out, says) || !strings.Contains(out, "from its record") || strings.Contains(out, "unknown") {
		t.Errorf("%s: %q", says, out)
	}
}

// A mission whose intent alone is on record was not seen to begin, and one whose intent was taken back is no mission.
//
// Verifies: U125
func TestMissionsOnRecordGoByTheirLastLine(t *testing.T) {
	dir := stateFolder(t) + "/so101.audit"
	l := recorded(t, dir)
	for _, id := range []string{"m3", "m4"} {
		putRecord(t, l, &contractv1.AuditRecord{What: &contractv1.AuditRecord_Intent{Intent: &contractv1.Intent{MissionId: id, Capability: "wave", ArgsJson: []byte("{}")}}})
	}
	putRecord(t, l, &contractv1.AuditRecord{What: &contractv1.AuditRecord_Void{Void: &contractv1.Void{MissionId: "m3"}}})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, out, _ := command(t, "missions", "--json")
	got := said[missionState](t, out)
	if len(got) != 2 || got[0].Mission != "m1" || got[0].State != "failed" || got[0].Reason != "timeout" || got[0].Record != 5 || got[1].Mission != "m4" || got[1].State != "intended" || got[1].Record != 10 || got[1].Final {
		t.Errorf("%+v", got)
	}
}

// slow is a robot that tells so many events of a mission, and then nothing more.
type slow struct {
	transport.Client
	tells uint64
}

func (s slow) Events(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	return func(yield func(*contractv1.Event, error) bool) {
		for seq := q.GetFromSeq(); seq <= s.tells; seq++ {
			if !yield(&contractv1.Event{MissionId: "m1", Seq: seq, Kind: contractv1.EventKind_PHASE}, nil) {
				return
			}
		}
		<-ctx.Done()
		yield(nil, ctx.Err())
	}
}

// Where a robot is slow to tell how a mission stands, what is on record counts if it says more, with the number of the line
// that says so: a mission that ended is never told as one that goes on, or as unknown.
//
// Verifies: U166
func TestASlowRobotsMissionsEndAsOnRecord(t *testing.T) {
	ended := begun{Mission: "m1", record: 9, last: &contractv1.Event{MissionId: "m1", Seq: 5, Kind: contractv1.EventKind_VERIFIED, Final: true}}
	goesOn := begun{Mission: "m1", record: 6, last: &contractv1.Event{MissionId: "m1", Seq: 2, Kind: contractv1.EventKind_STARTED}}
	intended := begun{Mission: "m1", record: 4}
	for name, c := range map[string]struct {
		b      begun
		tells  uint64
		state  string
		source string
		record uint64
	}{
		"ended, and nothing is told":    {ended, 0, "verified", fromRecord, 9},
		"ended, and less is told":       {ended, 3, "verified", fromRecord, 9},
		"goes on, and nothing is told":  {goesOn, 0, "started", fromRecord, 6},
		"goes on, and more is told":     {goesOn, 3, "phase", fromRobot, 0},
		"intended, and nothing is told": {intended, 0, "intended", fromRecord, 4},
		"intended, and more is told":    {intended, 1, "phase", fromRobot, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := stateOfMission(t.Context(), slow{tells: c.tells}, c.b)
			if s.State != c.state || s.Source != c.source || s.Record != c.record || s.Final != (c.state == "verified") || (s.Says != "") != (c.source == fromRecord) {
				t.Errorf("%s: %+v", name, s)
			}
		})
	}
}

// The reason of a mission's end is printed once, whoever prints it: as the event's reason, as what the failure says, or as
// both where each says something of its own.
//
// Verifies: U126
func TestAReasonIsPrintedOnce(t *testing.T) {
	for name, c := range map[string]struct{ reason, further, want string }{
		"the same":        {"lease_lost: disconnected", "lease_lost: disconnected", ""},
		"with its detail": {"lease_lost", "lease_lost: disconnected", "disconnected"},
		"without it":      {"lease_lost: disconnected", "lease_lost", ""},
		"another":         {"timeout", "not measured: tip", "not measured: tip"},
		"only one":        {"", "z = 3 cm", "z = 3 cm"},
		"none":            {"stop: 3", "", ""},
		"two reasons":     {"stop: 3", "fault: stop", "fault: stop"},
	} {
		e := &contractv1.Event{
			MissionId: "m1", Seq: 6, Kind: contractv1.EventKind_INTERRUPTED, Final: true, Reason: c.reason, Failure: &contractv1.FailureRecord{ReplanReason: c.further},
		}
		if got := furtherReason(c.reason, c.further); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		told := missionEvent(e)
		text := palette{}.human(&told) + "\n" + endStatus(e).Error()
		for _, part := range []string{c.reason, c.further} {
			if strings.Count(text, part) > 1 && part != "" {
				t.Errorf("%s: %q is said twice in %q", name, part, text)
			}
		}
		if !strings.Contains(text, c.reason) || !strings.Contains(text, c.want) {
			t.Errorf("%s: something is not said in %q", name, text)
		}
	}
}
