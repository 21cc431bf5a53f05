// Package eval is the evaluation room: suites of scenarios, runs of many episodes, statistics and reports.
//
// A suite is a file; a scenario is one request with a set-up, a goal the robot measures and criteria the judge decides
// on truth. Run plays every scenario with every agent, gate setting, seed and repeat through a Builder (eval/lab makes
// worlds; tests make fakes) and keeps claims beside facts. Its order of duties: load and refuse, check that nothing
// holds at the start, play, sign, and only then count.
//
// It must never grade with a model, let a brain read truth, count an episode that our own machinery broke, let a
// scenario pass that nobody worked for, or put time into a signature.
package eval
