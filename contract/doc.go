// Package contract turns a robot's contract file into a checked Contract: what the robot can do, in which units, under
// which conditions, and how each effect is measured.
//
// Loading reads YAML with positions, checks every name, unit, frame and bound, and compiles every condition; a file that
// can be known wrong does not load, and all its problems are reported at once. Evaluating a condition reads a snapshot
// and never touches a driver: what is missing or stale is unknown, and unknown is never true.
//
// Order of duties when loading: syntax (yaml.go), declarations (schema.go, capability.go), conditions (package rule, which
// also keeps units and frames), rules that need everything (rules.go).
//
// The package must never read a clock, keep state between evaluations, guess a unit, or clamp a value. LoadFile is its
// only I/O.
package contract
