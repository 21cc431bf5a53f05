package connect_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	rpc "connectrpc.com/connect"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// told is the one Rejection of an error as Connect writes it in JSON.
func told(t *testing.T, text string) (r struct{ Code, Rule, Field, Retry string }) {
	t.Helper()
	var e struct {
		Error *json.RawMessage // of a stream's end
		Code  string
	}
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	raw := []byte(text)
	if e.Error != nil {
		raw = *e.Error
	}
	var refused struct {
		Details []struct {
			Type  string
			Debug struct{ Code, Rule, Field, Retry string }
		}
	}
	if err := json.Unmarshal(raw, &refused); err != nil || len(refused.Details) != 1 || refused.Details[0].Type != "interlock.v1.Rejection" {
		t.Fatalf("no Rejection, %v: %s", err, text)
	}
	return refused.Details[0].Debug
}

// to makes a request one of another path and content type.
func to(path, contentType string, also ...func(*http.Request)) func(*http.Request) {
	return func(r *http.Request) {
		r.URL.Path = path
		r.Header.Set("Content-Type", contentType)
		for _, change := range also {
			change(r)
		}
	}
}

const (
	robotPath = "/interlock.v1.Robot/"
	reflects  = "/grpc.reflection.v1.ServerReflection/"
)

// Whatever the line turns away it does with a code, a rule and a field: what HTTP has a status for too, and what the
// libraries below would say in their own words or in none.
//
// Verifies: T40
func TestWhateverIsTurnedAwayHasACode(t *testing.T) {
	http1 := func(r *http.Request) { r.ProtoMajor, r.ProtoMinor, r.Proto = 1, 1, "HTTP/1.1" }
	for name, c := range map[string]struct {
		change            func(*http.Request)
		status            int
		code, rule, field string
	}{
		"no such call":                    {to(robotPath+"Reset", "application/json"), 404, "NOT_IN_ENUM", "procedure", "path"},
		"no such call, as a stream":       {to(robotPath+"Reset", "application/connect+json"), 404, "NOT_IN_ENUM", "procedure", "path"},
		"no such call, of no type":        {to("/", "text/plain"), 404, "NOT_IN_ENUM", "procedure", "path"},
		"no such call, got":               {to("/interlock.v1.Operator/Approve", "", func(r *http.Request) { r.Method = http.MethodGet }), 404, "NOT_IN_ENUM", "procedure", "path"},
		"nothing below a call":            {to(robotPath+"Start/", "application/json"), 404, "NOT_IN_ENUM", "procedure", "path"},
		"nothing but the reflection":      {to(reflects+"Other", "application/connect+json"), 404, "NOT_IN_ENUM", "procedure", "path"},
		"events by one message":           {to(robotPath+"Events", "application/json"), 415, "MALFORMED", "content_type", "Content-Type"},
		"events by one message, binary":   {to(robotPath+"Events", "application/proto"), 415, "MALFORMED", "content_type", "Content-Type"},
		"a start as a stream":             {to(robotPath+"Start", "application/connect+json"), 415, "MALFORMED", "content_type", "Content-Type"},
		"reflection by one message":       {to(reflects+"ServerReflectionInfo", "application/json"), 415, "MALFORMED", "content_type", "Content-Type"},
		"reflection over HTTP/1.1":        {to(reflects+"ServerReflectionInfo", "application/connect+json", http1), 505, "MALFORMED", "http_version", ""},
		"a call that is got":              {to(robotPath+"Start", "", func(r *http.Request) { r.Method = http.MethodGet }), 405, "MALFORMED", "method", ""},
		"another version":                 {to(robotPath+"Start", "application/json", header("Connect-Protocol-Version", "2")), 400, "MALFORMED", "protocol_version", "Connect-Protocol-Version"},
		"a time that is none":             {to(robotPath+"Start", "application/json", header("Connect-Timeout-Ms", "soon")), 400, "MALFORMED", "timeout", "Connect-Timeout-Ms"},
		"a negative time":                 {to(robotPath+"Start", "application/json", header("Connect-Timeout-Ms", "-1")), 400, "MALFORMED", "timeout", "Connect-Timeout-Ms"},
		"a time of 11 digits":             {to(robotPath+"Start", "application/json", header("Connect-Timeout-Ms", "12345678901")), 400, "MALFORMED", "timeout", "Connect-Timeout-Ms"},
		"events within no time, a stream": {to(robotPath+"Events", "application/connect+json", header("Connect-Timeout-Ms", "soon")), 200, "MALFORMED", "timeout", "Connect-Timeout-Ms"},
	} {
		t.Run(name, func(t *testing.T) {
			server, body := &echo{}, &sealed{}
			reply, text := knock(options(), server, c.change, body)
			if reply.StatusCode != c.status {
				t.Errorf("status %d, want %d", reply.StatusCode, c.status)
			}
			if reply.Header.Get("Content-Type") == "application/connect+json" { // the end of a stream
				if len(text) < 5 || text[0] != 2 || binary.BigEndian.Uint32([]byte(text[1:5])) != uint32(len(text)-5) {
					t.Fatalf("no end of a stream: %q", text)
				}
				text = text[5:]
			}
			if r := told(t, text); r.Code != c.code || r.Rule != c.rule || r.Field != c.field || r.Retry == "" {
				t.Errorf("told %+v, want %s by %q in %q", r, c.code, c.rule, c.field)
			}
			if body.touched || server.asked.Load() > 0 {
				t.Errorf("the body was read: %v; the robot was asked %d times", body.touched, server.asked.Load())
			}
		})
	}
}

// What gRPC's callers are turned away with has the same codes, in gRPC's own places.
//
// Verifies: T40, T04
func TestWhateverIsTurnedAwayHasACodeInGRPC(t *testing.T) {
	base := "http://" + serve(t, "127.0.0.1:0", &echo{}, options())
	for name, spoken := range map[string]rpc.ClientOption{"gRPC": rpc.WithGRPC(), "gRPC-Web": rpc.WithGRPCWeb()} {
		for what, c := range map[string]struct {
			path, header, value string
			status              rpc.Code
			code                reject.Code
			rule, field         string
		}{
			"no such call":        {robotPath + "Reset", "", "", rpc.CodeUnimplemented, reject.NotInEnum, "procedure", "path"},
			"no such service":     {"/interlock.v1.Operator/Approve", "", "", rpc.CodeUnimplemented, reject.NotInEnum, "procedure", "path"},
			"a time of no unit":   {robotPath + "Start", "Grpc-Timeout", "5", rpc.CodeInvalidArgument, reject.Malformed, "timeout", "Grpc-Timeout"},
			"a time of 9 digits":  {robotPath + "Start", "Grpc-Timeout", "123456789m", rpc.CodeInvalidArgument, reject.Malformed, "timeout", "Grpc-Timeout"},
			"a time of no digits": {robotPath + "Start", "Grpc-Timeout", "S", rpc.CodeInvalidArgument, reject.Malformed, "timeout", "Grpc-Timeout"},
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				client := rpc.NewClient[contractv1.StartRequest, contractv1.MissionAck](browser(t, true), base+c.path, spoken)
				q := rpc.NewRequest(&contractv1.StartRequest{MissionId: "m1"})
				if c.header != "" {
					q.Header().Set(c.header, c.value)
				}
				_, err := client.CallUnary(t.Context(), q)
				wantDetail(t, err, c.status, c.code, c.field)
				if r := detail(err); r.GetRule() != c.rule {
					t.Errorf("by the rule %q, want %q", r.GetRule(), c.rule)
				}
			})
		}
	}
}

// detail is the first Rejection of an error.
func detail(err error) *contractv1.Rejection {
	var e *rpc.Error
	if !errors.As(err, &e) || len(e.Details()) == 0 {
		return nil
	}
	v, _ := e.Details()[0].Value()
	r, _ := v.(*contractv1.Rejection)
	return r
}

// A content type's letters and its charset are no reason to refuse a call, whoever reads it then.
//
// Verifies: T40
func TestAContentTypeIsReadAsItIsMeant(t *testing.T) {
	for name, change := range map[string]func(*http.Request){
		"JSON":             to(robotPath+"Start", "Application/JSON; charset=\"utf-8\""),
		"protobuf":         to(robotPath+"Start", "application/proto; charset=utf-8"),
		"times":            to(robotPath+"Start", "application/proto", header("Connect-Timeout-Ms", "10000"), header("Connect-Protocol-Version", "1")),
		"the other's time": to(robotPath+"Start", "application/proto", header("Grpc-Timeout", "soon")),
	} {
		t.Run(name, func(t *testing.T) {
			body := ""
			if name == "JSON" {
				body = "{}"
			}
			server := &echo{}
			if reply, text := knock(options(), server, change, strings.NewReader(body)); reply.StatusCode != http.StatusOK || server.asked.Load() != 1 {
				t.Errorf("status %d: %s", reply.StatusCode, text)
			}
		})
	}
}
