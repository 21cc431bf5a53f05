package body

import "errors"

// ErrNotOpen is returned by Send, Observe and Advance on a body that is not open: before Open and after Close.
var ErrNotOpen = errors.New("body: not open")

// ErrOpen is returned by Open on a body that is open already.
var ErrOpen = errors.New("body: open already")
