package main

import (
	"bytes"
	"os"
	"testing"
)

// The committed Go files are the ones the committed driver.proto yields.
//
// Verifies: H01
func TestCommittedCodeIsRegenerated(t *testing.T) {
	for _, p := range plugins {
		want, err := generate(t.Context(), "../v1", p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile("../v1/" + p.output)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("body/remote/v1/%s is not what %s yields: run `go generate ./body/remote/v1` and commit the result", p.output, source)
		}
	}
}
