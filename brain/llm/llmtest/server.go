package llmtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"interlock/brain/llm"
)

// Setup says how the suite wants a provider built. Zero values are the provider's defaults.
type Setup struct {
	BaseURL  string
	Key      llm.Key
	Timeout  time.Duration
	MaxBytes int64
}

// fake is a server on the loopback address with one answer for everybody.
type fake struct {
	url  string
	mu   sync.Mutex
	got  [][]byte // bodies of all requests
	auth []string // their Authorization headers
}

// serve starts a fake that ends with the test.
func serve(t *testing.T, answer http.HandlerFunc) *fake {
	f := &fake{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("the request's body: %v", err)
		}
		f.mu.Lock()
		f.got, f.auth = append(f.got, body), append(f.auth, r.Header.Get("Authorization"))
		f.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	f.url = s.URL
	return f
}

// body answers with a status and a text.
func body(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

// held answers with a text and then keeps the line open until the client leaves.
func held(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, text)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

// broken answers with a text and cuts the line.
func broken(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, text)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// endless writes one line for ever.
func endless(line string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
		}
	}
}

// request returns the one request that came, decoded.
func (f *fake) request(t *testing.T) (decoded map[string]any, raw []byte) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.got) != 1 {
		t.Fatalf("%d requests came, want 1", len(f.got))
	}
	if err := json.NewDecoder(bytes.NewReader(f.got[0])).Decode(&decoded); err != nil {
		t.Fatalf("the request is no JSON: %v", err)
	}
	return decoded, f.got[0]
}
