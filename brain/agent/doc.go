// Package agent is the loop between a model and a robot: ask, read, call, give back what was measured, until the model
// reports, falls silent or a bound is met.
//
// Everything is bounded: model calls, corrections of texts that could not be read, replans, repeats of one motion, and
// motions per reply. Each reply is read by action, run by tool, and traced. At the end the model's claim, or its silence,
// goes to the robot, which has decided the task on measured facts by then.
//
// It must never take prose for a claim, a claim for a verdict, or a near miss for a call; never start a second motion
// beside a running one; never go on with a reply that was asked for an older task. All of it is untrusted: no bound here
// is a safety bound, those are the robot's.
package agent
