package guard

import "interlock/reject"

// Close implements body.Driver. An arm that is raised higher than Config.RaisedM, or whose height cannot be measured, is
// not closed: the error is a reject.Rejection by the rule arm_raised, and the body stays open and held.
func (g *Guard) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.open {
		return g.noteRunning(false)
	}
	if g.cfg.RaisedM > 0 {
		if err := g.checkHeight(); err != nil {
			return err
		}
	}
	return g.closeBody()
}

// Abandon closes the body wherever its arm is. It is a person's decision.
func (g *Guard) Abandon() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.open {
		return g.noteRunning(false)
	}
	return g.closeBody()
}

func (g *Guard) checkHeight() error {
	raised := reject.New(reject.NotPermitted, "the arm is raised and would fall; park it first").By("arm_raised").In("body")
	raised.Retry = reject.AfterOperator
	o, err := g.read()
	if err != nil || len(o.JointsRad) != len(g.joints) {
		return raised
	}
	if height := g.cfg.Tip(o.JointsRad)[2]; !(height <= g.cfg.RaisedM) {
		return raised.Saw(number(height), number(g.cfg.RaisedM), "m")
	}
	return nil
}

func (g *Guard) closeBody() error {
	g.open, g.motion.active, g.ramp = false, false, 0
	err := g.inner.Close()
	if g.keeper != nil && !g.running {
		g.keeper.noteMoving(false)
		g.keeper.noteRunning(false)
		g.marked, g.markKept = false, false
		if saveErr := g.keeper.save(); err == nil {
			err = saveErr
		}
	}
	return err
}
