// Package sim is the embedded simulator: an SO-101 arm, a table, cubes and fixed boxes, in pure Go on virtual time.
//
// It is for running the whole of Interlock without hardware, for tests, and for evaluation. Time is a fixed step of
// 2 ms and moves only by Advance; the same configuration and the same calls give the same bits on one build
// (linux/amd64; other builds may fuse multiplications and then differ in the last digits). A World is one struct
// without pointers: assignment clones it, also in mid-contact.
//
// The method: each joint has a constant inertia, a position servo with saturation, viscous and dry friction, and
// gravity; spheres fixed to the links meet the table, cubes and boxes by MuJoCo's soft-contact formula (solref and
// solimp), solved by projected Gauss-Seidel over friction cones, with a remembered drift for sticking contacts. Grip,
// push, slip, fall, stack and tray come out of that one mechanism; nothing is welded. Order of a step: faults, contact
// search on the old velocities, servos and gravity, contact impulses, positions. Contact impulses add no energy but
// what a contact's spring pushes out again, also where the sweeps end early.
//
// What it does not model, so that nobody counts on it:
//
//   - The arm's inertia is constant and diagonal. Moves faster than half a second lag up to 25 % more than MuJoCo's.
//   - Servos have no speed limit, as in MuJoCo; a real one stops near 4.7 rad/s. body/guard keeps that limit.
//   - Links do not collide with each other, except the camera mount with the shoulder; only gripper and jaw meet
//     cubes; the robot passes through scenery boxes (a tray's walls). It is no collision checker: points on a link
//     that straddles a thin obstacle miss it.
//   - Objects are cubes, at most eight. Edges of two cubes pass through each other between their corners.
//   - Picks at 5 mm of position error succeed about 5 points too often and at 15 mm about 10 points too seldom
//     against MuJoCo; corner-on grasps succeed too often; a cube held for minutes creeps. These rates were
//     compared before the contact solver was made exact, which moved them by up to 4 points.
//   - Impact peaks are within about 25 % of MuJoCo's (45 % for moves under a second), static pushes within 5 % (14
//     to 16 against 10 N when the arm is stretched out). Forces are MuJoCo's, not a real arm's: no comparison with
//     hardware exists.
//   - A joint's stop takes its speed after the contacts are solved, so a contact may lean on a joint that is at its
//     stop and sinks in a little. A contact along which the arm can hardly move is softer than its neighbours.
//   - Friction is MuJoCo's convex one: a sliding contact lifts a little. An arm whose saturated servo drags it over the
//     table to a goal out of reach may slide, and stick and slip, for seconds.
//
// The package must never read a clock, draw from a global generator, or let a reading fault change the state: what a
// sensor reports and what is so are kept apart, and only Truth tells the latter.
package sim
