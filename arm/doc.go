// Package arm is the kinematics of one serial arm, the SO-101: where the hand is for given joints, which joints bring
// the hand to a place, and how the joints travel between two configurations within speed limits.
//
// Everything is in metres, radians and seconds in the base frame: x forward, y left, z up, the table plane at z = 0.
// The tip is the site named gripperframe of the published model, between the jaws and 2.9 mm behind the fixed jaw's
// end. The hand approaches along −z of the gripper body and its jaws close along x of it.
//
// Solvers return what they found together with its miss; whether a miss is good enough is the caller's decision. Sweep
// says where a path first comes too near to the table, to the arm itself or to a space kept out of; refusing it is the
// caller's too. The package never clips a request, never judges whether a motion has worked, and does no I/O. It
// allocates nothing while solving, is deterministic to the bit on one platform, and every function may be called from
// several goroutines at once, since a Chain never changes after SO101 made it.
package arm
