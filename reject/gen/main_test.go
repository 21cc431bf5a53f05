package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// The committed Go file is the one the committed list of codes yields.
//
// Verifies: H01
func TestCommittedCodeIsRegenerated(t *testing.T) {
	src, err := os.ReadFile("../codes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want, err := Generate(string(src))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../codes_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("reject/codes_gen.go is not what codes.yaml yields: run `go generate ./reject` and commit the result")
	}
}

func TestGenerate(t *testing.T) {
	const good = `  - {code: NO_LEASE, retry: after_lease, exit: 3, doc: "words"}`
	for _, c := range []struct {
		name, src, holds, fails string
	}{
		{name: "an entry", src: good, holds: `NoLease Code = "NO_LEASE" // words`},
		{name: "its retry", src: good, holds: "case NoLease:\n\t\treturn AfterLease"},
		{name: "its exit code", src: good, holds: "case NoLease:\n\t\treturn 3"},
		{name: "comments are passed over", src: "# words\n" + good, holds: "NoLease"},
		{name: "lower case", src: `  - {code: no_lease, retry: never, exit: 3, doc: ""}`, fails: "codes.yaml:1"},
		{name: "a missing exit", src: good + "\n" + `  - {code: NO_LEASE, retry: never, doc: ""}`, fails: "codes.yaml:2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Generate(c.src)
			switch {
			case c.fails != "" && (err == nil || !strings.HasPrefix(err.Error(), c.fails)):
				t.Errorf("error %v, want one at %s", err, c.fails)
			case c.fails == "" && err != nil:
				t.Error(err)
			case !strings.Contains(string(got), c.holds):
				t.Errorf("%q is not in\n%s", c.holds, got)
			}
		})
	}
}
