package robot_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// unshown are names that would not be shown as they are: control characters, marks that turn text around, and what prints as
// nothing.
var unshown = []string{
	"a\x1b[31m\x00b\nc", "\x00", "a\tb", "a\rb", "a\x7f", "a\u0085b", "\u202eevil", "a\u2066b\u2069", "a\u200fb", "\u061c", "a\u200bb", "\ufeff", "a\u2028b",
	"a\u00a0b", "a\u00adb", "\U000e0041", "\ue000", "a\u3000b", "a\u2009b", "a\u2060b",
	// A joiner that joins nothing.
	"\u200d", "\u200c", "\u200da", "a\u200d", "\u200ca", "a\u200c", "a\u200d\u200db", "a\u200c\u200cb", "a\u200c\u200db", "a\u200d\u200cb", "a \u200db",
	"a\u200d b", "a\u200c b", "a \u200cb", "a\u200d\u202eb", "a\u200b\u200db", "a\u3000\u200db", "a\u200d\nb", "a\u200db\u200d",
}

// shownAsTheyAre are names of the shipped brains and of people everywhere.
var shownAsTheyAre = []string{
	"m1", "chat-1a2b-m-1", "7c9e6679-7425-40de-944b-e07fe5e8d6b4", "a b", "wave/2026-11-30T12:00:00Z", "'quoted' \"too\"", "küche-1", "任務-1", "e\u0301", "🙂",
	"می\u200cخواهم", "क्\u200dष", "क्\u200cष", "👩\u200d👩\u200d👧", "❤\ufe0f\u200d🔥", "क\u200d्\u200cष",
	strings.Repeat("x", 128),
}

// TestNamesArePrintable: a name that a caller chooses can be shown to others as it is, or nothing comes of the call: no intent,
// no task, no lease.
//
// Verifies: T68, T82
func TestNamesArePrintable(t *testing.T) {
	dir := folder(t)
	recorded(t, dir, set{}, func(t *testing.T, r *rig, _ *kept) {
		for _, name := range unshown {
			if !utf8.ValidString(name) {
				t.Fatalf("%q has no wire form", name)
			}
			for call, f := range map[string]func() ([]*contractv1.Rejection, error){
				"mission_id": func() ([]*contractv1.Rejection, error) {
					ack, err := r.client.Start(t.Context(), request(name, "move_to", there, ""))
					return ack.GetRejections(), err
				},
				"may_change": func() ([]*contractv1.Rejection, error) {
					task, err := r.client.OpenTask(t.Context(), &contractv1.OpenTaskRequest{Words: "go", Provenance: "person", MayChange: []string{"red cube", name}})
					return task.GetRefusals(), err
				},
				"forbidden": func() ([]*contractv1.Rejection, error) {
					task, err := r.client.OpenTask(t.Context(), &contractv1.OpenTaskRequest{Words: "go", Provenance: "person", Forbidden: []string{name}})
					return task.GetRefusals(), err
				},
				"holder": func() ([]*contractv1.Rejection, error) {
					return r.acquire(name).GetRejections(), nil
				},
			} {
				rs, err := f()
				if err != nil || codesOf(rs) != "OUT_OF_RANGE" || rs[0].GetRule() != "printable" || rs[0].GetField() != call || shows(rs[0].GetGot()) || shows(rs[0].GetSays()) {
					t.Errorf("%s %q: %v, %v", call, name, rs, err)
				}
			}
			if ack := r.start(request("m", name, "{}", "")); ack.GetAccepted() || shows(ack.GetReason()) || shows(ack.GetRejections()[0].GetSays()) {
				t.Errorf("capability %q: %v", name, ack)
			}
			ack, err := r.client.Cancel(t.Context(), &contractv1.CancelRequest{MissionId: name})
			if err != nil || codesOf(ack.GetRejections()) != "NOT_IN_ENUM" || shows(ack.GetRejections()[0].GetSays()) {
				t.Errorf("a cancel of %q: %v, %v", name, ack, err)
			}
		}
		for _, name := range shownAsTheyAre {
			r.accepted(name, "home", "{}", "")
			r.ends(name, "VERIFIED")
		}
		task := r.open(atThere, func(q *contractv1.OpenTaskRequest) {
			q.MayChange, q.Forbidden = []string{"red cube"}, []string{"rote Kiste", "küche"}
		})
		if got := r.observe(); r.sent() == 0 || task != "task-1" {
			t.Errorf("%v", got)
		}
	})
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	check(t, err)
	intents, leases, tasks := 0, 0, 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		check(t, err)
		intents += strings.Count(string(text), `"intent":{`)
		leases += strings.Count(string(text), `"lease":{`)
		tasks += strings.Count(string(text), `"words":`)
	}
	if intents != len(shownAsTheyAre) || leases > 0 || tasks != 1 {
		t.Errorf("on record are %d intents, %d leases and %d tasks", intents, leases, tasks)
	}
}

// shows reports whether the text holds what does not print.
func shows(text string) bool {
	for _, c := range text {
		if c < ' ' || c == 0x7f || strings.ContainsRune("\u0085\u202e\u2066\u2069\u200f\u061c\u200b\ufeff\u2028\u00a0\u00ad\U000e0041\ue000\u3000\u2009\u2060\u200c\u200d", c) {
			return true
		}
	}
	return false
}

// TestNamesOfPersonsArePrintable: a person acts under a name that can be shown to others as it is, or not at all.
//
// Verifies: T68, T82
func TestNamesOfPersonsArePrintable(t *testing.T) {
	run(t, asked(), func(t *testing.T, r *rig) {
		p := r.robot.Person()
		for _, name := range unshown {
			for act, f := range map[string]func() error{
				"approve": func() error {
					_, err := p.Approve(t.Context(), &contractv1.ApproveRequest{Hash: "h", Displayed: "d", By: name})
					return err
				},
				"deny": func() error {
					_, err := p.Deny(t.Context(), &contractv1.DenyRequest{Hash: "h", By: name})
					return err
				},
				"take": func() error {
					_, err := p.Take(t.Context(), &contractv1.TakeRequest{By: name})
					return err
				},
				"give back": func() error {
					_, err := p.GiveBack(t.Context(), &contractv1.GiveBackRequest{By: name})
					return err
				},
				"resolve": func() error {
					_, err := p.Resolve(t.Context(), &contractv1.ResolveRequest{TaskId: "task-1", By: name})
					return err
				},
			} {
				if err := f(); !has(err, reject.OutOfRange) || shows(err.Error()) {
					t.Errorf("%s by %q: %v", act, name, err)
				}
			}
		}
	})
}
