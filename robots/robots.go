// Package robots carries the shipped contract files inside the binary, so that a demo needs no checkout.
package robots

import "embed"

// Files holds the contract files.
//
//go:embed *.yaml
var Files embed.FS
