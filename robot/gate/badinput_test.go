package gate_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"interlock/reject"
)

// row is one row of the bad-input catalogue as it reaches the gate.
type row struct {
	ID         string      `json:"id"`
	What       string      `json:"what"`
	Capability string      `json:"capability"`
	Args       string      `json:"args"`
	Base64     string      `json:"args_base64"` // instead of args, where the bytes are no text
	Repeat     int         `json:"repeat"`      // how often the first $ in args is replaced by itself
	Unit       string      `json:"unit"`        // what $ stands for
	Code       reject.Code `json:"code"`        // empty: not refused
	Rule       string      `json:"rule"`
	Field      string      `json:"field"`
	Canonical  string      `json:"canonical"` // of a row that is not refused
}

func (r row) text(t testing.TB) []byte {
	t.Helper()
	if r.Base64 != "" {
		b, err := base64.StdEncoding.DecodeString(r.Base64)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	return []byte(strings.Replace(r.Args, "$", strings.Repeat(r.Unit, r.Repeat), 1))
}

func badInput(t testing.TB) []row {
	t.Helper()
	src, err := os.ReadFile("testdata/badinput.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	if err := json.Unmarshal(src, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// Every row is refused with its code before the planner is asked anything, or comes out in its one canonical form.
//
// Verifies: P31
func TestBadInput(t *testing.T) {
	rows := badInput(t)
	if len(rows) < 100 {
		t.Fatalf("only %d rows", len(rows))
	}
	for _, r := range rows {
		t.Run(r.ID+" "+r.What, func(t *testing.T) {
			g, p := bench(t)
			c := call(r.Capability, "")
			c.Args = r.text(t)
			cleared, l := g.Judge(c, snapshot(), standing(), nil)
			if r.Code == "" {
				demand(t, cleared, l)
				if string(cleared.ArgsJSON()) != r.Canonical {
					t.Errorf("canonical form %s", cleared.ArgsJSON())
				}
				return
			}
			demand(t, cleared, l, fault{r.Code, r.Rule, r.Field})
			if p.asked() != 0 {
				t.Error("the planner was asked")
			}
		})
	}
}

// A scripted corrector can tell what to change from the refusal alone: it is given the code, the place and what it said.
//
// Verifies: P18
func TestRefusalsSayWhereAndWhat(t *testing.T) {
	for _, r := range badInput(t) {
		if r.Code == "" {
			continue
		}
		g, _ := bench(t)
		c := call(r.Capability, "")
		c.Args = r.text(t)
		_, l := g.Judge(c, snapshot(), standing(), nil)
		for _, got := range l {
			given := got.Got != "" || got.Code == reject.MissingArgument || got.Code == reject.Malformed || got.Code == reject.DuplicateKey ||
				got.Code == reject.TooLarge || got.Code == reject.NotFinite
			if got.Field == "" || !given {
				t.Errorf("%s %s: %+v", r.ID, r.What, got)
			}
		}
	}
}
