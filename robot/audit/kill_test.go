package audit

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// writerEnv makes the test binary a process that writes the record in the folder it names until it is killed, and prints
// what became durable.
const writerEnv = "INTERLOCK_AUDIT_WRITER"

func beWriter() bool {
	dir := os.Getenv(writerEnv)
	if dir == "" {
		return false
	}
	l, h, err := Open(dir, Options{SegmentBytes: 8000})
	if err != nil {
		fmt.Println("error", err)
		return true
	}
	waiting := make(chan struct{}, 64)
	for n := int(h.Records); ; n++ {
		waiting <- struct{}{}
		l.Append(refusedRecord(n), func(err error) {
			if err == nil {
				fmt.Println(refusedRecord(n).GetRefused().GetMissionId())
			}
			<-waiting
		})
	}
}

// A process that is killed while it writes loses nothing that it was told is durable, and the next one goes on.
//
// Verifies: P20, I06
func TestKilledWriter(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "so101.audit")
	told := map[string]bool{}
	for kill := range 5 {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), writerEnv+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; n < 40+17*kill && lines.Scan(); n++ { // it is in the middle of something, and writes on
			told[lines.Text()] = true
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // said before it died
			told[lines.Text()] = true
		}
		_ = cmd.Wait()
		if told["error"] || len(told) == 0 {
			t.Fatalf("%v", told)
		}
	}
	d, err := openFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.close() }()
	l, h, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	there := map[string]int{}
	for _, id := range idsOn(t, d) {
		there[id]++
	}
	for id := range told {
		if there[id] == 0 {
			t.Errorf("%s was durable and is gone", id)
		}
	}
	if r, err := Verify(dir, VerifyOptions{Settle: time.Millisecond}); err != nil || r.Fault != nil || r.Records < h.Records {
		t.Errorf("%+v, %v", r, err)
	}
	t.Logf("%d told, %d records", len(told), h.Records)
}
