// Package transporttest is the conformance suite of transports: a new line between a brain and a robot is done when
// Run passes on it, unchanged.
//
// The suite drives two kinds of servers through the line: scripted ones, which show what arrives and what does not, and
// a whole robot on the simulator, which must say the same through the line as it does when it is asked directly. It
// must never look behind the client, and no check waits for time to pass; a bound on waiting only turns a line that
// hangs into a failure. What only a line can know it says of itself, by its traits, and leaves none out: how it loses or
// why it cannot, how it tells callers apart or why there is only one. Each check is a function that returns an error, so
// that a test can show that it fails on a broken line.
package transporttest
