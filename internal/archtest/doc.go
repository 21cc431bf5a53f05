// Package archtest keeps the rules about the code itself: who may import whom, what a pure room must not touch, how
// long things may be, and which promise is proved by which test. Each rule is a line of data with its reason beside
// it (rules.go), and a failure prints the reason.
//
// It reads source text only: it never builds, runs or changes anything. A check is a function from a Tree to findings,
// so that every check is itself tested on small trees that break it.
package archtest
