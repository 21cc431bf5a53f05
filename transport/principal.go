package transport

import "context"

// principalKey is where a call's context holds who makes it.
type principalKey struct{}

// WithPrincipal tells a server who makes a call, as the transport knows it: by a token or by the user of a socket, never
// by what the call says.
func WithPrincipal(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, principalKey{}, name)
}

// PrincipalOf is who makes the call; empty where the line knows only one caller, as within a process.
func PrincipalOf(ctx context.Context) string {
	name, _ := ctx.Value(principalKey{}).(string)
	return name
}
