package connect_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"interlock/transport/connect"
)

// sealed is a body that must not be touched.
type sealed struct{ touched bool }

func (b *sealed) Read([]byte) (int, error) {
	b.touched = true
	return 0, errors.New("the body was read")
}

func (b *sealed) Close() error { return nil }

// knock sends one request to a handler and returns the status and the reply's text.
func knock(o connect.Options, server *echo, change func(*http.Request), body io.Reader) (*http.Response, string) {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:7171/interlock.v1.Robot/Start", body)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+secret)
	change(r)
	w := httptest.NewRecorder()
	connect.NewHandler(server, o).ServeHTTP(w, r)
	reply := w.Result()
	text, _ := io.ReadAll(reply.Body) // a recorder's body cannot fail
	return reply, string(text)
}

func header(name string, values ...string) func(*http.Request) {
	return func(r *http.Request) { r.Header[name] = values }
}

func called(host string) func(*http.Request) { return func(r *http.Request) { r.Host = host } }

// foreign is what a page elsewhere, a rebound name or a stranger can send.
func foreign() map[string]struct {
	change func(*http.Request)
	status int
	rule   string
} {
	type c = struct {
		change func(*http.Request)
		status int
		rule   string
	}
	all := map[string]c{}
	for _, origin := range []string{"https://evil.example", "http://127.0.0.1:7171", "http://localhost", "null", "file://", "", "https://console.example"} {
		all["origin "+origin] = c{header("Origin", origin), 403, "origin"}
		all["preflight from "+origin] = c{func(r *http.Request) {
			r.Method = http.MethodOptions
			r.Header["Origin"] = []string{origin}
			r.Header.Set("Access-Control-Request-Method", "POST")
		}, 403, "origin"}
	}
	all["a second origin"] = c{header("Origin", "https://console.example", "https://evil.example"), 403, "origin"}
	for _, site := range []string{"cross-site", "same-site", "same-origin", "what"} {
		all["a page without origin, "+site] = c{header("Sec-Fetch-Site", site), 403, "origin"}
	}
	for _, host := range []string{"evil.example", "evil.example:7171", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.7", "0.0.0.0", "[::]", "", "robot", "2130706433", "127.1", "::ffff:10.0.0.1",
		"evil-localhost", "notlocalhost", "notlocalhost:7171", "robot.localhost", "localhost.", "localhost.evil.example:7171", "localhost@evil.example", "[::1].evil.example",
		"127.0.0.1.", "evil.127.0.0.1", "[::ffff:10.0.0.1]:7171", "localhostx", "l0calhost"} {
		all["host "+host] = c{called(host), 403, "host"}
	}
	for name, value := range map[string]string{
		"no scheme": secret, "another scheme": "Basic " + secret, "another token": "Bearer " + strings.Repeat("0", 32), "a prefix": "Bearer " + secret[:31],
		"more": "Bearer " + secret + "0", "spaces": "Bearer  " + secret, "empty": "", "only the scheme": "Bearer ",
	} {
		all["authorization: "+name] = c{header("Authorization", value), 401, "token"}
	}
	all["no authorization"] = c{func(r *http.Request) { r.Header.Del("Authorization") }, 401, "token"}
	all["two authorizations"] = c{header("Authorization", "Bearer "+secret, "Bearer "+secret), 401, "token"}
	for _, ct := range []string{"text/plain", "text/plain; charset=application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml", "", "application/json; charset=utf-16", "application/grpc-web-text", "application/json, text/plain"} {
		all["content type "+ct] = c{header("Content-Type", ct), 415, "content_type"}
	}
	all["two content types"] = c{header("Content-Type", "application/json", "text/plain"), 415, "content_type"}
	all["no content type"] = c{func(r *http.Request) { r.Header.Del("Content-Type") }, 415, "content_type"}
	for _, m := range []string{http.MethodGet, http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodHead, http.MethodTrace, "START"} {
		all["method "+m] = c{func(r *http.Request) { r.Method = m }, 405, "method"}
	}
	for _, h := range []string{"Content-Encoding", "Grpc-Encoding", "Connect-Content-Encoding"} {
		all[h] = c{header(h, "gzip"), 400, "encoding"}
	}
	return all
}

// Nothing that a foreign page, a rebound name or a stranger sends is parsed, let alone heard by the robot.
//
// Verifies: P32
func TestForeignersAreTurnedAwayUnread(t *testing.T) {
	server := &echo{}
	o := connect.Options{Token: secret}
	for name, c := range foreign() {
		t.Run(name, func(t *testing.T) {
			body := &sealed{}
			reply, text := knock(o, server, c.change, body)
			if reply.StatusCode != c.status {
				t.Errorf("status %d, want %d: %s", reply.StatusCode, c.status, text)
			}
			if !strings.Contains(text, `"rule":"`+c.rule+`"`) && !strings.Contains(text, `"rule": "`+c.rule+`"`) {
				t.Errorf("the refusal does not name the rule %s: %s", c.rule, text)
			}
			if body.touched || server.asked.Load() > 0 {
				t.Errorf("the body was read: %v; the robot was asked %d times", body.touched, server.asked.Load())
			}
			if allowed := reply.Header.Get("Access-Control-Allow-Origin"); c.rule == "origin" && allowed != "" {
				t.Errorf("the page %s is told that it may read the reply", allowed)
			}
		})
	}
}

// Verifies: P32
func TestWhoMayCallGetsIn(t *testing.T) {
	o := connect.Options{Token: secret}
	for name, change := range map[string]func(*http.Request){
		"as is":                func(*http.Request) {},
		"localhost":            called("localhost"),
		"with a port":          called("localhost:7171"),
		"in mixed case":        called("LocalHost:7171"),
		"in capitals":          called("LOCALHOST"),
		"by number":            called("127.0.0.1"),
		"by number and port":   called("127.0.0.1:7171"),
		"another loopback":     called("127.8.9.10"),
		"IPv6":                 called("[::1]:7171"),
		"IPv6 without a port":  called("[::1]"),
		"typed by hand":        header("Sec-Fetch-Site", "none"),
		"charset":              header("Content-Type", "application/json; charset=UTF-8"),
		"identity encoding":    header("Content-Encoding", "identity"),
		"scheme in small case": header("Authorization", "bearer "+secret),
	} {
		t.Run(name, func(t *testing.T) {
			server := &echo{}
			reply, text := knock(o, server, change, strings.NewReader(`{"mission_id":"m1"}`))
			if reply.StatusCode != http.StatusOK || server.asked.Load() != 1 {
				t.Errorf("status %d, asked %d times: %s", reply.StatusCode, server.asked.Load(), text)
			}
		})
	}
}

// Without a token nobody gets in over TCP, whatever is brought.
//
// Verifies: P32
func TestNoTokenLetsNobodyIn(t *testing.T) {
	for _, value := range []string{"", "Bearer ", "Bearer", "Bearer " + secret} {
		server := &echo{}
		if reply, _ := knock(connect.Options{}, server, header("Authorization", value), &sealed{}); reply.StatusCode != http.StatusUnauthorized || server.asked.Load() > 0 {
			t.Errorf("%q: status %d", value, reply.StatusCode)
		}
	}
}
