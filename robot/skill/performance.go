package skill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Why a source's motion ends before it says so. Both come wrapped, with the source's name.
var (
	ErrSourceSilent  = errors.New("skill: the source said nothing for too long")
	ErrSourceOverdue = errors.New("skill: the source did not end within its bound")
)

// performance is one motion that a source plays. It belongs to the robot's loop; the source is asked by a goroutine.
type performance struct {
	source    *registered
	tooFast   func(fromRad, toRad []float64) error
	questions chan question
	answers   chan said
	end       context.CancelFunc

	asked   bool
	heardAt time.Duration // of the last answer
	at      []float64     // the last setpoint
	phase   string
	over    bool
}

type question struct {
	elapsed     time.Duration
	observedRad []float64
}

type said struct {
	Answer
	err error
}

// perform begins a motion of the source with the arm sent to atRad; tooFast knows the limits of the verb.
func (s *registered) perform(atRad []float64, tooFast func(fromRad, toRad []float64) error) *performance {
	ctx, end := context.WithCancel(context.Background())
	p := &performance{source: s, tooFast: tooFast, questions: make(chan question, 1), answers: make(chan said, 1), end: end, at: atRad, phase: s.name}
	go p.ask(ctx)
	return p
}

// ask puts the questions to the source until ctx ends. A source that has not come back from an older motion is waited for:
// to this motion that is silence.
func (p *performance) ask(ctx context.Context) {
	select {
	case p.source.playing <- struct{}{}:
		defer func() { <-p.source.playing }()
	case <-ctx.Done():
		return
	}
	begun := false
	for {
		select {
		case q := <-p.questions:
			if ctx.Err() != nil {
				return
			}
			p.answers <- p.source.answer(ctx, q, !begun) // there is room: nothing is asked before this was taken
			begun = true
		case <-ctx.Done():
			return
		}
	}
}

// answer asks once. A source that panics has failed, and the robot goes on.
func (s *registered) answer(ctx context.Context, q question, first bool) (out said) {
	defer func() {
		if r := recover(); r != nil {
			out = said{err: fmt.Errorf("panic: %v", r)}
		}
	}()
	if first {
		if err := s.source.Begin(ctx, q.observedRad); err != nil {
			return said{err: err}
		}
	}
	a, err := s.source.Next(ctx, q.elapsed, q.observedRad)
	a.PositionsRad = slices.Clone(a.PositionsRad)
	return said{a, err}
}

// next returns the setpoint for the time since the source began: what it says, or the last one again while it says nothing.
func (p *performance) next(elapsed time.Duration, observedRad []float64) (positionsRad []float64, phase string, done bool, err error) {
	if p.over {
		return slices.Clone(p.at), p.phase, true, nil
	}
	if !p.asked {
		p.questions <- question{elapsed, slices.Clone(observedRad)}
		p.asked = true
	}
	if a, heard := p.hear(); heard {
		p.asked, p.heardAt = false, elapsed
		if err := p.take(a); err != nil {
			return nil, p.phase, false, err
		}
	}
	switch {
	case p.over:
	case elapsed-p.heardAt >= SourceSilence:
		return nil, p.phase, false, fmt.Errorf("source %s: %w: %v", p.source.name, ErrSourceSilent, SourceSilence)
	case elapsed > p.source.is.Bound:
		return nil, p.phase, false, fmt.Errorf("source %s: %w: %v", p.source.name, ErrSourceOverdue, p.source.is.Bound)
	}
	return slices.Clone(p.at), p.phase, p.over, nil
}

// hear returns the answer if it comes within a part of the tick.
func (p *performance) hear() (said, bool) {
	select {
	case a := <-p.answers:
		return a, true
	default:
	}
	t := time.NewTimer(answerWithin)
	defer t.Stop()
	select {
	case a := <-p.answers:
		return a, true
	case <-t.C:
		return said{}, false
	}
}

// take makes an answer the setpoint. Words and speed are judged here; the rest is the guard's to judge.
func (p *performance) take(a said) error {
	switch {
	case a.err != nil:
		return fmt.Errorf("source %s failed: %.200q", p.source.name, a.err.Error())
	case !phaseName(a.Phase):
		return fmt.Errorf("source %s: %.40q is no name of a phase", p.source.name, a.Phase)
	}
	switch a.Does {
	case Waits:
		a.PositionsRad = p.at
	case Goes:
	case Ends:
		p.over = true
		if a.PositionsRad == nil {
			a.PositionsRad = p.at
		}
	default:
		return fmt.Errorf("source %s: it answers %d, which is nothing it can do", p.source.name, a.Does)
	}
	if err := p.tooFast(p.at, a.PositionsRad); err != nil {
		return fmt.Errorf("source %s: %w", p.source.name, err)
	}
	p.at = a.PositionsRad
	if a.Phase != "" {
		p.phase = a.Phase
	}
	return nil
}

// phaseName reports whether the text may stand in events: it may be empty.
func phaseName(s string) bool {
	for _, c := range s {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_') {
			return false
		}
	}
	return len(s) <= longestPhase
}
