package audit

import (
	"bytes"
	"testing"
)

// Whatever stands in a segment, reading it ends without a panic; what verifies is whole lines of the right numbers; and
// Open and Verify agree about everything but half a line at the end.
func FuzzSegment(f *testing.F) {
	var head Checkpoint
	var text []byte
	for _, r := range append(everyKind()[:2], life("m")[:3]...) {
		record, err := recordText(r)
		if err != nil {
			f.Fatal(err)
		}
		text = appendLine(text, &head, record)
	}
	f.Add(text)
	f.Add(text[:len(text)/2])
	f.Add([]byte("{}\n"))
	f.Add([]byte{0, 0, '\n', '{'})
	f.Fuzz(func(t *testing.T, text []byte) {
		d := newMemory()
		d.put(segmentFile(1), text)
		r, err := verify(d, nil)
		if err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Count(text, []byte{'\n'}); r.Fault == nil && (int(r.Records) != lines || r.Bytes != int64(len(text))) {
			t.Errorf("%d of %d lines verify", r.Records, lines)
		}
		o, err := Options{Disk: d, Now: clock}.filled()
		if err != nil {
			t.Fatal(err)
		}
		l := &Log{options: o} // without its goroutine, so that the same input always takes the same way
		l.w = writer{disk: d, limit: o.SegmentBytes, now: o.Now, retry: o.RetryAfter}
		h, err := l.begin("record")
		if err != nil {
			if r.Fault == nil {
				t.Errorf("verifies and is not opened: %v", err)
			}
			return
		}
		if r.Fault != nil && (r.Fault.Rule != RuleTorn || h.SetAside == 0) {
			t.Errorf("%v, and it is opened", r.Fault)
		}
		sound(t, d)
	})
}
