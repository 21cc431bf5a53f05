// Package leasing is a client that holds a lease for each motion it starts: acquired before the start, renewed until the
// mission's last word, given back then. A brain that dies stops renewing, and the robot ends what moved for it.
//
// It wraps a client of any transport and is one itself. It must never start a motion under a lease that it could not get,
// and never keep one for a mission that has ended.
package leasing
