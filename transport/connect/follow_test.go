package connect

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"testing"

	rpc "connectrpc.com/connect"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

var errCut = errors.New("the line was cut")

// stormy is a line over which each stream loses, doubles, delays and swaps events, and breaks, as the seed says.
type stormy struct {
	rng  *rand.Rand
	last uint64
	good bool // lets the stream be
}

// open implements follower.open.
func (s *stormy) open(_ context.Context, id string, from uint64) iter.Seq2[*contractv1.Event, error] {
	return func(yield func(*contractv1.Event, error) bool) {
		var wire []uint64
		for seq := from; seq <= s.last; seq++ {
			wire = append(wire, seq)
		}
		if !s.good {
			wire = s.spoil(wire)
		}
		for _, seq := range wire {
			e := &contractv1.Event{MissionId: id, Seq: seq, Kind: contractv1.EventKind_PHASE, Final: seq == s.last}
			if !yield(e, nil) {
				return
			}
		}
		if !s.good {
			yield(nil, errCut) // a stream that is not whole never ends as if it were
		}
	}
}

// spoil does to a list of numbers what the worst line does to messages.
func (s *stormy) spoil(wire []uint64) (spoiled []uint64) {
	for _, seq := range wire {
		switch s.rng.IntN(12) {
		case 0: // lost
		case 1: // doubled
			spoiled = append(spoiled, seq, seq)
		case 2: // one from before
			spoiled = append(spoiled, seq, max(1, seq-min(seq, uint64(s.rng.IntN(5)))))
		case 3: // overtaken
			if n := len(spoiled); n > 0 {
				spoiled = append(spoiled, spoiled[n-1])
				spoiled[n-1] = seq
			}
		case 4: // cut here
			return spoiled
		default:
			spoiled = append(spoiled, seq)
		}
	}
	return spoiled
}

// From any number on a reader gets exactly the sequence, whatever the line does, or an error that says where it broke
// off; a reader that goes on there in the end has each event once.
//
// Verifies: P22
func TestTheSequenceSurvivesTheLine(t *testing.T) {
	const seeds = 10_000
	whole := 0
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 22))
		line := &stormy{rng: rng, last: 1 + rng.Uint64N(40)}
		f := follower{open: line.open, pause: func(context.Context, int) error { return nil }, tries: rng.IntN(8)}
		next, rounds := 1+rng.Uint64N(line.last), 0
		for next <= line.last {
			for e, err := range f.events(t.Context(), "m", next) {
				if err != nil {
					if !errors.Is(err, errCut) && !errors.Is(err, errGap) {
						t.Fatalf("seed %d: %v", seed, err)
					}
					break
				}
				if e.GetSeq() != next || e.GetFinal() != (next == line.last) {
					t.Fatalf("seed %d: wanted event %d, got %v", seed, next, e)
				}
				next++
			}
			if rounds++; rounds > 20 {
				line.good = true
			}
		}
		if rounds == 1 {
			whole++
		}
	}
	if whole < seeds/2 || whole == seeds {
		t.Errorf("%d of %d readers needed no second call: the storm tests nothing", whole, seeds)
	}
}

// Verifies: P22
func TestWhatEndsASequence(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	wire := func(code rpc.Code) error { return rpc.NewWireError(code, errors.New("said the robot")) }
	for _, c := range []struct {
		name  string
		ctx   context.Context
		err   error
		opens int // how often a stream is opened
		says  func(error) bool
	}{
		{"a line that is lost is bounded", t.Context(), errCut, 4, func(err error) bool { return errors.Is(err, errCut) }},
		{"what the robot says is final", t.Context(), wire(rpc.CodeUnavailable), 1, func(err error) bool { return rpc.CodeOf(err) == rpc.CodeUnavailable }},
		{"a refusal is final", t.Context(), refused(reject.New(reject.NotInEnum, "no such mission")), 1, func(err error) bool {
			var l reject.List
			return errors.As(err, &l) && l.Has(reject.NotInEnum)
		}},
		{"a reset stream is a slow reader", t.Context(), fmt.Errorf("read: %w", resetError{Code: internalError}), 1, func(err error) bool {
			var l reject.List
			return errors.As(err, &l) && l[0] == slowReader(3)
		}},
		{"a stream reset for another reason is lost", t.Context(), resetError{Code: 7}, 4, func(err error) bool { return !errors.As(err, new(reject.List)) }},
		{"the context's end comes first", ended, errCut, 0, func(err error) bool { return errors.Is(err, context.Canceled) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			opens := 0
			f := follower{
				open: func(context.Context, string, uint64) iter.Seq2[*contractv1.Event, error] {
					opens++
					return func(yield func(*contractv1.Event, error) bool) { yield(nil, c.err) }
				},
				pause: func(context.Context, int) error { return nil }, tries: 3,
			}
			var last error
			n := 0
			for e, err := range f.events(c.ctx, "m", 3) {
				last = err
				if n++; e != nil {
					t.Errorf("an event came from nowhere: %v", e)
				}
			}
			if n != 1 || opens != c.opens || !c.says(last) {
				t.Errorf("%d words, %d streams (want %d), the last word %v", n, opens, c.opens, last)
			}
		})
	}
}

func TestWhatIsNoEventOfTheMissionIsAnError(t *testing.T) {
	for name, e := range map[string]*contractv1.Event{
		"another mission's":    {MissionId: "other", Seq: 1, Kind: contractv1.EventKind_ACCEPTED},
		"of unknown kind":      {MissionId: "m", Seq: 1, Kind: 99},
		"the highest there is": {MissionId: "m", Seq: math.MaxUint64, Kind: contractv1.EventKind_PHASE},
	} {
		f := follower{open: func(context.Context, string, uint64) iter.Seq2[*contractv1.Event, error] {
			return func(yield func(*contractv1.Event, error) bool) { yield(e, nil) }
		}}
		for got, err := range f.events(t.Context(), "m", 1) {
			if !errors.Is(err, errNoEvent) || got != nil {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
	}
}

// A stream that ends in good order ends the sequence only behind the mission's last event: before that the line was lost,
// however politely, and the stream is opened again behind the last event that came.
//
// Verifies: T64
func TestAStreamThatEndsEarlyIsLost(t *testing.T) {
	const last = 5
	for _, c := range []struct {
		name  string
		from  uint64
		short int    // how many streams end early
		after uint64 // such a stream ends behind this number
		want  uint64 // the last event that comes; 0: none
		lost  bool
	}{
		{"once, after some", 1, 1, 3, last, false},
		{"once, before the first", 1, 1, 0, last, false},
		{"once, where the reader goes on", 4, 1, 3, last, false},
		{"just before the last", 1, 3, last - 1, last, false},
		{"always", 1, 1000, 3, 3, true},
		{"always, before the first", 1, 1000, 0, 0, true},
		{"always, where the reader goes on", 4, 1000, 3, 0, true},
		{"never, and the reader has had the last event", last + 1, 0, 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			streams := 0
			f := follower{
				open: func(_ context.Context, id string, from uint64) iter.Seq2[*contractv1.Event, error] {
					streams++
					end := uint64(last)
					if streams <= c.short {
						end = c.after
					}
					return func(yield func(*contractv1.Event, error) bool) {
						for seq := from; seq <= end; seq++ {
							if !yield(&contractv1.Event{MissionId: id, Seq: seq, Kind: contractv1.EventKind_PHASE, Final: seq == last}, nil) {
								return
							}
						}
					}
				},
				pause: func(context.Context, int) error { return nil }, tries: 3,
			}
			got, lost := uint64(0), error(nil)
			for e, err := range f.events(t.Context(), "m", c.from) {
				if lost = err; err != nil {
					break
				}
				got = e.GetSeq()
			}
			if got != c.want || errors.Is(lost, errCutShort) != c.lost || (lost != nil) != c.lost {
				t.Errorf("the last event was %d, want %d; %v", got, c.want, lost)
			}
		})
	}
}
