package connect

import (
	"cmp"
	"log/slog"
	"os"
	"time"
)

// Options say who may call, and how much of it is served.
type Options struct {
	// Token is what callers must bring as "Authorization: Bearer TOKEN". Without one, only users of a unix socket get in.
	Token string
	// Callers are more of them, each known to the robot by its name: what one started no other can follow or end. The
	// bearer of Token is called Owner.
	Callers []Caller
	// Users may call over a unix socket without a token, by their id. Nil: the user of this process. That one is called
	// Owner, by whichever way it comes: its token is in a file of its own. Another is called "uid N".
	Users []uint32
	// Limits bound what is served at once; zero fields take their defaults.
	Limits Limits
	// Log gets what fails on our side: a call that panicked as an error, with its procedure, a connection that breaks as a
	// warning. Nil drops it.
	Log *slog.Logger
}

// Owner is what the bearer of Options.Token and the user of this process over a unix socket are called: one caller.
const Owner = "owner"

// Caller is somebody with a token of their own. No two have the same name, and none is called Owner.
type Caller struct{ Name, Token string }

// Limits bound one server. The defaults are in parentheses.
type Limits struct {
	BodyBytes   int           // of one request (256 KiB)
	Calls       int           // being served at once, cancels and streams apart (64)
	Cancels     int           // being served at once; places of their own, so that a flood keeps none out (16)
	Streams     int           // of events, open at once (1,024); where there are Callers, each gets at most half of them
	Reflections int           // being served at once (8)
	Connections int           // open at once; more are closed on arrival (2,048)
	SlowReader  time.Duration // one event may take to be sent; after twice that the stream is cut (2 s)
	Header      time.Duration // a request's header may take (5 s)
	Body        time.Duration // a request's body may take (5 s)
	Reply       time.Duration // writing a reply may take after the robot gave it (10 s)
	Idle        time.Duration // a connection may be open without a request (2 min)
	Shutdown    time.Duration // requests may take to end when the server is asked to (1 s)
	RetryAfter  time.Duration // what a shed caller is told to wait (250 ms)
}

func (l Limits) orDefaults() Limits {
	return Limits{
		BodyBytes: cmp.Or(l.BodyBytes, 256<<10), Calls: cmp.Or(l.Calls, 64), Cancels: cmp.Or(l.Cancels, 16),
		Streams: cmp.Or(l.Streams, 1024), Reflections: cmp.Or(l.Reflections, 8), Connections: cmp.Or(l.Connections, 2048),
		SlowReader: cmp.Or(l.SlowReader, 2*time.Second), Header: cmp.Or(l.Header, 5*time.Second),
		Body: cmp.Or(l.Body, 5*time.Second), Reply: cmp.Or(l.Reply, 10*time.Second), Idle: cmp.Or(l.Idle, 2*time.Minute),
		Shutdown: cmp.Or(l.Shutdown, time.Second), RetryAfter: cmp.Or(l.RetryAfter, 250*time.Millisecond),
	}
}

func (o Options) orDefaults() Options {
	o.Limits = o.Limits.orDefaults()
	if o.Users == nil {
		o.Users = []uint32{uint32(os.Getuid())}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}
