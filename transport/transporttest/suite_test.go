package transporttest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
	"interlock/transport/inproc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sabotage is a line with one thing wrong, and the check that must find it.
type sabotage struct {
	name, check string
	open        Open
	traits      []Trait
}

// bent is an in-process line with some calls bent.
type bent struct {
	transport.Client
	server transport.Server
	start  func(context.Context, *contractv1.StartRequest) (*contractv1.MissionAck, error)
	cancel func(context.Context, *contractv1.CancelRequest) (*contractv1.CancelAck, error)
	watch  func(context.Context) (*contractv1.Observation, error)
	events func(context.Context, *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error]
	renew  func(context.Context, *contractv1.RenewLeaseRequest) (*contractv1.LeaseReply, error)
	says   func(*contractv1.Manifest)
}

func (b *bent) Start(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	if b.start == nil {
		return b.Client.Start(ctx, q)
	}
	return b.start(ctx, q)
}

func (b *bent) Cancel(ctx context.Context, q *contractv1.CancelRequest) (*contractv1.CancelAck, error) {
	if b.cancel == nil {
		return b.Client.Cancel(ctx, q)
	}
	return b.cancel(ctx, q)
}

func (b *bent) Observe(ctx context.Context, q *contractv1.ObserveRequest) (*contractv1.Observation, error) {
	if b.watch == nil {
		return b.Client.Observe(ctx, q)
	}
	return b.watch(ctx)
}

func (b *bent) Events(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	if b.events == nil {
		return b.Client.Events(ctx, q)
	}
	return b.events(ctx, q)
}

func (b *bent) RenewLease(ctx context.Context, q *contractv1.RenewLeaseRequest) (*contractv1.LeaseReply, error) {
	if b.renew == nil {
		return b.Client.RenewLease(ctx, q)
	}
	return b.renew(ctx, q)
}

func (b *bent) Describe(ctx context.Context) (*contractv1.Manifest, error) {
	m, err := b.Client.Describe(ctx)
	if m != nil && b.says != nil {
		b.says(m)
	}
	return m, err
}

// bend opens in-process lines that bend changes.
func bend(bend func(b *bent)) Open {
	return func(_ *testing.T, server transport.Server) transport.Client {
		b := &bent{Client: inproc.New(server), server: server}
		bend(b)
		return b
	}
}

// passing yields what f makes of each event; f may return none or several.
func passing(b *bent, f func(n int, e *contractv1.Event) []*contractv1.Event) func(context.Context, *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	return func(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
		return func(yield func(*contractv1.Event, error) bool) {
			n := 0
			for e, err := range b.Client.Events(ctx, q) {
				if err != nil {
					yield(nil, err)
					return
				}
				n++
				for _, made := range f(n, e) {
					if !yield(made, nil) {
						return
					}
				}
			}
		}
	}
}

func sabotaged() []sabotage {
	direct := []Trait{Direct("in this test")}
	return slices.Concat(sabotagedCalls(direct), sabotagedRobots(direct), sabotagedCallers(direct), sabotagedVerdicts(direct),
		sabotagedEvents(direct), sabotagedLosses(direct), sabotagedReaders(direct))
}

func sabotagedCalls(direct []Trait) []sabotage {
	return []sabotage{
		{"the manifest is touched up", "a robot is discovered, byte by byte", bend(func(b *bent) {
			b.says = func(m *contractv1.Manifest) { m.Capabilities[0].Description += " " }
		}), direct},
		{"a cached answer stands in for a robot", "an absent robot is an error", bend(func(b *bent) {
			b.watch = func(context.Context) (*contractv1.Observation, error) { return &contractv1.Observation{}, nil }
		}), direct},
		{"the lease is not sent", "every field of every message arrives", bend(func(b *bent) {
			b.start = func(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
				q = proto.CloneOf(q)
				q.Lease = nil
				return b.Client.Start(ctx, q)
			}
		}), direct},
		{"the last reply is given to everybody", "replies are not mixed up", bend(func(b *bent) {
			var mu sync.Mutex
			var last *contractv1.MissionAck
			b.start = func(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
				ack, err := b.Client.Start(ctx, q)
				mu.Lock()
				defer mu.Unlock()
				last, ack = ack, last
				if ack == nil {
					ack = last
				}
				return ack, err
			}
		}), direct},
		{"refusals become text", "errors arrive as errors", bend(func(b *bent) {
			b.watch = func(ctx context.Context) (*contractv1.Observation, error) {
				o, err := b.Client.Observe(ctx, nil)
				if err != nil {
					err = errors.New(err.Error())
				}
				return o, err
			}
		}), direct},
		{"bad texts are mended", "what has no wire form never arrives", bend(func(b *bent) {
			b.start = func(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
				q = proto.CloneOf(q)
				q.MissionId = strings.ToValidUTF8(q.MissionId, "?")
				return b.Client.Start(ctx, q)
			}
		}), direct},
		{"long arguments are cut", "large messages arrive or are refused", bend(func(b *bent) {
			b.start = func(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
				q = proto.CloneOf(q)
				q.ArgsJson = q.ArgsJson[:min(len(q.ArgsJson), 1000)]
				return b.Client.Start(ctx, q)
			}
		}), direct},
	}
}

func sabotagedRobots(direct []Trait) []sabotage {
	return []sabotage{
		{"a start is sent again", "a start is idempotent", bend(func(b *bent) {
			b.start = func(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
				_, _ = b.Client.Start(ctx, q)
				return b.Client.Start(ctx, q)
			}
		}), direct},
		{"cancels are acknowledged and forgotten", "a cancel ends a motion", bend(func(b *bent) {
			b.cancel = func(ctx context.Context, _ *contractv1.CancelRequest) (*contractv1.CancelAck, error) {
				_, err := b.Client.Cancel(ctx, &contractv1.CancelRequest{MissionId: "another"})
				return &contractv1.CancelAck{Accepted: true}, err
			}
		}), direct},
		{"a lease is handed to whoever asks", "leases are held, renewed and lapse", bend(func(b *bent) {
			b.renew = func(ctx context.Context, q *contractv1.RenewLeaseRequest) (*contractv1.LeaseReply, error) {
				r, err := b.Client.RenewLease(ctx, q)
				if r != nil {
					r.Lease, r.Rejections = proto.CloneOf(q.GetLease()), nil
				}
				return r, err
			}
		}), direct},
		{"callers are not told apart", "a handle is no key", bend(func(*bent) {}), append(slices.Clone(direct), twoNamed(func(string) string { return "one" }))},
		{"nothing is ever shed", "a flood is shed, and a cancel gets through", bend(func(*bent) {}), nil},
		{"calls are shed in silence", "a flood is shed, and a cancel gets through", bend(func(b *bent) {
			b.watch = func(context.Context) (*contractv1.Observation, error) { return nil, errors.New("too much") }
		}), nil},
		{"speeds are rounded", "verdicts are those of the robot itself", bend(func(b *bent) {
			b.start = func(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
				q = proto.CloneOf(q)
				q.ArgsJson = []byte(strings.Replace(string(q.ArgsJson), "1.9", "2", 1))
				return b.Client.Start(ctx, q)
			}
		}), direct},
		{"a refusal loses its rule", "verdicts are those of the robot itself", bend(func(b *bent) {
			b.start = func(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
				ack, err := b.Client.Start(ctx, q)
				for _, r := range ack.GetRejections() {
					r.Rule = ""
				}
				return ack, err
			}
		}), direct},
	}
}

func sabotagedEvents(direct []Trait) []sabotage {
	const anyCursor, beyond = "events come without gap from any cursor", "no events come from beyond the last"
	doubled := bend(func(b *bent) {
		b.events = passing(b, func(_ int, e *contractv1.Event) []*contractv1.Event { return []*contractv1.Event{e, e} })
	})
	cursor := func(change func(from uint64) uint64) Open {
		return bend(func(b *bent) {
			b.events = func(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
				return b.Client.Events(ctx, &contractv1.EventsRequest{MissionId: q.GetMissionId(), FromSeq: change(q.GetFromSeq())})
			}
		})
	}
	return []sabotage{
		{"a number beyond the end is brought back", beyond, cursor(func(from uint64) uint64 { return min(from, 6) }), direct},
		{"a number runs over", beyond, cursor(func(from uint64) uint64 { return max(from+1, 2) - 1 }), direct},
		{"refused events are none", beyond, bend(func(b *bent) {
			b.events = func(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
				return func(yield func(*contractv1.Event, error) bool) {
					for e, err := range b.Client.Events(ctx, q) {
						if err != nil || !yield(e, nil) {
							return
						}
					}
				}
			}
		}), direct},
		{"whatever ends a stream ends the events", "a stream cut short is no end", bend(func(b *bent) {
			b.events = func(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
				return b.server.Events(ctx, q)
			}
		}), direct},
		{"an empty stream passes for the end", "a stream cut short is no end", bend(func(b *bent) {
			b.events = func(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
				if q.GetFromSeq() > 1 {
					return b.server.Events(ctx, q)
				}
				return b.Client.Events(ctx, q)
			}
		}), direct},
		{"an event is lost", anyCursor, bend(func(b *bent) {
			b.events = passing(b, func(n int, e *contractv1.Event) []*contractv1.Event {
				if n == 7 {
					return nil
				}
				return []*contractv1.Event{e}
			})
		}), direct},
		{"events are doubled", anyCursor, doubled, direct},
		{"the cursor is not sent", anyCursor, bend(func(b *bent) {
			b.events = func(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
				return b.Client.Events(ctx, &contractv1.EventsRequest{MissionId: q.GetMissionId()})
			}
		}), direct},
		{"the end is left out", anyCursor, bend(func(b *bent) {
			b.events = passing(b, func(_ int, e *contractv1.Event) []*contractv1.Event {
				if e.GetFinal() {
					return nil
				}
				return []*contractv1.Event{e}
			})
		}), direct},
	}
}

func sabotagedReaders(direct []Trait) []sabotage {
	return []sabotage{
		{"the context is not passed on", "an ended context ends the call at both ends", bend(func(b *bent) {
			b.watch = func(ctx context.Context) (*contractv1.Observation, error) {
				within, cancel := context.WithTimeout(context.WithoutCancel(ctx), 50*time.Millisecond)
				defer cancel()
				return b.Client.Observe(within, nil)
			}
		}), direct},
		{"a stop's number is lost", "a stop ends a motion, and no call resets it", bend(func(b *bent) {
			b.watch = func(ctx context.Context) (*contractv1.Observation, error) {
				o, err := b.Client.Observe(ctx, nil)
				if o != nil {
					o.StopNumber = 0
				}
				return o, err
			}
		}), direct},
		{"a reader is dropped without a cursor", "a slow reader is dropped with a cursor", bend(func(b *bent) {
			b.events = func(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
				return func(yield func(*contractv1.Event, error) bool) {
					for e, err := range b.Client.Events(ctx, q) {
						if err != nil {
							return
						}
						go func() { // the server has given the reader up by the time it reads on
							for _, err := range b.Client.Events(ctx, q) {
								if err == nil {
									break
								}
							}
						}()
						_ = yield(e, nil) && yield(nil, reject.List{reject.New(reject.Overloaded, "too slow")})
						return
					}
				}
			}
		}), nil},
		{"events are fetched ahead", "a slow reader is dropped with a cursor", bend(func(b *bent) {
			b.events = func(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
				return func(yield func(*contractv1.Event, error) bool) {
					var ahead []*contractv1.Event
					for e, err := range b.Client.Events(ctx, q) {
						if err != nil {
							return
						}
						if ahead = append(ahead, e); len(ahead) == 10 {
							break
						}
					}
					for _, e := range ahead {
						if !yield(e, nil) {
							return
						}
					}
				}
			}
		}), direct},
	}
}

// Each check finds the line that breaks it: a suite that cannot fail proves nothing.
//
// Verifies: T09
func TestEveryCheckFindsItsSabotage(t *testing.T) {
	missed := map[string]bool{}
	for _, c := range Checks() {
		missed[c.Name] = true
	}
	for _, s := range sabotaged() {
		t.Run(s.name, func(t *testing.T) {
			l := &line{open: s.open}
			for _, trait := range s.traits {
				trait(l)
			}
			for _, c := range Checks() {
				if c.Name != s.check {
					continue
				}
				ctx, cancel := context.WithTimeout(t.Context(), within)
				defer cancel()
				if err := c.Run(ctx, t, l); err == nil {
					t.Errorf("%q passes", c.Name)
				} else {
					t.Logf("found: %.200v", err)
				}
				missed[c.Name] = false
			}
		})
	}
	for name, unproved := range missed {
		if unproved {
			t.Errorf("no sabotage shows that %q can fail", name)
		}
	}
}
