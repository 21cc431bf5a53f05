package units

import "time"

// Instant is a point on the driver's monotonic clock, in nanoseconds since that clock's own zero. Instants of two
// different drivers do not compare. The zero Instant is the clock's start.
type Instant int64

// Add returns the instant d later.
func (t Instant) Add(d time.Duration) Instant { return t + Instant(d) }

// Sub returns the time from u to t; negative when t is earlier.
func (t Instant) Sub(u Instant) time.Duration { return time.Duration(t - u) }

// Before reports whether t is earlier than u.
func (t Instant) Before(u Instant) bool { return t < u }

// After reports whether t is later than u.
func (t Instant) After(u Instant) bool { return t > u }

// Seconds returns the instant as seconds since the clock's start.
func (t Instant) Seconds() float64 { return time.Duration(t).Seconds() }

// Millis returns the instant as whole milliseconds since the clock's start.
func (t Instant) Millis() int64 { return int64(t) / int64(time.Millisecond) }
