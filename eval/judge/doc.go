// Package judge decides from simulator truth whether a scenario was really done. It is the oracle of evaluation: a
// closed list of criteria as Go predicates on body.Truth, nothing else.
//
// It reads what is so, never what was commanded, claimed or verified, and it shares no code with the robot's own
// verifier: it may import units and body, no more. Its order of duties: refuse a criterion that could pass for free,
// remember how things stood at the start, sample, and only then give a verdict. A number that is not finite never
// satisfies a criterion.
package judge
