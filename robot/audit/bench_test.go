package audit

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// BenchmarkVerifyMillion verifies 1,000,000 records in a folder from the first byte to the last: P28 asks for at most 10 s.
// With -short it is a tenth of that.
//
// Verifies: P28
func BenchmarkVerifyMillion(b *testing.B) {
	n := 1_000_000
	if testing.Short() {
		n /= 10
	}
	dir := b.TempDir()
	size, err := fill(dir, n)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	before := cpuSeconds(b)
	for b.Loop() {
		if r, err := Verify(dir, VerifyOptions{}); err != nil || r.Fault != nil || r.Records != uint64(n) {
			b.Fatalf("%+v, %v", r, err)
		}
	}
	perRecord := b.Elapsed().Seconds() / float64(b.N) / float64(n)
	b.ReportMetric(1/perRecord, "records/s")
	b.ReportMetric(perRecord*1e6, "s/million")
	b.ReportMetric((cpuSeconds(b)-before)/float64(b.N)/float64(n)*1e6, "cpu_s/million")
}

// cpuSeconds is what this process has used of all cores, so that a figure means something on a busy machine.
func cpuSeconds(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// fill writes a record of n lines, in segments of the usual size, without making it durable.
func fill(dir string, n int) (size int64, err error) {
	var head Checkpoint
	rs, i, segment, line := life("m"), 0, 0, []byte(nil)
	for head.Seq < uint64(n) {
		segment++
		f, err := os.Create(filepath.Join(dir, nameOf(segment, segmentSuffix)))
		if err != nil {
			return size, err
		}
		w := bufio.NewWriterSize(f, 1<<20)
		for held := 0; held < defaultSegmentBytes && head.Seq < uint64(n); held += len(line) {
			if i%len(rs) == 0 {
				rs = life(fmt.Sprintf("mission-%08d", i))
			}
			text, err := recordText(rs[i%len(rs)])
			if err != nil {
				return size, err
			}
			line = appendLine(line[:0], &head, text)
			if _, err := w.Write(line); err != nil {
				return size, err
			}
			size += int64(len(line))
			i++
		}
		if err := errors.Join(w.Flush(), f.Close()); err != nil {
			return size, err
		}
	}
	return size, nil
}

// BenchmarkGroupCommit appends from 64 places, each of which waits for its answer, beside one writer that calls fsync for
// each of the same lines. P29 asks for at least 8 times its rate.
//
// Verifies: P29
func BenchmarkGroupCommit(b *testing.B) {
	single := singleRate(b)
	l, _, err := Open(filepath.Join(b.TempDir(), "record"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	const places = 64
	turns := make(chan int)
	var all sync.WaitGroup
	for range places {
		all.Go(func() {
			for n := range turns {
				if err := durable(l, refusedRecord(n)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	n := 0
	for b.Loop() {
		turns <- n
		n++
	}
	close(turns)
	all.Wait()
	group := float64(n) / b.Elapsed().Seconds()
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(group, "records/s")
	b.ReportMetric(single, "single/s")
	b.ReportMetric(group/single, "x_single")
}

// singleRate is how many lines a second one writer makes durable that calls fsync for each.
func singleRate(b *testing.B) float64 {
	b.Helper()
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "single"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	text, err := recordText(refusedRecord(1))
	if err != nil {
		b.Fatal(err)
	}
	var head Checkpoint
	n, begin := 0, time.Now()
	for ; time.Since(begin) < time.Second; n++ {
		if _, err := f.Write(appendLine(nil, &head, text)); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	return float64(n) / time.Since(begin).Seconds()
}

// BenchmarkAppend is what the robot's loop pays for one record.
func BenchmarkAppend(b *testing.B) {
	d := newMemory()
	l, _, err := Open("record", Options{Disk: d, Queue: 1 << 30, QueueBytes: 1 << 40})
	if err != nil {
		b.Fatal(err)
	}
	r := event("m", 1, verified)
	b.ReportAllocs()
	for b.Loop() {
		if _, bad := l.textOf(r); bad != nil {
			b.Fatal(bad)
		}
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
}
