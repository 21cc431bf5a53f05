package llm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The bounds of a line where its config names none.
const (
	DefaultTimeout  = 2 * time.Minute // one whole reply, on a busy processor
	DefaultMaxBytes = 4 << 20         // one whole answer; a reply that action reads is far shorter
)

// LineConfig says which server a line goes to and within which bounds.
type LineConfig struct {
	Provider string // for messages: "ollama:qwen3:4b"
	BaseURL  string // scheme, host, port and path prefix
	Key      Key    // sent as a bearer token; only over TLS or to the loopback address
	Timeout  time.Duration
	MaxBytes int64
}

// Line is the way to one model server. It follows no redirect, uses no proxy for the loopback address, keeps no connection
// open, and bounds every answer in time and bytes.
type Line struct {
	cfg    LineConfig
	base   string
	client *http.Client
}

// NewLine checks the config and builds the line; nothing is sent.
func NewLine(cfg LineConfig) (*Line, error) {
	if cfg.Timeout == 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	u, err := url.Parse(cfg.BaseURL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: the base URL cannot be read; it is http://HOST:PORT or https://HOST", cfg.Provider) // the text of err holds the URL, password and all
	case u.User != nil:
		return nil, fmt.Errorf("%s: the base URL holds a user or password; keys come from the environment or a file", cfg.Provider)
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return nil, fmt.Errorf("%s: the base URL is http://HOST:PORT or https://HOST, not %q", cfg.Provider, cfg.BaseURL)
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%s: the base URL has no query and no fragment", cfg.Provider)
	case cfg.Timeout < 0 || cfg.MaxBytes < 0:
		return nil, fmt.Errorf("%s: a bound is negative", cfg.Provider)
	case cfg.Key.Set() && u.Scheme == "http" && !loopback(u.Hostname()):
		return nil, fmt.Errorf("%s: a key is sent over https or to the loopback address only", cfg.Provider)
	}
	transport := &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
	if loopback(u.Hostname()) {
		transport.Proxy = nil
	}
	refuse := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Line{cfg: cfg, base: strings.TrimSuffix(cfg.BaseURL, "/"), client: &http.Client{Transport: transport, CheckRedirect: refuse}}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Fault builds a fault of this line's provider; the key is taken out of says, and nothing of an answer that holds it is
// kept.
func (l *Line) Fault(kind FaultKind, says string, wire []byte) *Fault {
	f := &Fault{Provider: l.cfg.Provider, Kind: kind, Says: l.hide(says), Wire: wire}
	if l.cfg.Key.in(wire) {
		f.Wire = nil
	}
	return f
}

// hide takes the key out of a text and bounds it to one short line.
func (l *Line) hide(text string) string {
	if l.cfg.Key.Set() {
		text = strings.ReplaceAll(text, *l.cfg.Key.secret, hidden)
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 400 {
		text = strings.ToValidUTF8(text[:400], "") + "…"
	}
	return text
}

// Post sends the body as JSON to the path below the base URL and returns the answer's bytes. Where until is not nil, it
// gets every line of the answer as it comes and ends it by returning true. Where the answer broke off, what came is
// returned all the same: only a terminal event in it says that it is whole. The error is a *Fault.
func (l *Line) Post(ctx context.Context, path string, body any, until func(line []byte) bool) (wire []byte, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, l.Fault(BadRequest, err.Error(), nil)
	}
	limited, done := context.WithTimeout(ctx, l.cfg.Timeout)
	defer done()
	req, err := http.NewRequestWithContext(limited, http.MethodPost, l.base+path, bytes.NewReader(text))
	if err != nil {
		return nil, l.Fault(BadRequest, err.Error(), nil)
	}
	req.Header.Set("Content-Type", "application/json")
	if l.cfg.Key.Set() {
		req.Header.Set("Authorization", "Bearer "+*l.cfg.Key.secret)
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return nil, l.broken(ctx, limited, err, nil)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, l.status(resp)
	}
	wire, err = l.read(resp.Body, until)
	switch {
	case l.cfg.Key.in(wire):
		return nil, l.Fault(KeyEchoed, "the server's answer holds the key; it is not to be trusted with one", nil)
	case err == nil:
		return wire, nil
	case limited.Err() != nil:
		return nil, l.broken(ctx, limited, err, wire)
	case errors.Is(err, errOversized):
		return nil, l.Fault(Oversized, fmt.Sprintf("the answer is longer than %d bytes", l.cfg.MaxBytes), nil)
	}
	return wire, nil
}

var errOversized = errors.New("llm: oversized")

// read collects the answer, line by line where until wants that.
func (l *Line) read(body io.Reader, until func([]byte) bool) ([]byte, error) {
	in := bufio.NewReader(io.LimitReader(body, l.cfg.MaxBytes+1))
	var wire []byte
	for {
		line, err := in.ReadBytes('\n')
		wire = append(wire, line...)
		switch {
		case int64(len(wire)) > l.cfg.MaxBytes:
			return wire, errOversized
		case until != nil && len(line) > 0 && until(bytes.TrimRight(line, "\r\n")):
			return wire, nil
		case errors.Is(err, io.EOF):
			return wire, nil
		case err != nil:
			return wire, err
		}
	}
}

// broken turns an error of the line into a fault, and says whose limit it was.
func (l *Line) broken(caller, limited context.Context, err error, wire []byte) *Fault {
	kind, says := Unreachable, "no answer came: "+err.Error()
	switch {
	case caller.Err() != nil:
		kind, says, err = Cancelled, "the caller gave up", caller.Err()
	case limited.Err() != nil:
		kind, says = TimedOut, fmt.Sprintf("no whole answer within %v", l.cfg.Timeout)
	}
	f := l.Fault(kind, says, wire)
	f.Err = scrubbed{l.hide(err.Error()), err}
	return f
}

// scrubbed is a cause whose text is clean; errors.Is sees the cause itself.
type scrubbed struct {
	says  string
	cause error
}

func (s scrubbed) Error() string        { return s.says }
func (s scrubbed) Is(target error) bool { return errors.Is(s.cause, target) }

// status turns an HTTP status other than 200 into a fault that quotes the answer's beginning.
func (l *Line) status(resp *http.Response) *Fault {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // what cannot be read is not quoted
	f := l.Complaint(body)
	f.Status = resp.StatusCode
	return f
}

// unparsed are the words with which servers say that they could not parse the model's own tool call.
func unparsed() []string {
	return []string{"error parsing tool call", "failed to parse tool call", "invalid tool call arguments"}
}

// Complaint turns an error text of a server into a fault: the model's where the server could not parse its tool call, with
// the text that it quotes behind "raw=", else the server's.
func (l *Line) Complaint(body []byte) *Fault {
	if l.cfg.Key.in(body) {
		return l.Fault(KeyEchoed, "the server's answer holds the key; it is not to be trusted with one", nil)
	}
	says := errorText(body)
	for _, words := range unparsed() {
		if strings.Contains(strings.ToLower(says), words) {
			f := l.Fault(ToolUnparsed, says, body)
			f.Raw = quoted(says)
			return f
		}
	}
	return l.Fault(Refused, says, body)
}

// errorText finds the message in the error objects that servers write, or takes the body as it is.
func errorText(body []byte) string {
	var flat struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &flat) != nil || len(flat.Error) == 0 {
		return string(body)
	}
	if text, ok := Text(flat.Error); ok {
		return string(text)
	}
	var nested struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(flat.Error, &nested) == nil && nested.Message != "" {
		return nested.Message
	}
	return string(flat.Error)
}

// quoted returns the model's text that a message quotes as raw='…', as far as it is there.
func quoted(says string) []byte {
	_, rest, found := strings.Cut(says, "raw='")
	if !found {
		return nil
	}
	if end := strings.LastIndex(rest, "', err="); end >= 0 {
		return []byte(rest[:end])
	}
	return []byte(strings.TrimSuffix(rest, "'"))
}
