package operator_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	contractv1 "interlock/contract/v1"
	"interlock/robot/operator"
)

// mutations is the act with one bit of one field changed, one byte cut off and one added, for every field, byte and bit.
func mutations(a *contractv1.Act) func(yield func(field string, m *contractv1.Act) bool) {
	return func(yield func(string, *contractv1.Act) bool) {
		fields := a.ProtoReflect().Descriptor().Fields()
		for i := range fields.Len() {
			f := fields.Get(i)
			for _, v := range mutated(f, a.ProtoReflect().Get(f)) {
				m := proto.CloneOf(a)
				m.ProtoReflect().Set(f, v)
				if !yield(string(f.Name()), m) {
					return
				}
			}
		}
	}
}

func mutated(f protoreflect.FieldDescriptor, v protoreflect.Value) (all []protoreflect.Value) {
	switch f.Kind() {
	case protoreflect.Uint64Kind:
		for bit := range 64 {
			all = append(all, protoreflect.ValueOfUint64(v.Uint()^1<<bit))
		}
	case protoreflect.BytesKind:
		for _, b := range changed(v.Bytes()) {
			all = append(all, protoreflect.ValueOfBytes(b))
		}
	default:
		for _, b := range changed([]byte(v.String())) {
			all = append(all, protoreflect.ValueOfString(string(b)))
		}
	}
	return all
}

// changed are the texts one bit, or one byte at an end, away from this one.
func changed(text []byte) (all [][]byte) {
	for i := range text {
		for bit := range 8 {
			b := append([]byte(nil), text...)
			b[i] ^= 1 << bit
			all = append(all, b)
		}
	}
	if len(text) > 0 {
		all = append(all, text[1:], text[:len(text)-1])
	}
	return append(all, append([]byte{' '}, text...), append(append([]byte(nil), text...), ' '), append(append([]byte(nil), text...), 0))
}

// tally counts what was refused, and complains about what was not.
type tally struct {
	*testing.T
	refused int
}

func (c *tally) refuse(what string, accepted bool) {
	if accepted {
		c.Errorf("accepted: %s", what)
	}
	c.refused++
}

// An approval fits one act. Every change of one bit of every field of the act, of its hash and of the text is refused;
// so are another robot, contract, lease epoch, principal, task and desk, a second use, and every use after the end. The
// act itself passes exactly once.
//
// Verifies: O10, P34
func TestAnApprovalFitsOneAct(t *testing.T) {
	c := &tally{T: t}
	passed := 0
	for _, name := range []string{"red cube", "würfel", "a \"quoted\" \u202e name"} {
		d := operator.NewDesk(operator.Config{FirstNumber: 100})
		p := asked(t, d, start, act(name))
		bystander := asked(t, d, start, act("bystander"))
		c.approveOthers(d, p, bystander)
		approved(t, d, start, p)
		c.useOthers(d, p, bystander)
		if hash, ok := d.Granted(start+grantTTL-1, act(name)); ok && d.Use(start+grantTTL-1, hash) {
			passed++
		}
		c.useTwice(d, p)
		late := asked(t, d, start+time.Hour, act(name)) // the same call has another number, so another hash
		c.refuse("the approval of the first request for the second", late.GetHash() == p.GetHash())
		approved(t, d, start+time.Hour, late)
		c.useLate(d, late)
	}
	if passed != 3 {
		t.Errorf("of 3 acts that were approved %d passed", passed)
	}
	if c.refused < 10_000 {
		t.Errorf("only %d mutations were tried", c.refused)
	}
	t.Logf("%d mutations refused, %d acts passed once", c.refused, passed)
}

// approveOthers sends approvals of everything but the act, and uses the act before anybody approved it.
func (c *tally) approveOthers(d *operator.Desk, p, bystander *contractv1.Pending) {
	send := func(what, hash, text string) {
		_, refusal := d.Approve(start, &contractv1.ApproveRequest{Hash: hash, Displayed: text, By: "ada"})
		c.refuse("approval of "+what, refusal == nil)
	}
	text := p.GetAct().GetDisplayed()
	for _, h := range changed([]byte(p.GetHash())) {
		send("the hash "+string(h), string(h), text)
	}
	for _, other := range changed([]byte(text)) {
		send("another text", p.GetHash(), string(other))
	}
	send("one hash with the text of the other", p.GetHash(), bystander.GetAct().GetDisplayed())
	for field, m := range mutations(p.GetAct()) {
		send("an act with another "+field, operator.Hash(m), m.GetDisplayed())
	}
	_, ok := d.Granted(start, p.GetAct())
	c.refuse("an act that nobody approved", ok)
	c.refuse("the use of what nobody approved", d.Use(start, p.GetHash()))
}

// useOthers uses an approval for everything but its act.
func (c *tally) useOthers(d *operator.Desk, p, bystander *contractv1.Pending) {
	_, refusal := d.Approve(start, yes(p))
	c.refuse("approved twice", refusal == nil)
	for field, m := range mutations(p.GetAct()) {
		hash, ok := d.Granted(start, m)
		if field == "number" { // of the request; the call is the same
			if !ok || hash != p.GetHash() {
				c.Fatal("the same call, asked for again, is another")
			}
			continue
		}
		c.refuse("an act with another "+field, ok)
	}
	for _, h := range changed([]byte(p.GetHash())) {
		c.refuse("the use of the hash "+string(h), d.Use(start, string(h)))
	}
	other := operator.NewDesk(operator.Config{}) // another robot, or this one after a restart
	_, ok := other.Granted(start, p.GetAct())
	c.refuse("at another desk", ok || other.Use(start, p.GetHash()))
	_, ok = d.Granted(start, bystander.GetAct())
	c.refuse("for the act beside it", ok || d.Use(start, bystander.GetHash()))
}

// useTwice replays what was used.
func (c *tally) useTwice(d *operator.Desk, p *contractv1.Pending) {
	for i := range 100 {
		now := start + grantTTL - 1 + time.Duration(i)*time.Second
		_, ok := d.Granted(now, p.GetAct())
		c.refuse("used, and again", ok || d.Use(now, p.GetHash()))
		_, refusal := d.Approve(now, yes(p))
		c.refuse("used, and approved again", refusal == nil)
	}
}

// useLate uses what was approved an hour after the start, at its end and after it.
func (c *tally) useLate(d *operator.Desk, p *contractv1.Pending) {
	for i := range 100 {
		now := start + time.Hour + grantTTL + time.Duration(i)*time.Second
		_, ok := d.Granted(now, p.GetAct())
		c.refuse("after its end", ok || d.Use(now, p.GetHash()))
	}
}
