package robot

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot/mission"
	"interlock/units"
)

// Journal keeps the record. What is appended is durable once then is called without an error; then is called once, from
// any goroutine, in the order of the appends, and must not wait. Append itself never waits for a disk.
type Journal interface {
	Append(r *contractv1.AuditRecord, then func(error))
}

// record is the robot's side of its journal.
type record struct {
	journal Journal // nil: no record is kept, and everything happens at once
	durable mailbox
	broken  atomic.Pointer[error] // why the latest record could not be made durable; nil: it was
	missed  atomic.Uint64         // refusals that there was no room for
	owed    owed                  // what happened and is not on record

	untaken  map[string]bool // ids and approvals of intents whose Void is not on record
	budgets  map[string]*budget
	opened   bool          // the record says that this robot began
	refusals int           // written down in the second that began at since
	since    units.Instant // of the robot's own time
	latch    latchSeen
	unclosed []*request // tasks on record whose last word is not
}

// latchSeen is the driver's latch as it was last written down.
type latchSeen struct {
	stopped bool
	number  uint64
	reason  string // of a stop; a robot's own stop under a closed latch adds its cause here and keeps the number
	known   bool
}

// Bounds of what is written down about refusals: an agent that is refused all day must not fill the disk.
const (
	refusalsPerSecond = 20
	recordedArgs      = 4 << 10 // bytes of refused arguments
)

// append writes one record down; then is called once it is durable or cannot be made so.
func (r *Robot) append(rec *contractv1.AuditRecord, then func(error)) {
	rec.AtMs = r.now().Millis()
	switch {
	case r.record.journal == nil:
		then(nil)
	case tells(rec):
		r.tell(rec, then)
	default:
		r.write(rec, then)
	}
}

// write gives the journal one record. A record that failed says that nothing may move, until one is durable again.
func (r *Robot) write(rec *contractv1.AuditRecord, then func(error)) {
	r.record.journal.Append(rec, func(err error) {
		if err == nil {
			r.record.broken.Store(nil)
		} else if rec.GetRefused() == nil { // refusals have less room than the rest
			r.record.broken.Store(&err)
		}
		then(err)
	})
}

// note writes down what nothing waits for.
func (r *Robot) note(rec *contractv1.AuditRecord) { r.append(rec, func(error) {}) }

// whenDurable runs f on the loop once the record is durable, or tells it why that cannot be. Without a journal that is
// now.
func (r *Robot) whenDurable(rec *contractv1.AuditRecord, f func(error)) {
	if r.record.journal == nil {
		f(nil)
		return
	}
	r.append(rec, func(err error) { r.record.durable.put(func() { f(err) }) })
}

// mailbox is what the journal tells the loop. Putting never waits.
type mailbox struct {
	mu   sync.Mutex
	list []func()
	wake chan struct{}
}

func (b *mailbox) put(f func()) {
	b.mu.Lock()
	b.list = append(b.list, f)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default: // it is awake already
	}
}

// take empties the box.
func (b *mailbox) take() []func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.list
	b.list = nil
	return list
}

// noteRefusal writes down a refused start, as far as there is room: what was left out is counted in the next one.
func (r *Robot) noteRefusal(q *contractv1.StartRequest, principal string, l reject.List) {
	rec := &r.record
	if rec.journal == nil {
		return
	}
	if r.now().Sub(rec.since) >= time.Second {
		rec.since, rec.refusals = r.now(), 0
	}
	if rec.refusals++; rec.refusals > refusalsPerSecond {
		rec.missed.Add(1)
		return
	}
	args := q.GetArgsJson()
	missed := rec.missed.Swap(0)
	r.append(&contractv1.AuditRecord{What: &contractv1.AuditRecord_Refused{Refused: &contractv1.Refused{
		MissionId: bounded(q.GetMissionId(), maxID), Capability: bounded(q.GetCapability(), maxID), ArgsJson: args[:min(len(args), recordedArgs)],
		TaskId: bounded(q.GetTaskId(), maxID), Principal: principal, Rejections: rejectionsPB(l), NotRecorded: missed,
	}}}, func(err error) {
		if err != nil {
			rec.missed.Add(missed + 1)
		}
	})
}

// bounded is the text up to so many bytes, and never half a letter.
func bounded(s string, bytes int) string { return strings.ToValidUTF8(s[:min(len(s), bytes)], "") }

// budget is how much one caller may still have written down: what fills a disk is bounded by time.
type budget struct {
	left float64
	at   units.Instant
}

// A caller may have so many things written down at once, and so many a second after that, beside its motions.
const (
	notesAtOnce    = 60
	notesPerSecond = 10
	keptBudgets    = 64 // callers; each has a token or is a user, so there are few
)

// mayNote refuses what the caller wants written down, where it has had much written lately.
func (r *Robot) mayNote(principal string) *reject.Rejection {
	if r.record.journal == nil {
		return nil
	}
	b := r.record.budgets[principal]
	if b == nil {
		if len(r.record.budgets) >= keptBudgets {
			clear(r.record.budgets)
		}
		b = &budget{left: notesAtOnce, at: r.now()}
		r.record.budgets[principal] = b
	}
	b.left = min(notesAtOnce, b.left+notesPerSecond*r.now().Sub(b.at).Seconds())
	b.at = r.now()
	if b.left < 1 {
		refusal := reject.New(reject.Overloaded, "this caller has had too much written down; come back later").By("record")
		refusal.AfterMS = int(1000 / notesPerSecond)
		return &refusal
	}
	b.left--
	return nil
}

// noteTask writes down a task as it was opened, claimed, closed or resolved, and calls then on the loop. What is on record
// already is not written again; a record that failed, or that is still being written, is no record.
func (r *Robot) noteTask(q *request, then func(error)) {
	now := taskPB(q)
	if q.writing == 0 && proto.Equal(q.recorded, now) {
		then(nil)
		return
	}
	change := &contractv1.TaskChange{Task: now, Principal: q.principal}
	if q.recorded == nil { // the words are written once
		change.Words, change.Provenance = q.words, q.provenance
	}
	q.recorded = now
	q.writing++
	r.whenDurable(&contractv1.AuditRecord{What: &contractv1.AuditRecord_Task{Task: change}}, func(failed error) {
		q.writing--
		if q.onRecord = q.onRecord || failed == nil; failed != nil {
			q.recorded = nil
		}
		then(failed)
	})
}

// noteClosed writes down that a task has closed, unless the claim that closed it was, or is being, written down as such. One
// that was opened on record is closed there, late where it must be.
func (r *Robot) noteClosed(q *request) {
	if r.record.journal != nil && !proto.Equal(q.recorded, taskPB(q)) {
		r.noteTask(q, func(failed error) {
			if failed != nil && q.onRecord {
				r.record.unclosed = append(r.record.unclosed, q)
			}
		})
	}
}

// noteLatch writes down a stop, a further cause of it, or a reset that was observed.
func (r *Robot) noteLatch() {
	now := r.senses.last.Latch
	seen := latchSeen{stopped: now.Stopped, number: now.Number, known: true}
	if now.Stopped { // what a driver still says of a stop that was reset is nothing new
		seen.reason = now.Reason
	}
	if !r.record.opened || seen == r.record.latch {
		return
	}
	if before := r.record.latch; before.known && (seen.stopped || seen.number != before.number) && r.cfg.Desk != nil {
		r.withdrawn(r.cfg.Desk.WithdrawAll()) // what was allowed before a stop is past, also before one of a driver that counts anew
	}
	r.record.latch = seen
	r.note(&contractv1.AuditRecord{What: &contractv1.AuditRecord_Latch{Latch: &contractv1.LatchChange{
		Stopped: now.Stopped, Number: now.Number, Reason: now.Reason,
	}}})
}

// watchRecord ends a motion whose record cannot be kept: what moves must be on record.
func (r *Robot) watchRecord(m *motion) {
	if err := r.record.broken.Load(); err != nil && r.record.journal != nil {
		m.trouble = (*err).Error()
		r.step(m, mission.Fault{At: r.now(), Code: "audit_unavailable", Detail: (*err).Error()})
	}
}

// unavailable is the refusal of what cannot be put on record.
func unavailable(err error) reject.Rejection {
	says := err.Error()
	var why reject.Rejection
	if errors.As(err, &why) {
		says = why.Says
	}
	refusal := reject.New(reject.AuditUnavailable, "nothing may move that is not on record: "+says).In("audit")
	refusal.Retry, refusal.AfterMS = reject.Later, 1000
	return refusal
}
