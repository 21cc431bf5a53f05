package audit

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
)

// Disk is every file operation of a record: the only way from this package to a file system. Names are those of files in
// the record's folder. Errors are the system's; one of a missing file is fs.ErrNotExist.
type Disk interface {
	// Lock takes the record for writing, or returns ErrLocked.
	Lock() (unlock func() error, err error)
	// List returns the names in the folder, in any order.
	List() ([]string, error)
	// Open opens a file for reading.
	Open(name string) (io.ReadSeekCloser, error)
	// Create makes a file for appending. One of the name is emptied if anew, and is an error otherwise.
	Create(name string, anew bool) (File, error)
	// Rename gives a file another name, and replaces whatever had it.
	Rename(from, to string) error
	// SyncDir makes the names durable.
	SyncDir() error
	// Holds returns an error unless the name still leads to the file, in the folder that the record was opened in.
	Holds(name string, f File) error
}

// File is one that is appended to.
type File interface {
	io.WriteCloser
	// Sync makes what was written durable. After an error nothing is known of what was written since the Sync before.
	Sync() error
}

// Names in a record's folder.
const (
	segmentSuffix = ".jsonl"
	tornSuffix    = ".torn"
	freshSuffix   = ".tmp"
	lockName      = "lock"
	maxSegment    = 99_999_999
)

// segmentName matches the names of segments and what was put aside, and nothing else.
var segmentName = regexp.MustCompile(`^([0-9]{8})(\.jsonl|\.torn)$`)

func nameOf(segment int, suffix string) string { return fmt.Sprintf("%08d%s", segment, suffix) }

// numbersOf returns the numbers of the files with the suffix, ascending.
func numbersOf(names []string, suffix string) (numbers []int) {
	for _, name := range names {
		m := segmentName.FindStringSubmatch(name)
		if m == nil || m[2] != suffix {
			continue
		}
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers
}
