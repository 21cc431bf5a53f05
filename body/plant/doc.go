// Package plant is the simulator as a process of its own: a clock, servos that keep their last goal, the driver protocol
// without a guard, and, where an evaluation asked for it, a lab line with set-up, truth and lockstep.
//
// A Plant is what hardware is to a driver: it has no stop latch, no expiry and no speed limit, and when whoever commands
// it dies it stays at its last goal. It does have a lease, so that a driver that was asleep cannot command it beside
// the next one. Its clock is the monotonic clock: time that a late loop cannot make up for passes without steps, and the
// readings' times show it.
//
// Truth leaves it only by the lab line, which no robot opens.
package plant
