package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"

	contractv1 "interlock/contract/v1"
)

// The bytes of a line around its parts.
const (
	beforeSeq    = `{"seq":`
	beforePrev   = `,"prev":"`
	beforeRecord = `","record":`
	beforeHash   = `,"hash":"`
	lineEnd      = `"}`

	hexSize  = 2 * sha256.Size
	hashSize = len(beforeHash) + hexSize + len(lineEnd) // what the hash does not cover
	// lineAround is the most that a line holds besides its record: twenty digits of a number, and the newline.
	lineAround = len(beforeSeq) + 20 + len(beforePrev) + hexSize + len(beforeRecord) + hashSize + 1
)

// MaxLine is the longest line, in bytes, newline included. A mission's last event, with every fact of a full table, has a
// few KiB.
const MaxLine = 1 << 20

// digest is a SHA-256.
type digest [sha256.Size]byte

// Checkpoint names one line: its number and its hash, the state of the chain behind it. Its zero value is the beginning.
type Checkpoint struct {
	Seq  uint64
	Hash [sha256.Size]byte
}

// String returns SEQ:HASH, as ParseCheckpoint reads it.
func (c Checkpoint) String() string { return fmt.Sprintf("%d:%x", c.Seq, c.Hash) }

// MarshalText makes it SEQ:HASH in JSON.
func (c Checkpoint) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// ParseCheckpoint reads SEQ:HASH.
func ParseCheckpoint(text string) (c Checkpoint, err error) {
	number, hash, _ := strings.Cut(text, ":")
	seq, ok := plainNumber([]byte(number))
	if !ok || len(hash) != hexSize || hash != strings.ToLower(hash) {
		return c, fmt.Errorf("%.100q is no checkpoint: it is SEQ:HASH, as audit verify prints it", text)
	}
	if _, err := hex.Decode(c.Hash[:], []byte(hash)); err != nil {
		return Checkpoint{}, fmt.Errorf("%.100q is no checkpoint: %w", text, err)
	}
	c.Seq = seq
	return c, nil
}

// follow takes the next line of the chain, or says why it is not the next.
func (c *Checkpoint) follow(l *line) *Fault {
	if l.seq != c.Seq+1 {
		return broken(RuleSeq, "record %d follows record %d", l.seq, c.Seq)
	}
	if l.prev != c.Hash {
		return broken(RuleChain, "it follows another record %d, of hash %x, than the one before it", c.Seq, l.prev)
	}
	c.Seq, c.Hash = l.seq, l.hash
	return nil
}

// line is one line, checked by itself.
type line struct {
	seq        uint64
	prev, hash digest
	text       []byte // of the record
	record     *contractv1.AuditRecord
}

// appendLine appends the line of a record, newline included, and moves the chain on.
func appendLine(b []byte, c *Checkpoint, record []byte) []byte {
	begin := len(b)
	b = append(b, beforeSeq...)
	b = strconv.AppendUint(b, c.Seq+1, 10)
	b = append(b, beforePrev...)
	b = hex.AppendEncode(b, c.Hash[:])
	b = append(b, beforeRecord...)
	b = append(b, record...)
	c.Seq, c.Hash = c.Seq+1, sha256.Sum256(b[begin:])
	b = append(b, beforeHash...)
	b = hex.AppendEncode(b, c.Hash[:])
	return append(b, lineEnd+"\n"...)
}

// readLine checks one line, newline not included, by itself. Its hash comes first: a line that was changed is told as that,
// whatever the change made of it.
func readLine(b []byte) (l line, f *Fault) {
	if len(b) < hashSize || len(b) >= MaxLine {
		return l, broken(RuleForm, "a line of %d bytes is no record", len(b))
	}
	covered, end := b[:len(b)-hashSize], b[len(b)-hashSize:]
	told := end[len(beforeHash) : len(beforeHash)+hexSize]
	if !bytes.HasPrefix(end, []byte(beforeHash)) || !bytes.HasSuffix(end, []byte(lineEnd)) {
		return l, broken(RuleForm, "the line does not end with its hash")
	}
	l.hash = sha256.Sum256(covered)
	var text [hexSize]byte
	hex.Encode(text[:], l.hash[:])
	if !bytes.Equal(text[:], told) {
		return l, broken(RuleHash, "the line was changed: its bytes have the hash %s, and it says that they have %q", text[:], told)
	}
	if l.text, f = l.head(covered); f != nil {
		return l, f
	}
	l.record = new(contractv1.AuditRecord)
	if err := protojson.Unmarshal(l.text, l.record); err != nil {
		return l, broken(RuleRecord, "it is no record of this version: %s", plainError(err))
	}
	if l.record.What == nil {
		return l, broken(RuleRecord, "it says nothing, or something that this version does not know")
	}
	return l, nil
}

// head reads what stands before the record, and returns the record.
func (l *line) head(b []byte) (record []byte, f *Fault) {
	number, rest, _ := bytes.Cut(b, []byte(beforePrev))
	number, begins := bytes.CutPrefix(number, []byte(beforeSeq))
	seq, is := plainNumber(number)
	if !begins || !is || len(rest) < hexSize+len(beforeRecord) {
		return nil, broken(RuleForm, "the line does not begin with its number")
	}
	if n, err := hex.Decode(l.prev[:], rest[:hexSize]); err != nil || n != sha256.Size || bytes.ContainsAny(rest[:hexSize], "ABCDEF") {
		return nil, broken(RuleForm, "the line does not name the one before it")
	}
	record, is = bytes.CutPrefix(rest[hexSize:], []byte(beforeRecord))
	if !is || len(record) == 0 || record[0] != '{' {
		return nil, broken(RuleForm, "the line holds no record")
	}
	l.seq = seq
	return record, nil
}

// plainNumber reads decimal digits without a sign or leading zeros.
func plainNumber(b []byte) (uint64, bool) {
	n, err := strconv.ParseUint(string(b), 10, 64)
	return n, err == nil && string(strconv.AppendUint(nil, n, 10)) == string(b)
}

// recordText is a record as it stands in its line.
func recordText(r *contractv1.AuditRecord) ([]byte, error) {
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(r)
	if err != nil {
		return nil, errors.New(plainError(err))
	}
	return compacted(text)
}

// compacted takes white space out, which protobuf's encoder puts in at random.
func compacted(text []byte) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(len(text))
	err := json.Compact(&b, text)
	return b.Bytes(), err
}

// plainError is the error of protobuf's decoder without its prefix, which differs from build to build.
func plainError(err error) string {
	text := strings.ReplaceAll(err.Error(), "\u00a0", " ")
	return strings.TrimSpace(strings.TrimPrefix(text, "proto:"))
}
