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

// put keeps a line in its place. Where there are too many the oldest goes that is no event: the state that came after it says
// more.
func (o *owed) put(d *debt) {
	at := len(o.list)
	for at > 0 && o.list[at-1].number > d.number {
		at--
	}
	o.list = slices.Insert(o.list, at, d)
	if len(o.list) > mostOwed {
		gone := slices.IndexFunc(o.list, func(d *debt) bool { return d.record.GetEvent() == nil })
		o.list = slices.Delete(o.list, max(0, gone), max(0, gone)+1)
	}
}
