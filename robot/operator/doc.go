// Package operator is the person's desk at a robot: what waits for a person's word, what a person let pass, and the
// listener on which a person says so.
//
// A Desk is a table. It has no clock, no goroutine and no input: the robot's own goroutine owns it and hands in the
// robot's monotonic time. An approval fits one act: the SHA-256 of everything about it (robot, contract, capability,
// arguments, lease epoch, who asks, task, the text that was shown, and the number of the request), once, for a while.
// What was approved must be asked for again by whoever wanted it; an approval moves nothing by itself.
//
// Display makes the text that a person decides on. It is the robot's rendering of the call; no prose of a model gets in,
// and what came from outside is quoted, with everything escaped that could hide, reorder or imitate text.
//
// Serve puts a Person on a unix socket of this user alone. The package must never be reachable by an agent: it has no
// method in the service for brains, no TCP address and no token.
//
// The duties, in this order: what is asked twice waits once; what does not fit is refused with a rule of its own; what
// ends (used, denied, expired, withdrawn) never passes again.
package operator
