package world

// Truth is a value of Kleene's three-valued logic.
type Truth uint8

// The three values. The zero value is Unknown, so that a forgotten answer never reads as true or false.
const (
	Unknown Truth = iota
	False
	True
)

// String returns "unknown", "false" or "true".
func (t Truth) String() string {
	switch t {
	case Unknown:
		return "unknown"
	case False:
		return "false"
	case True:
		return "true"
	}
	return "invalid"
}

// And is true only if both are true, and false if one is false.
func (t Truth) And(u Truth) Truth {
	switch {
	case t == False || u == False:
		return False
	case t == True && u == True:
		return True
	}
	return Unknown
}

// Or is true if one is true, and false only if both are false.
func (t Truth) Or(u Truth) Truth { return t.Not().And(u.Not()).Not() }

// Not swaps true and false and leaves unknown.
func (t Truth) Not() Truth {
	switch t {
	case True:
		return False
	case False:
		return True
	case Unknown:
	}
	return Unknown
}
