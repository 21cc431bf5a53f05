package body

import "errors"

// ErrNotOpen is returned by Send, Observe and Advance on a body that is not open: before Open and after Close.
var ErrNotOpen = errors.New("body: not open")

// ErrAnother is wrapped by what Open returns where another body answers than was opened before: its joints, limits and witnesses
// are not those that everybody above it knows.
var ErrAnother = errors.New("another body answers")

// ErrOpen is returned by Open on a body that is open already.
var ErrOpen = errors.New("body: open already")
