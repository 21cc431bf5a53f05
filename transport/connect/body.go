package connect

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	rpc "connectrpc.com/connect"
	"google.golang.org/protobuf/reflect/protoreflect"

	"interlock/reject"
)

// envelopeBytes is what stands before a message in gRPC, gRPC-Web and Connect streams: a byte of flags and a length.
const envelopeBytes = 5

// read takes the whole body, bounded in bytes and time, holds it against the method's request, and puts it back for
// the protocol's own reader. Every method takes exactly one message, so the body is bounded by it.
func read(w http.ResponseWriter, r *http.Request, f form, request protoreflect.MessageDescriptor, l Limits) (rpc.Code, *reject.Rejection) {
	most := int64(l.BodyBytes)
	if f.enveloped {
		most += envelopeBytes
	}
	if r.ContentLength > most {
		return rpc.CodeInvalidArgument, tooLong(r.ContentLength, most)
	}
	var body []byte
	if r.ContentLength != 0 {
		control := http.NewResponseController(w)
		_ = control.SetReadDeadline(time.Now().Add(l.Body)) // where there are none, the header's limit holds
		var err error
		body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, most))
		var past *http.MaxBytesError
		switch {
		case errors.As(err, &past):
			return rpc.CodeInvalidArgument, tooLong(most+1, most)
		case err != nil:
			return rpc.CodeInvalidArgument, ptr(reject.New(reject.Malformed, "the body broke off or took too long").By("body"))
		}
		_ = control.SetReadDeadline(time.Time{})
	}
	message := body
	if f.enveloped {
		var bad *reject.Rejection
		if message, bad = unwrapped(body); bad != nil {
			return rpc.CodeInvalidArgument, bad
		}
	}
	if l := check(message, f, request); l != nil {
		return status(l.Code), l
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return 0, nil
}

func check(message []byte, f form, request protoreflect.MessageDescriptor) *reject.Rejection {
	if f.json {
		return checkJSON(message, request)
	}
	return checkWire(message, request)
}

// unwrapped returns the one message of an enveloped body.
func unwrapped(body []byte) ([]byte, *reject.Rejection) {
	if len(body) < envelopeBytes {
		return nil, ptr(reject.New(reject.Malformed, "the body holds no message").By("envelope"))
	}
	if body[0] != 0 {
		return nil, ptr(reject.New(reject.Malformed, "compressed requests are not read").By("encoding").Saw(strconv.Itoa(int(body[0])), "0", ""))
	}
	message := body[envelopeBytes:]
	if n := binary.BigEndian.Uint32(body[1:]); uint64(n) != uint64(len(message)) {
		return nil, ptr(reject.New(reject.Malformed, fmt.Sprintf("the message is announced with %d bytes and has %d", n, len(message))).By("envelope"))
	}
	return message, nil
}

func tooLong(got, most int64) *reject.Rejection {
	return ptr(reject.New(reject.TooLarge, fmt.Sprintf("a request has at most %d bytes", most)).By("body").
		Saw(strconv.FormatInt(got, 10), strconv.FormatInt(most, 10), "bytes"))
}
