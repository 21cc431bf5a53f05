package tool

import (
	"fmt"

	contractv1 "interlock/contract/v1"
	"interlock/internal/strictjson"
	"interlock/reject"
)

// report reads the arguments of report_result strictly, naming every fault: a claim is a boolean, never a word for one.
func report(args []byte) Result {
	n, r := strictjson.Parse(args, strictjson.DefaultLimits())
	if r != nil {
		return Refused(*r)
	}
	if n.Kind != strictjson.Object {
		return Refused(reject.New(reject.Malformed, "the arguments are an object, not "+n.Kind.String()))
	}
	var faults []reject.Rejection
	for _, m := range n.Members {
		if m.Name != "success" && m.Name != "message" {
			faults = append(faults, reject.New(reject.UnknownArgument, fmt.Sprintf("%s has no argument %q", ReportName, m.Name)).In(m.Name))
		}
	}
	for _, want := range []struct {
		name string
		kind strictjson.Kind
	}{{"success", strictjson.Bool}, {"message", strictjson.String}} {
		switch given := n.Get(want.name); {
		case given == nil:
			faults = append(faults, reject.New(reject.MissingArgument, fmt.Sprintf("the argument %q is missing", want.name)).In(want.name))
		case given.Kind != want.kind:
			says := fmt.Sprintf("%q must be a %s, not a %s", want.name, want.kind, given.Kind)
			faults = append(faults, reject.New(reject.WrongType, says).In(want.name).Saw(string(given.Raw), "", ""))
		}
	}
	if len(faults) > 0 {
		return Refused(faults...)
	}
	success, _ := n.Get("success").Bool()
	claim := &contractv1.Claim{Reported: true, Success: success, Message: n.Get("message").Text}
	return Result{Verdict: OK, Claim: claim}.with(answer{Claim: "recorded; what was measured decides"})
}
