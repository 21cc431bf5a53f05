package connect

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	rpc "connectrpc.com/connect"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// A server that is coming to its end tells whoever still calls, with a code. A client of ours takes its line for lost, so
// that it comes back: nothing was said about its call.
//
// Verifies: T41
func TestAnEndingServerSaysSo(t *testing.T) {
	heard := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a call was heard after the end") })
	over := &tally{next: heard, errors: rpc.NewErrorWriter(), retryAfter: 1500 * time.Millisecond, none: make(chan struct{})}
	over.end()
	reply := httptest.NewRecorder()
	over.ServeHTTP(reply, httptest.NewRequest(http.MethodPost, "/interlock.v1.Robot/Start", strings.NewReader("{}")))
	text, err := io.ReadAll(reply.Body)
	text = bytes.ReplaceAll(text, []byte(" "), nil) // debug texts have them here or there
	if err != nil || reply.Code != http.StatusServiceUnavailable || reply.Header().Get("Retry-After") != "2" ||
		!strings.Contains(string(text), `"code":"OVERLOADED"`) || !strings.Contains(string(text), `"rule":"ending"`) {
		t.Errorf("%d %v %s, %v", reply.Code, reply.Header(), text, err)
	}

	s := httptest.NewUnstartedServer(over)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	defer s.Close()
	client, closer, err := Dial(strings.TrimPrefix(s.URL, "http://"), DialOptions{Reconnects: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = closer.Close() }() // never fails
	lost := func(what string, err error) {
		if rpc.CodeOf(err) != rpc.CodeUnavailable || errors.As(err, new(reject.List)) {
			t.Errorf("%s: %T %v, want a line that is lost", what, err, err)
		}
	}
	ack, err := client.Start(t.Context(), &contractv1.StartRequest{MissionId: "m1"})
	lost("a start, "+ack.String(), err)
	_, err = client.Observe(t.Context(), &contractv1.ObserveRequest{})
	lost("a look", err)
	for _, err = range client.Events(t.Context(), &contractv1.EventsRequest{MissionId: "m1"}) {
		lost("events", err)
	}
	if err == nil {
		t.Error("the events ended as if they were all")
	}
}
