// Package strictjson reads JSON text the one way everybody agrees on, or refuses it with a code and a place.
//
// It refuses what parsers are known to differ about: duplicate keys (also when one is written with escapes), invalid
// UTF-8, lone surrogates, byte-order marks, comments, trailing text, and anything past the limits on bytes, depth and
// number of values. Numbers stay the literals that were written; Node.Number says whether one is a usable float64.
//
// It must never repair, close, coerce, default or drop anything, and a result is never returned beside a refusal.
package strictjson
