package robot_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/robot/audit"
)

// kept is a real record with a hand on what it says: answers can be held back, and disks can fail.
type kept struct {
	*audit.Log

	mu   sync.Mutex
	hold bool
	held []func()
	sick error
	dead bool
}

// Append implements robot.Journal.
func (k *kept) Append(r *contractv1.AuditRecord, then func(error)) {
	k.mu.Lock()
	sick, dead := k.sick, k.dead
	k.mu.Unlock()
	switch {
	case dead:
		return
	case sick != nil:
		then(sick)
		return
	}
	k.Log.Append(r, func(err error) {
		k.mu.Lock()
		if k.dead {
			k.mu.Unlock()
			return
		}
		if k.hold {
			k.held = append(k.held, func() { then(err) })
			k.mu.Unlock()
			return
		}
		k.mu.Unlock()
		then(err)
	})
}

func (k *kept) holdBack() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.hold = true
}

func (k *kept) letGo() {
	k.mu.Lock()
	held := k.held
	k.hold, k.held = false, nil
	k.mu.Unlock()
	for _, tell := range held {
		tell()
	}
}

// die makes it the record of a robot that has died: nothing more is written, and nobody is answered.
func (k *kept) die() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dead = true
}

func (k *kept) break_(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sick = err
}

// folder is one that only this user may enter.
func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "record")
	check(t, os.Mkdir(dir, 0o700))
	return dir
}

// recorded runs a test on a rig whose robot keeps its record in dir.
func recorded(t *testing.T, dir string, s set, test func(*testing.T, *rig, *kept)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(s.after)
		log, past, err := audit.Open(dir, audit.Options{})
		check(t, err)
		k := &kept{Log: log}
		s.journal, s.past = k, past
		r := newRig(t, s)
		test(t, r, k)
		if err := errors.Join(r.close(), log.Close()); err != nil {
			t.Errorf("the robot ended with %v", err)
		}
	})
	report, err := audit.Verify(dir, audit.VerifyOptions{})
	if err != nil || report.Fault != nil {
		t.Errorf("the record does not verify: %v, %v", report.Fault, err)
	}
}

// TestIntentIsDurableBeforeMotion: while the record of a cleared call is being written nothing moves, the call is not
// answered, and a cancel or a stop that comes meanwhile wins.
//
// Verifies: P26, F15, K110
func TestIntentIsDurableBeforeMotion(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(*rig)
		codes     string // of the answer; empty: accepted
	}{
		"nothing":  {func(*rig) {}, ""},
		"a stop":   {func(r *rig) { r.guard.Stop("test") }, "STOPPED"},
		"a cancel": {func(r *rig) { _, _ = r.client.Cancel(r.t.Context(), &contractv1.CancelRequest{MissionId: "m1"}) }, "CONFLICT"},
		"a second start": {func(r *rig) {
			r.refused(request("m2", "move_to", there, ""), "BUSY")
			r.refused(request("m1", "move_to", moveTo(18, -5, 12), ""), "CONFLICT")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			recorded(t, folder(t), set{}, func(t *testing.T, r *rig, k *kept) {
				k.holdBack()
				acks := make(chan *contractv1.MissionAck, 2)
				for range 2 { // the same start twice is one mission
					go func() { acks <- r.start(request("m1", "move_to", there, "")) }()
				}
				synctest.Wait()
				if c.meanwhile(r); r.sent() > 0 || len(acks) > 0 {
					t.Errorf("%d setpoints and %d answers before the intent is durable", r.sent(), len(acks))
				}
				k.letGo()
				first, second := <-acks, <-acks
				if codesOf(first.GetRejections()) != c.codes || codesOf(second.GetRejections()) != c.codes {
					t.Fatalf("answered %v and %v, want %q", first, second, c.codes)
				}
				if c.codes != "" {
					if r.sent() > 0 {
						t.Errorf("%d setpoints of a mission that never began", r.sent())
					}
					return
				}
				if first.GetDuplicate() == second.GetDuplicate() {
					t.Errorf("of two equal starts one is the repetition: %v, %v", first, second)
				}
				r.ends("m1", "VERIFIED")
			})
		})
	}
}

// TestNothingMovesOffTheRecord: with a record that cannot be written a motion is refused, a running one is ended, looking
// and a stop still work, and all is well again once it can be.
//
// Verifies: P27, P04, K111
func TestNothingMovesOffTheRecord(t *testing.T) {
	recorded(t, folder(t), set{}, func(t *testing.T, r *rig, k *kept) {
		sick := errors.New("no space left on device")
		k.break_(sick)
		rs := r.refused(request("m1", "move_to", there, ""), "AUDIT_UNAVAILABLE")
		if rs[0].GetRetry() != "later" || r.sent() > 0 {
			t.Errorf("%v, %d setpoints", rs, r.sent())
		}
		task, err := r.client.OpenTask(t.Context(), &contractv1.OpenTaskRequest{Words: "go", Provenance: "person"})
		if check(t, err); codesOf(task.GetRefusals()) != "AUDIT_UNAVAILABLE" {
			t.Errorf("a task that nobody could look up: %v", task)
		}
		if ack := r.start(request("look", "get_state", "{}", "")); !ack.GetAccepted() {
			t.Errorf("looking: %v", ack)
		}
		k.break_(nil)
		resume := r.pauseAfter(20)
		r.accepted("m1", "move_to", there, "")
		synctest.Wait()
		k.break_(sick)
		resume()
		r.ends("m1", "ABORTED(fault)")
		if number := r.guard.Stop("test"); number != 1 || !r.guard.Latch().Stopped {
			t.Errorf("stop %d", number)
		}
		k.break_(nil)
		r.refused(request("m2", "move_to", there, ""), "STOPPED")
		check(t, r.guard.Reset(1))
		r.accepted("m2", "move_to", moveTo(18, -5, 12), "")
		r.ends("m2", "VERIFIED")
	})
}

// TestAClaimIsOnRecordOrSaysThatItIsNot: a claim that could not be written down says so, also when it is made again, and is
// on record once it says nothing.
//
// Verifies: P26, K137
func TestAClaimIsOnRecordOrSaysThatItIsNot(t *testing.T) {
	dir := folder(t)
	recorded(t, dir, set{}, func(t *testing.T, r *rig, k *kept) {
		task := r.open(elsewhere)
		k.break_(errors.New("no space left on device"))
		for range 2 {
			if got := r.claim(task, true).GetRefusals(); codesOf(got) != "AUDIT_UNAVAILABLE" {
				t.Errorf("a claim off the record: %v", got)
			}
		}
		k.break_(nil)
		if got := r.claim(task, true).GetRefusals(); len(got) > 0 {
			t.Errorf("a claim on the record: %v", got)
		}
	})
	text := string(must(os.ReadFile(filepath.Join(dir, "00000001.jsonl"))))
	if !strings.Contains(strings.ReplaceAll(text, " ", ""), `"claim":{"reported":true,"success":true`) {
		t.Error("the claim is not in the record")
	}
}

// life is a robot's day: two missions, a refusal, a task with a claim, a stop.
func life(r *rig) {
	r.accepted("m1", "move_to", there, "")
	r.ends("m1", "VERIFIED")
	r.start(request("no", "move_to", `{"x_cm":20,"y_cm":0,"z_cm":-5}`, ""))
	task := r.open(elsewhere)
	r.accepted("m2", "move_to", moveTo(20, 0, 10), task)
	r.ends("m2", "VERIFIED")
	r.claim(task, true)
	r.guard.Stop("done for today")
	r.observe()
}

// TestCrashAtEveryRecord: whatever a crash leaves of the record, the next robot begins, moves nothing by itself, tells every
// mission's end, and takes no start for a new one that was begun before.
//
// Verifies: P20, P26, F04, K112
func TestCrashAtEveryRecord(t *testing.T) {
	whole := folder(t)
	recorded(t, whole, set{}, func(_ *testing.T, r *rig, _ *kept) { life(r) })
	text, err := os.ReadFile(filepath.Join(whole, "00000001.jsonl"))
	check(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	if len(lines) < 15 {
		t.Fatalf("the day has %d records only", len(lines))
	}
	for n := range len(lines) {
		dir := folder(t)
		left := strings.Join(lines[:n], "")
		if n%3 == 1 { // and half of the next
			left += lines[n][:len(lines[n])/2]
		}
		check(t, os.WriteFile(filepath.Join(dir, "00000001.jsonl"), []byte(left), 0o600))
		recorded(t, dir, set{}, func(t *testing.T, r *rig, _ *kept) { r.survives(n, left) })
	}
}

// survives holds a robot against what was left of the record of life.
func (r *rig) survives(n int, left string) {
	r.t.Helper()
	left = strings.ReplaceAll(left[:strings.LastIndexByte(left, '\n')+1], " ", "") // protobuf's JSON puts spaces where it likes
	for id, q := range map[string]*contractv1.StartRequest{
		"m1": request("m1", "move_to", there, ""), "m2": request("m2", "move_to", moveTo(20, 0, 10), "task-1"),
	} {
		if !strings.Contains(left, `"intent":{"mission_id":"`+id+`"`) {
			continue
		}
		if ack := r.start(q); id == "m1" && !ack.GetDuplicate() || ack.GetAccepted() && !ack.GetDuplicate() {
			r.t.Errorf("after %d records: the start of %s again: %v", n, id, ack)
		}
		want := "INTERRUPTED(restart)"
		if _, of, _ := strings.Cut(left, `"event":{"mission_id":"`+id+`"`); strings.Contains(of, `"kind":"VERIFIED"`) {
			want = "VERIFIED"
		}
		r.ends(id, want)
	}
	if r.sent() > 0 {
		r.t.Errorf("after %d records: %d setpoints", n, r.sent())
	}
	r.accepted("next", "move_to", moveTo(18, -5, 12), "")
	r.ends("next", "VERIFIED")
}
