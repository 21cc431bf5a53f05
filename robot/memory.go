package robot

import (
	"errors"

	"google.golang.org/protobuf/proto"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// Memory bounds what a robot remembers. Zero fields take the defaults below.
//
// No mission's id is ever forgotten, so that a start that is repeated, however late, never moves the body again: of an
// old mission only the id and the fingerprint of its start are left (about 150 bytes). A robot that has used up its
// ids refuses new missions (OVERLOADED) until it is started anew. Old closed tasks are forgotten whole; the robot
// chooses their ids and never uses one again, so whatever names one is refused.
type Memory struct {
	Missions int // ended missions whose events can still be read
	Tasks    int // closed tasks that can still be asked for
	IDs      int // missions there can ever be
}

// The defaults of Memory: about 20 MB of events, tasks and their facts, and at most 150 MB of ids.
const (
	keptMissions = 1024
	keptTasks    = 1024
	knownIDs     = 1 << 20
)

func (m Memory) validate() error {
	if m.Missions < 0 || m.Tasks < 0 || m.IDs < 0 {
		return errors.New("robot: memory cannot be negative")
	}
	return nil
}

func orDefault(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// maxID is the longest mission id, in bytes.
const maxID = 128

// missions is every mission there was: the latest whole, of the others what makes a repeated start harmless.
type missions struct {
	whole     map[string]*motion
	ended     []string // ids in whole that have ended, oldest first
	past      map[string]fingerprint
	kept, ids int
}

func newMissions(m Memory) missions {
	return missions{
		whole: map[string]*motion{}, past: map[string]fingerprint{},
		kept: orDefault(m.Missions, keptMissions), ids: orDefault(m.IDs, knownIDs),
	}
}

func (ms *missions) add(m *motion) { ms.whole[m.id] = m }

// full reports whether there is no room for the id of one more.
func (ms *missions) full() bool { return len(ms.whole)+len(ms.past) >= ms.ids }

// end notes that the mission has ended, and forgets the oldest one's events.
func (ms *missions) end(m *motion) {
	ms.ended = append(ms.ended, m.id)
	if len(ms.ended) <= ms.kept {
		return
	}
	oldest := ms.ended[0]
	ms.ended = ms.ended[1:]
	ms.past[oldest] = ms.whole[oldest].key
	delete(ms.whole, oldest)
}

// again answers a start whose mission id was used before; nil if it was not.
func (ms *missions) again(id string, key fingerprint) (*contractv1.MissionAck, reject.List) {
	m, whole := ms.whole[id]
	was, past := ms.past[id]
	switch {
	case whole && m.key == key:
		ack := proto.CloneOf(m.ack)
		ack.Duplicate = true
		return ack, nil
	case past && was == key:
		return &contractv1.MissionAck{MissionId: id, Accepted: true, Duplicate: true}, nil
	case whole || past:
		return nil, reject.List{conflicting(id)}
	}
	return nil, nil
}

// find returns the mission for who started it, or why it cannot be had.
func (ms *missions) find(id, principal string) (*motion, reject.List) {
	if id == "" {
		return nil, missing("mission_id", "")
	}
	if m, known := ms.whole[id]; known {
		if m.principal != principal {
			return nil, reject.List{anothers("mission", id)}
		}
		return m, nil
	}
	if _, past := ms.past[id]; past {
		return nil, reject.List{reject.New(reject.NotPermitted, "mission "+quoted(id)+" ended long ago; its events are no longer kept").In("mission_id").By("kept")}
	}
	return nil, reject.List{reject.New(reject.NotInEnum, "no mission "+quoted(id)+" is known").In("mission_id")}
}

// anothers refuses a handle to whoever did not get it: a name is no key.
func anothers(kind, id string) reject.Rejection {
	return reject.New(reject.NotPermitted, kind+" "+quoted(id)+" belongs to another caller").By("principal").In(kind + "_id")
}

// tasks is the open task and the latest closed ones.
type tasks struct {
	known  map[string]*request
	closed []string // ids in known of closed tasks, oldest first
	opened uint64   // tasks opened so far; the number of the latest
	kept   int
}

func newTasks(m Memory) tasks {
	return tasks{known: map[string]*request{}, kept: orDefault(m.Tasks, keptTasks)}
}

func (ts *tasks) add(q *request) {
	ts.opened++
	ts.known[q.id] = q
}

// close notes that the last word on the task was said, and forgets the oldest one.
func (ts *tasks) close(q *request) {
	ts.closed = append(ts.closed, q.id)
	if len(ts.closed) > ts.kept {
		delete(ts.known, ts.closed[0])
		ts.closed = ts.closed[1:]
	}
}

// find returns the task for who opened it, or why it cannot be had.
func (ts *tasks) find(id, principal string) (*request, reject.List) {
	if id == "" {
		return nil, missing("task_id", "")
	}
	if q, known := ts.known[id]; known {
		if q.principal != principal {
			return nil, reject.List{anothers("task", id)}
		}
		return q, nil
	}
	return nil, reject.List{reject.New(reject.NotInEnum, "no task "+quoted(id)+" was opened, or it is no longer kept").In("task_id")}
}
