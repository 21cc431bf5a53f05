package connect

import (
	"mime"
	"net/http"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"interlock/reject"
)

// form is how a request's body is written, and for whom.
type form struct{ enveloped, json, grpc bool }

// forms are the content types that are read.
func forms(contentType string) (form, bool) {
	switch contentType {
	case "application/json":
		return form{json: true}, true
	case "application/proto":
		return form{}, true
	case "application/connect+json":
		return form{enveloped: true, json: true}, true
	case "application/connect+proto":
		return form{enveloped: true}, true
	case "application/grpc+json", "application/grpc-web+json":
		return form{enveloped: true, json: true, grpc: true}, true
	case "application/grpc", "application/grpc+proto", "application/grpc-web", "application/grpc-web+proto":
		return form{enveloped: true, grpc: true}, true
	}
	return form{}, false
}

// formOf reads the header's word on a call of the method; nil is the reflection's, a stream both ways. What it lets pass
// the protocol's own reader takes, which has no refusals of ours: it would turn a request away with a status alone.
func formOf(r *http.Request, method protoreflect.MethodDescriptor) (form, *reject.Rejection) {
	if r.Method != http.MethodPost {
		return form{}, ptr(reject.New(reject.Malformed, "calls are made by POST").By("method"))
	}
	f, bad := contentOf(r)
	if bad != nil {
		return form{}, bad
	}
	streams := method == nil || method.IsStreamingServer()
	switch {
	case streams && !f.enveloped:
		return form{}, ptr(reject.New(reject.Malformed, "this call is answered by a stream: its content type is application/connect+json, or another with an envelope").
			By("content_type").In("Content-Type"))
	case !streams && f.enveloped && !f.grpc:
		return form{}, ptr(reject.New(reject.Malformed, "this call is answered by one message: its content type is application/json or application/proto").
			By("content_type").In("Content-Type"))
	case method == nil && r.ProtoMajor < 2:
		return form{}, ptr(reject.New(reject.Malformed, "reflection is a stream both ways, which needs HTTP/2").By("http_version"))
	}
	return f, terms(r.Header, f)
}

// contentOf reads the content type, and leaves it as the protocol's own reader knows it.
func contentOf(r *http.Request) (form, *reject.Rejection) {
	types := r.Header["Content-Type"]
	if len(types) != 1 {
		return form{}, ptr(reject.New(reject.Malformed, "a request has one content type").By("content_type").In("Content-Type"))
	}
	name, parameters, err := mime.ParseMediaType(types[0])
	f, known := forms(name)
	for k, v := range parameters {
		known = known && k == "charset" && strings.EqualFold(v, "utf-8")
	}
	if err != nil || !known {
		return form{}, ptr(reject.New(reject.Malformed, "a request is protobuf or JSON, and its content type says so").By("content_type").In("Content-Type"))
	}
	r.Header.Set("Content-Type", name)
	return f, nil
}

// terms refuses what is said beside the message and is not read: a compressed body, since what it becomes is not known
// before, another version of the protocol, and a time that is none.
func terms(h http.Header, f form) *reject.Rejection {
	for _, name := range []string{"Content-Encoding", "Grpc-Encoding", "Connect-Content-Encoding"} {
		for _, v := range h[name] {
			if v != "identity" && v != "" {
				return ptr(reject.New(reject.Malformed, "compressed requests are not read").By("encoding").In(name))
			}
		}
	}
	for _, v := range h["Connect-Protocol-Version"] {
		if v != "1" && v != "" && !f.grpc {
			return ptr(reject.New(reject.Malformed, "of the Connect protocol version 1 is spoken").By("protocol_version").In("Connect-Protocol-Version"))
		}
	}
	name, ok := "Connect-Timeout-Ms", func(v string) bool { return digits(v, 10) }
	if f.grpc {
		name, ok = "Grpc-Timeout", grpcTime
	}
	for _, v := range h[name] {
		if v != "" && !ok(v) {
			return ptr(reject.New(reject.Malformed, "the time that the call may take cannot be read").By("timeout").In(name))
		}
	}
	return nil
}

// digits reports whether the text is a decimal number of 1 to most digits.
func digits(v string, most int) bool {
	return v != "" && len(v) <= most && !strings.ContainsFunc(v, func(c rune) bool { return c < '0' || c > '9' })
}

// grpcTime reports whether the text is a time of gRPC's: at most 8 digits and a unit from hours to nanoseconds.
func grpcTime(v string) bool {
	last := len(v) - 1
	return last > 0 && digits(v[:last], 8) && strings.Contains("HMSmun", v[last:])
}
