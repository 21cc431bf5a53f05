package transporttest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"testing"

	"google.golang.org/protobuf/proto"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
	"interlock/transport/inproc"
)

// twoNamed are two callers within a process; what name the other has may depend on the call.
func twoNamed(other func(call string) string) Trait {
	return Principals(func(_ *testing.T, server transport.Server) (one, another transport.Client) {
		return inproc.New(asked(server, "one")), inproc.New(named{server, other})
	})
}

// A line that does all it should, with two callers, passes the whole suite.
//
// Verifies: T36
func TestAnHonestLineOfTwoCallersPasses(t *testing.T) {
	Run(t, func(_ *testing.T, server transport.Server) transport.Client { return inproc.New(server) },
		Direct("in this test"), Lossless("in this test"), twoNamed(func(string) string { return "another" }))
}

// sabotagedCallers are lines that take one caller for another, in one call each, and such that leave out what they are to
// say of themselves.
func sabotagedCallers(direct []Trait) (all []sabotage) {
	const noKey = "a handle is no key"
	honest := bend(func(*bent) {})
	for _, forgotten := range []string{"Start", "Cancel", "Events", "GetTask", "Claim", "OpenTask", "RenewLease", "ReleaseLease"} {
		all = append(all, sabotage{"callers are not told apart in " + forgotten, noKey, honest, append(slices.Clone(direct), twoNamed(func(call string) string {
			if call == forgotten {
				return "one"
			}
			return "another"
		}))})
	}
	var lines atomic.Int64
	return append(all,
		sabotage{"nothing is said of callers", noKey, honest, direct},
		sabotage{"one caller who is two", noKey, func(_ *testing.T, server transport.Server) transport.Client {
			return inproc.New(asked(server, fmt.Sprint("caller ", lines.Add(1))))
		}, append(slices.Clone(direct), OneCaller("in this test"))},
		sabotage{"nobody is the other", noKey, honest, append(slices.Clone(direct), Principals(func(_ *testing.T, server transport.Server) (one, another transport.Client) {
			return inproc.New(asked(server, "one")), inproc.New(nil)
		}))},
	)
}

func sabotagedLosses(direct []Trait) []sabotage {
	const overLossy = "events come without gap over a lossy line"
	honest := bend(func(*bent) {})
	bad := func(seeds, harm int, open Open) []Trait {
		return append(slices.Clone(direct), Lossy(seeds, func(t *testing.T, server transport.Server, _ uint64) (transport.Client, func() int) {
			return open(t, server), func() int { return harm }
		}))
	}
	doubled := bend(func(b *bent) {
		b.events = passing(b, func(_ int, e *contractv1.Event) []*contractv1.Event { return []*contractv1.Event{e, e} })
	})
	return []sabotage{
		{"events are doubled on a bad line", overLossy, doubled, bad(leastSeeds, 1, doubled)},
		{"nothing is said of losses", overLossy, honest, direct},
		{"a bad line is tried once", overLossy, honest, bad(1, 10, honest)},
		{"a bad line is a good one", overLossy, honest, bad(leastSeeds, 0, honest)},
	}
}

func sabotagedVerdicts(direct []Trait) []sabotage {
	const verdicts = "verdicts are those of the robot itself"
	starting := func(change func(*contractv1.StartRequest)) Open {
		return bend(func(b *bent) {
			b.start = func(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
				q = proto.CloneOf(q)
				change(q)
				return b.Client.Start(ctx, q)
			}
		})
	}
	failing := func(change func(*reject.Rejection)) Open {
		return bend(func(b *bent) {
			b.events = func(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
				return func(yield func(*contractv1.Event, error) bool) {
					for e, err := range b.Client.Events(ctx, q) {
						var l reject.List
						if errors.As(err, &l) {
							l = slices.Clone(l)
							change(&l[0])
							err = l
						}
						if !yield(e, err) {
							return
						}
					}
				}
			}
		})
	}
	return []sabotage{
		{"a start's lease is lost", verdicts, starting(func(q *contractv1.StartRequest) { q.Lease = nil }), direct},
		{"a lease's holder is filled in", verdicts, starting(func(q *contractv1.StartRequest) {
			if q.GetLease() != nil {
				q.Lease.Holder = "first"
			}
		}), direct},
		{"an old lease is brought up to date", verdicts, starting(func(q *contractv1.StartRequest) {
			if q.GetLease().GetEpoch() == 1 {
				q.Lease.Epoch, q.Lease.Holder = 2, "second"
			}
		}), direct},
		{"an error has another code", verdicts, failing(func(r *reject.Rejection) { r.Code = reject.NotPermitted }), direct},
		{"an error loses its field", verdicts, failing(func(r *reject.Rejection) { r.Field = "" }), direct},
		{"an error gets a rule", verdicts, failing(func(r *reject.Rejection) { r.Rule = "line" }), direct},
	}
}

// What the matrix must hold is what the service's methods take: whatever is left out of it is missed.
//
// Verifies: T37
func TestTheMatrixOfCallersIsWhole(t *testing.T) {
	whole := trespasses(&handles{})
	if err := complete(whole); err != nil {
		t.Fatal(err)
	}
	n := 0
	for what := range wanted() {
		n++
		if complete(slices.DeleteFunc(slices.Clone(whole), func(c trespass) bool { return c.what == what })) == nil {
			t.Errorf("nobody misses %s", what)
		}
	}
	if n < 9 {
		t.Errorf("the service's methods take %d handles: these are not all", n)
	}
}

// A conversation that says too little is no comparison.
//
// Verifies: T38
func TestAShortConversationIsNone(t *testing.T) {
	full := tally{calls: leastCalls, missions: leastMissions, leased: leastLeased}
	for name, s := range map[string]tally{
		"few calls": {calls: leastCalls - 1, looks: 1000, missions: leastMissions, leased: leastLeased},
		"no lease":  {calls: leastCalls, missions: leastMissions},
		"all pass":  full,
	} {
		if s.enough(false) == nil {
			t.Errorf("%s: that is taken for enough", name)
		}
	}
}
