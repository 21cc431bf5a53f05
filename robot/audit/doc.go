// Package audit keeps the record of a robot: what it was asked, what it meant to do before it did it, what happened, and
// what was measured. A record is written once and never changed; if it is changed all the same, that shows.
//
// # The folder
//
// A record is a folder, of mode 0700, with files of mode 0600:
//
//	NNNNNNNN.jsonl  a segment; NNNNNNNN is its number, eight decimal digits, counted from 00000001
//	NNNNNNNN.torn   bytes that were taken off the end of that segment, because a crash left half a line there or because
//	                they could not be made durable; they are no part of the record and nothing reads them
//	NNNNNNNN.tmp    a segment that is being mended; no part of the record
//	lock            empty; whoever writes the record holds an exclusive flock(2) on it
//
// The record is the lines of its segments, in the order of their numbers. A segment may be empty. A number may be missing:
// what lines there must be is told by the lines, not by the names.
//
// # The line
//
// Each line is one record and ends with one newline, byte 0x0a:
//
//	{"seq":SEQ,"prev":"PREV","record":RECORD,"hash":"HASH"}
//
// There is no white space besides what RECORD may hold, and these four members stand in this order, written in exactly
// these bytes.
//
//	SEQ     decimal, without a sign or leading zeros: 1 for the first line of the first segment, and one more for each
//	        line after it, across segments
//	PREV    the HASH of the line before, across segments; sixty-four zeros for the first line
//	RECORD  a JSON object: the message interlock.v1.AuditRecord of contract/v1/audit.proto in protobuf's JSON form, with
//	        the field names of the .proto file, and without a raw newline
//	HASH    SHA-256, as 64 lower-case hexadecimal digits, of the line's bytes from its opening brace up to, and without,
//	        the comma before "hash"
//
// A line has at most MaxLine bytes, newline included. A verifier splits a segment at the newlines; takes the last 75 bytes
// of each line, which must be `,"hash":"`, 64 digits, `"}`; hashes the bytes before them and compares the digits as text;
// and checks SEQ and PREV against the line before. That finds every changed, added, missing or moved byte in what it was
// given. It cannot find that lines are missing from the end, or that a whole record was written anew by somebody who can
// compute SHA-256: for that, keep a checkpoint, SEQ:HASH of some line, where the robot cannot reach it. A record that was
// only added to since still holds it.
//
// # What the records must say
//
// Beyond the chain, Verify holds the records to what a robot may do. In the order of the lines:
//
//	intent       a mission's STARTED, PHASE, ARRIVED, VERIFIED or UNVERIFIED event follows an Intent of that mission id which
//	             no Void has taken back; an id has no second Intent unless a Void took the first one back
//	void         a Void names a mission with an Intent, and none that began to move
//	event_seq    the events of a mission are numbered from 1 without gaps; after a Lost a mission that was open there may
//	             go on with any higher number, once
//	end          an end (VERIFIED, FAILED, UNVERIFIED, CANCELLED, ABORTED, INTERRUPTED) is marked final, nothing else is,
//	             and no event of the mission follows it
//	resumed      after an Opened, a mission of an earlier process neither starts, moves, arrives nor is verified
//	evidence     a VERIFIED event rests on evidence: each item of it names condition, fact, witness, what was observed
//	             and the threshold, was measured after the motion began, and is of no negative age
//	approval     an approval is used once: by one Intent that was not taken back, and in one ApprovalChange USED
//	incarnation  an Opened counts higher than the one before, from 1 on
//	lost         a Lost names the line before it
//
// # Writing
//
// Append marshals and queues; one goroutine writes what is queued as one batch, calls fsync once for all of it, and then
// answers in the order of the appends. A record is durable once its answer came without an error, and not before.
//
// A write or fsync that failed is never tried again in the same file: after a failed fsync a kernel may mark pages as clean
// that never reached the disk. The segment is closed, every record of the batch and every later one is answered with
// AUDIT_UNAVAILABLE, and Err says why. A later append, after a pause that doubles, tries again: the bytes that are known to
// be durable are copied into a fresh file, which is made durable and takes the segment's name; what lay behind them goes
// into a .torn file; and a new segment begins with a Lost, chained to the last durable record. (Where nothing in the
// segment was durable, the fresh file is that new segment.) The same mending is done by Open for a segment that no Closed
// ends, so that a new process never builds on lines that only the kernel's cache holds.
//
// Open verifies the whole record first. Half a line at the very end, as a crash leaves it, is put aside and told with a
// Lost. Whatever else does not verify is refused: a robot must not add to a record that is broken.
//
// # Reading
//
// Verify and Reader take no lock and may read while a robot writes. Lines that are not durable yet may be seen; a Reader
// notices when some of them were taken back.
//
// The package must never decide anything, change a line that was answered, answer before the disk did, or wait for the disk
// in Append.
package audit
