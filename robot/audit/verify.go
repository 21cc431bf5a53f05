package audit

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

// VerifyOptions of Verify.
type VerifyOptions struct {
	// Checkpoint is a line that the record once held; nil: none is known, and lines missing from the end do not show.
	Checkpoint *Checkpoint
	// Settle is how long a fault must last while the files do not change: a robot may be in the middle of a write. 0 looks
	// once.
	Settle time.Duration
}

// Report is what Verify found.
type Report struct {
	Records  uint64     `json:"records"` // that verify, up to the first fault
	Segments int        `json:"segments"`
	Bytes    int64      `json:"bytes"`
	Missions int        `json:"missions"`
	Gaps     int        `json:"gaps"`      // Lost records among them
	Head     Checkpoint `json:"head"`      // the last of them: a checkpoint to keep
	SetAside []string   `json:"set_aside"` // files with bytes that are no part of the record
	Fault    *Fault     `json:"fault"`     // nil: all of it verifies
}

// Verify reads a whole record and holds it to what this package's documentation asks. It takes no lock: a robot may write
// meanwhile. The error is the file system's, or that the folder holds no record; a record that does not verify is a
// Report with a Fault.
func Verify(dir string, o VerifyOptions) (Report, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Report{}, err
	}
	d, err := openFolder(dir)
	if err != nil {
		return Report{}, err
	}
	defer func() { _ = d.close() }() // nothing was written
	r, err := verify(d, o.Checkpoint)
	for range settleTries {
		if err != nil || r.Fault == nil || o.Settle <= 0 {
			break
		}
		time.Sleep(o.Settle)
		again, late := verify(d, o.Checkpoint)
		same := late == nil && again.Fault != nil && *again.Fault == *r.Fault && again.Bytes == r.Bytes
		if r, err = again, late; same {
			break
		}
	}
	if err == nil && r.Segments == 0 && o.Checkpoint == nil {
		err = fmt.Errorf("%s holds no record", dir)
	}
	return r, err
}

// settleTries bounds how often a record is read that changes all the time.
const settleTries = 10

func verify(d Disk, c *Checkpoint) (r Report, err error) {
	g := newLedger(0)
	s := scan{take: g.take}
	if c != nil {
		s.take = func(l *line) *Fault {
			if l.seq == c.Seq && l.hash != c.Hash {
				return broken(RuleCheckpoint, "record %d was another one once: its hash was %x", c.Seq, c.Hash)
			}
			return g.take(l)
		}
	}
	r.Fault, err = s.walk(d)
	switch {
	case err != nil || r.Fault != nil:
	case len(s.torn) > 0:
		r.Fault = s.tornFault()
	case c != nil && c.Seq > s.head.Seq:
		r.Fault = broken(RuleCheckpoint, "the record ends with record %d, and there once was a record %d", s.head.Seq, c.Seq)
		r.Fault.Seq = s.head.Seq + 1
	case c != nil && c.Seq == 0 && *c != Checkpoint{}:
		r.Fault = broken(RuleCheckpoint, "no record has the number 0")
	}
	r.Records, r.Head = s.head.Seq, s.head
	r.Segments, r.Bytes = len(s.segments), s.bytes
	r.Gaps, r.Missions = g.history.Gaps, len(g.missions)
	return r, s.aside(d, &r, err)
}

// aside lists what lies beside the record.
func (s *scan) aside(d Disk, r *Report, err error) error {
	r.SetAside = []string{}
	if err != nil {
		return err
	}
	names, err := d.List()
	for _, n := range numbersOf(names, tornSuffix) {
		r.SetAside = append(r.SetAside, nameOf(n, tornSuffix))
	}
	slices.Sort(r.SetAside)
	return err
}
