package main

import (
	"bytes"
	"os"
	"testing"
)

// The committed Go file is the one the committed .proto file yields.
//
// Verifies: H01
func TestCommittedCodeIsRegenerated(t *testing.T) {
	want, err := generate(t.Context(), "..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../" + output)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("contract/v1/%s is not what %s yields: run `go generate ./contract/v1` and commit the result", output, source)
	}
}

func TestBrokenSourceIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/"+source, []byte("syntax = \"proto3\";\nmessage M { string a = 1; string b = 1; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := generate(t.Context(), dir); err == nil {
		t.Error("two fields share number 1, yet code was generated")
	}
}
