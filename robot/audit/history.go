package audit

import (
	contractv1 "interlock/contract/v1"
)

// History is what a robot must know of its record after a restart. The robot may keep it and change it: nothing else holds
// it.
type History struct {
	Records     uint64     // in the record as it was opened
	Head        Checkpoint // the last of them
	Incarnation uint64     // processes of this record so far; the next one is one more
	Closed      bool       // the last process came to its end in order
	Missions    []*Mission // every one that an Intent or an event names and no Void took back, in the order in which they began
	Voided      []string   // ids whose latest intent was taken back, sorted

	TasksOpened   uint64                  // the highest number of a task
	Approvals     map[string]bool         // hashes of every act whose approval was used, or named by an intent
	LeaseEpoch    uint64                  // the highest epoch of any lease
	RequestNumber uint64                  // the highest number of a request for approval
	Latch         *contractv1.LatchChange // the last one; nil: none
	Robot         string                  // whose record it is, as its last process said; empty: nobody's yet
	Taker         string                  // the person who took the robot and has not given it back; empty: nobody
	TakenEpoch    uint64                  // of that take

	Gaps     int   // Lost records: places where something may be missing
	SetAside int64 // bytes of half a line that this opening put aside
}

// Mission is what the record says of one mission. Of those that ended, all but the latest Options.KeepMissions are known by
// id and fingerprint only: Intent and Events are nil.
type Mission struct {
	ID          string
	Fingerprint []byte
	Intent      *contractv1.Intent  // with the arguments as they were judged
	Events      []*contractv1.Event // all of them
	LastSeq     uint64              // of the latest event; 0: none
	Ended       bool                // its last event is an end
}
