package connect

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/peer"
	"interlock/reject"
)

// door decides who is heard at all, from the header alone.
type door struct {
	bearers []bearing
	users   []uint32
}

// bearing is who brings a token.
type bearing struct {
	token [sha256.Size]byte
	name  string
}

func newDoor(o Options) *door {
	d := &door{users: o.Users}
	for _, c := range append([]Caller{{Owner, o.Token}}, o.Callers...) {
		if c.Token != "" {
			d.bearers = append(d.bearers, bearing{sha256.Sum256([]byte(c.Token)), c.Name})
		}
	}
	return d
}

// denied is a refusal at the door, by the rule.
func denied(rule, field, says string) reject.Rejection {
	return reject.New(reject.NotPermitted, says).By(rule).In(field)
}

// known refuses requests that a page sent, or that meant another host: what a browser can be tricked into.
func known(r *http.Request) *reject.Rejection {
	if len(r.Header["Origin"]) > 0 {
		return ptr(denied("origin", "Origin", "pages may not call the robot"))
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "none" {
		return ptr(denied("origin", "Sec-Fetch-Site", "pages may not call the robot"))
	}
	if !overUnix(r) && !loopbackName(r.Host) {
		return ptr(denied("host", "Host", "the robot is not called by this name"))
	}
	return nil
}

// loopbackName reports whether a request may be addressed so: names that DNS rebinding cannot point elsewhere.
func loopbackName(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if name == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}

// trusted refuses callers that bring neither a token nor, over a unix socket, the right user. Others it tells by name.
// Whoever shows a token is whom that names, or nobody: a guest with a token that is out of date is not the owner.
func (d *door) trusted(r *http.Request) (principal string, refused *reject.Rejection) {
	given := r.Header["Authorization"]
	if len(given) == 1 {
		scheme, token, _ := strings.Cut(given[0], " ")
		sum := sha256.Sum256([]byte(token))
		for _, b := range d.bearers {
			if subtle.ConstantTimeCompare(sum[:], b.token[:]) == 1 && strings.EqualFold(scheme, "bearer") {
				return b.name, nil
			}
		}
	}
	if uid, ok := r.Context().Value(userKey{}).(uint32); ok && len(given) == 0 && slices.Contains(d.users, uid) {
		if int64(uid) == int64(os.Getuid()) {
			return Owner, nil
		}
		return "uid " + strconv.FormatUint(uint64(uid), 10), nil
	}
	return "", ptr(denied("token", "Authorization", "the robot answers only callers that bring its token"))
}

// userKey is where a connection's context holds the user behind a unix socket, a uint32.
type userKey struct{}

// withUser notes who is at the other end, where the system can tell.
func withUser(ctx context.Context, c net.Conn) context.Context {
	if counted, ok := c.(*countedConn); ok {
		c = counted.Conn
	}
	if u, ok := c.(*net.UnixConn); ok {
		if uid, ok := peer.UserOf(u); ok {
			return context.WithValue(ctx, userKey{}, uid)
		}
	}
	return ctx
}

func overUnix(r *http.Request) bool {
	a, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && a.Network() == "unix"
}

func ptr[T any](v T) *T { return &v }
