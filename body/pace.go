package body

import "time"

// Pace turns the readings of a monotonic clock into whole steps. It reads no clock itself.
type Pace struct {
	Step time.Duration // > 0
	Most time.Duration // no more than this is made up for at once; what is beyond is lost
	at   time.Time     // up to here time was handed out
}

// Due returns how many steps are due at now, and how much time beyond Most is lost: it passed, and no step stands for it.
// The first call starts the clock. Now must carry a monotonic reading; a jump of the wall clock changes nothing.
func (p *Pace) Due(now time.Time) (steps int, lost time.Duration) {
	if p.at.IsZero() {
		p.at = now
		return 0, 0
	}
	behind := now.Sub(p.at)
	if behind > p.Most {
		lost = (behind - p.Most) / p.Step * p.Step
		p.at = p.at.Add(lost)
		behind -= lost
	}
	steps = max(0, int(behind/p.Step))
	p.at = p.at.Add(time.Duration(steps) * p.Step)
	return steps, lost
}
