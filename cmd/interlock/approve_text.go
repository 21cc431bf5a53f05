package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	contractv1 "interlock/contract/v1"
)

// pendingSaid is a call that waits, or that was decided.
type pendingSaid struct {
	Robot        string          `json:"robot"`
	Hash         string          `json:"hash"`
	State        string          `json:"state"` // waits, approved or denied
	Number       uint64          `json:"number"`
	Capability   string          `json:"capability"`
	Args         json.RawMessage `json:"args"` // null: no JSON
	Principal    string          `json:"principal"`
	Task         string          `json:"task,omitempty"`
	LeaseEpoch   uint64          `json:"lease_epoch"`
	ContractHash string          `json:"contract_hash"`
	Displayed    string          `json:"displayed"`
	Because      []chatRefusal   `json:"because"`
	ExpiresInMS  int64           `json:"expires_in_ms"`
}

func pendingOf(l *personLine, p *contractv1.Pending, state string) pendingSaid {
	a := p.GetAct()
	return pendingSaid{
		a.GetRobot(), p.GetHash(), state, a.GetNumber(), a.GetCapability(), raw(string(a.GetArgsJson())), a.GetPrincipal(), a.GetTaskId(),
		a.GetLeaseEpoch(), a.GetContractHash(), a.GetDisplayed(), refusalsOf(p.GetBecause()), p.GetExpiresInMs(),
	}
}

func standingOf(p *contractv1.Pending) string {
	if p.GetApproved() {
		return "approved"
	}
	return "waits"
}

// pendingText is a call as a person reads it.
func pendingText(l *personLine, p *contractv1.Pending) string {
	return fmt.Sprintf("%.12s %s, %s left\n%s", p.GetHash(), standingOf(p), shortly(p.GetExpiresInMs()), shownLines(p.GetAct().GetDisplayed()))
}

// shortly is a duration as a person reads it, in whole seconds, never more than there are.
func shortly(ms int64) string {
	return (time.Duration(ms) * time.Millisecond).Truncate(time.Second).String()
}

func (f *approveFlags) printAll(out io.Writer, l *personLine, list *contractv1.PendingList) error {
	for _, p := range list.GetPending() {
		if f.asJSON {
			if err := printSafe(out, pendingOf(l, p, standingOf(p))); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintf(out, "%s    interlock approve %.12s%s  (--deny takes it off)\n", pendingText(l, p), p.GetHash(), l.argument); err != nil {
			return err
		}
	}
	if f.asJSON {
		return nil
	}
	text := ""
	if len(list.GetPending()) == 0 {
		text = l.name() + ": nothing waits for a person\n"
	}
	if by := list.GetTakenBy(); by != "" {
		text += l.name() + " is taken by " + shown(by) + "\n"
	}
	_, err := io.WriteString(out, text)
	return err
}
