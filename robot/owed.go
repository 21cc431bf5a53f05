package robot

import (
	"errors"
	"slices"
	"sync"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// owed is what happened while it could not be written down. It is appended as soon as the record can be written again, in the
// order in which it happened and before anything of its kind that came later, so that a restart tells what was told.
type owed struct {
	mu     sync.Mutex
	number uint64  // of the latest line that tells what happened
	flying int     // lines that the journal has not answered
	list   []*debt // oldest first
}

// debt is a line that is owed.
type debt struct {
	number uint64
	record *contractv1.AuditRecord
}

// mostOwed bounds what is kept. A mission leaves a few events, since one that is off the record is ended; a person may stop and
// reset for hours.
const mostOwed = 256

// tells reports whether the record says what happened, so that it is still worth a line when it is late. What is asked for
// beforehand, an intent or a task, was refused instead; an Opened is true only where it stands.
func tells(rec *contractv1.AuditRecord) bool {
	switch rec.GetWhat().(type) {
	case *contractv1.AuditRecord_Event, *contractv1.AuditRecord_Latch, *contractv1.AuditRecord_Lease, *contractv1.AuditRecord_Approval:
		return true
	}
	return false
}

// sameTale reports whether two lines must stand in their order: events of one mission, or changes of the same thing.
func sameTale(a, b *contractv1.AuditRecord) bool {
	switch a := a.GetWhat().(type) {
	case *contractv1.AuditRecord_Event:
		return b.GetEvent() != nil && b.GetEvent().GetMissionId() == a.Event.GetMissionId()
	case *contractv1.AuditRecord_Latch:
		return b.GetLatch() != nil
	case *contractv1.AuditRecord_Lease:
		return b.GetLease() != nil && b.GetLease().GetLease().GetResource() == a.Lease.GetLease().GetResource()
	case *contractv1.AuditRecord_Approval:
		return b.GetApproval() != nil && b.GetApproval().GetHash() == a.Approval.GetHash()
	}
	return false
}

// errBehind is what a line is answered that waits behind others.
var errBehind = errors.New("what came before it is not on record yet")

// tell writes down what happened. then is called in any case, once: what happened is told also where it is owed.
func (r *Robot) tell(rec *contractv1.AuditRecord, then func(error)) {
	o := &r.record.owed
	r.catchUp()
	o.mu.Lock()
	o.number++
	d := &debt{o.number, rec}
	if len(o.list) > 0 {
		o.put(d)
		o.mu.Unlock()
		then(errBehind)
		return
	}
	o.flying++
	o.mu.Unlock()
	r.write(rec, func(err error) { o.answered(d, err); then(err) })
}

// catchUp writes down what is owed, and the last word of tasks that closed meanwhile, unless an answer is still to come: then
// nobody knows yet what is owed.
func (r *Robot) catchUp() {
	o := &r.record.owed
	o.mu.Lock()
	list := o.list
	if o.flying > 0 {
		list = nil
	}
	if len(list) > 0 {
		o.flying, o.list = len(list), nil
	}
	o.mu.Unlock()
	for _, d := range list {
		r.write(d.record, func(err error) { o.answered(d, err) })
	}
	tasks := r.record.unclosed
	r.record.unclosed = nil
	for _, q := range tasks {
		r.noteClosed(q)
	}
}

// answered takes the journal's answer. What could not be written is owed, but for what no disk could ever hold. Behind a line
// that stands, nothing older of its kind can be added any more.
func (o *owed) answered(d *debt, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flying--
	if err == nil {
		o.list = slices.DeleteFunc(o.list, func(old *debt) bool { return old.number < d.number && sameTale(old.record, d.record) })
		return
	}
	var no reject.Rejection
	if errors.As(err, &no) && (no.Code == reject.TooLarge || no.Code == reject.Malformed) {
		return
	}
	o.put(d)
}

// put keeps a line in its place. Where there are too many one goes: least says which.
func (o *owed) put(d *debt) {
	at := len(o.list)
	for at > 0 && o.list[at-1].number > d.number {
		at--
	}
	o.list = slices.Insert(o.list, at, d)
	if len(o.list) > mostOwed {
		gone := o.least()
		o.list = slices.Delete(o.list, gone, gone+1)
	}
}

// least is the line that is missed least: the oldest that tells how something stood which has changed since, else the oldest that
// is neither an event nor a person's act. Nothing that came after an act says who did it.
func (o *owed) least() int {
	plain := func(d *debt) bool { return d.record.GetEvent() == nil && !byAPerson(d.record) }
	for i, d := range o.list {
		if plain(d) && slices.ContainsFunc(o.list[i+1:], func(later *debt) bool { return sameTale(d.record, later.record) }) {
			return i
		}
	}
	if i := slices.IndexFunc(o.list, plain); i >= 0 {
		return i
	}
	return max(0, slices.IndexFunc(o.list, func(d *debt) bool { return d.record.GetEvent() == nil }))
}

// byAPerson reports whether the record tells what a person did: approve or deny, take or give back, resolve.
func byAPerson(rec *contractv1.AuditRecord) bool {
	switch what := rec.GetWhat().(type) {
	case *contractv1.AuditRecord_Approval:
		return what.Approval.GetKind() == contractv1.ApprovalChange_APPROVED || what.Approval.GetKind() == contractv1.ApprovalChange_DENIED
	case *contractv1.AuditRecord_Lease:
		return what.Lease.GetLease().GetResource() == "" // only a person holds all of the robot
	case *contractv1.AuditRecord_Task:
		return what.Task.GetTask().GetResolution() != nil
	}
	return false
}

// owes reports whether it is not on record yet that a person allowed the act of this hash.
func (o *owed) owes(hash string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.list, func(d *debt) bool { return d.record.GetApproval().GetHash() == hash })
}

// noteResolved writes down a person's word beside a verdict. The word was taken, so it is told like what happened: late where it
// must be, in its order, and whole, so that the last word of its task is not owed besides.
func (r *Robot) noteResolved(q *request) {
	if r.record.journal == nil {
		return
	}
	if q.writing > 0 { // what is being written of the task may have to be written again, and then says this too
		r.noteTask(q, func(failed error) {
			if failed != nil {
				r.record.unclosed = append(r.record.unclosed, q)
			}
		})
		return
	}
	r.record.unclosed = slices.DeleteFunc(r.record.unclosed, func(u *request) bool { return u == q })
	rec := &contractv1.AuditRecord{AtMs: r.now().Millis(), What: &contractv1.AuditRecord_Task{Task: &contractv1.TaskChange{
		Task: taskPB(q), Principal: q.principal,
	}}}
	r.tell(rec, func(error) {})
}
