// Package suites carries the shipped evaluation suites inside the binary, so that a demo needs no checkout.
package suites

import "embed"

// Files holds the suite files.
//
//go:embed *.yaml
var Files embed.FS
