// Package remote is the driver protocol: a body.Driver whose body is owned by another process, and the handlers which
// that process serves.
//
// The client (Driver) puts a deadline on every call, so that a driver that hangs never hangs a robot's loop, and keeps
// the lease alive beside the loop; a sign of life, which keeps a motion going, comes from the loop's own Send and Observe
// only. Commands carry a sequence number: one that was overtaken on the line is refused. The server (DriverHandler)
// decides nothing: leases, latch, expiry and limits are those of the Line behind it, which is body/guard in a driver
// process. A body in another language serves the same line; what it owes, and how it is held against that, is told in
// docs/drivers.md, and v1/driver.proto has every field.
//
// The robot's line has a stop and no reset. Reset is on the operator's handler, which is for a listener of its own
// (a unix socket of the person's own user by default). The package must never serve both on one listener.
package remote
