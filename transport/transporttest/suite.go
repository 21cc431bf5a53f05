package transporttest

import (
	"context"
	"testing"
	"time"

	"interlock/transport"
)

// Open joins a client to the server. A nil server stands for a robot that is not there. What the line needs (goroutines,
// sockets) ends with the test.
type Open = func(t *testing.T, server transport.Server) transport.Client

// Trait is something that a line says about itself. How it fares when its carrier is bad, and with two callers, every line
// says: by Lossy or Lossless, and by Principals or OneCaller. One that says neither fails.
type Trait func(*line)

// Direct says that a call runs in its caller's goroutine and an event is made when its reader takes it, so that there is
// no queue to flood and no reader to drop; why says so for the log. The suite then checks that this is so, in place of
// shedding and dropping.
func Direct(why string) Trait { return func(l *line) { l.direct = why } }

// leastSeeds is over how many bad lines a mission is read at least.
const leastSeeds = 30

// Lossy adds the same line with something wrong under it, as bad as the transport can suffer it: lost, doubled or
// reordered messages, broken connections. What goes wrong is the seed's choice; harm counts it. There are at least 30
// seeds, and half as many harms in all.
func Lossy(seeds int, open func(t *testing.T, server transport.Server, seed uint64) (client transport.Client, harm func() int)) Trait {
	return func(l *line) { l.seeds, l.lossy = seeds, open }
}

// Lossless says why nothing can be lost, doubled or reordered on this line.
func Lossless(why string) Trait { return func(l *line) { l.lossless = why } }

// Principals adds the same line with two callers that the transport tells apart.
func Principals(open func(t *testing.T, server transport.Server) (one, another transport.Client)) Trait {
	return func(l *line) { l.two = open }
}

// OneCaller says why there is nobody to tell apart. The suite then checks that all calls come from the same caller.
func OneCaller(why string) Trait { return func(l *line) { l.alone = why } }

// line is a transport under test.
type line struct {
	open     Open
	direct   string
	seeds    int
	lossy    func(t *testing.T, server transport.Server, seed uint64) (client transport.Client, harm func() int)
	lossless string
	two      func(t *testing.T, server transport.Server) (one, another transport.Client)
	alone    string
}

// Check is one thing that every line keeps. Run returns what is wrong.
type Check struct {
	Name string
	Run  func(context.Context, *testing.T, *line) error
}

// Checks lists the suite.
func Checks() []Check {
	return []Check{
		{"a robot is discovered, byte by byte", discovers},
		{"an absent robot is an error", absentRobot},
		{"every field of every message arrives", everyField},
		{"replies are not mixed up", concurrent},
		{"errors arrive as errors", errorsArrive},
		{"what has no wire form never arrives", noWireForm},
		{"large messages arrive or are refused", largeMessages},
		{"an ended context ends the call at both ends", contextEnds},
		{"a start is idempotent", startIdempotent},
		{"events come without gap from any cursor", anyCursor},
		{"no events come from beyond the last", beyondTheLast},
		{"a stream cut short is no end", cutShort},
		{"events come without gap over a lossy line", overLossyLine},
		{"a cancel ends a motion", cancels},
		{"a stop ends a motion, and no call resets it", stops},
		{"leases are held, renewed and lapse", leases},
		{"a handle is no key", principals},
		{"a slow reader is dropped with a cursor", slowReader},
		{"a flood is shed, and a cancel gets through", flood},
		{"verdicts are those of the robot itself", sameVerdicts},
	}
}

// within bounds every check: far longer than any takes, so that only a line that hangs meets it.
const within = 2 * time.Minute

// Run runs the suite on a transport.
func Run(t *testing.T, open Open, traits ...Trait) {
	l := &line{open: open}
	for _, trait := range traits {
		trait(l)
	}
	for _, c := range Checks() {
		t.Run(c.Name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			if err := c.Run(ctx, t, l); err != nil {
				t.Error(err)
			}
		})
	}
}
