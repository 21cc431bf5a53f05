// Package peer tells which user is at the other end of a unix socket, where the system can say.
package peer
