// Package action reads what a model wrote: raw bytes in, and out exactly one of calls, no call, or a typed refusal.
//
// The plain envelope is {"tool": name, "arguments": {…}}, keys in any order and nothing beside them. A normalisation is
// applied only where exactly one reading exists, no byte of a value changes, and the change is recorded with offsets:
//
//	N1  byte-order mark and white space around the text
//	N2  one code fence around exactly one JSON value
//	N4  a comma behind a complete value that nothing follows
//	N5  a wrapper that the model's profile declares, complete with its closer
//	N6  one decoding of arguments that the wire format carries as a JSON string
//	T1  a block of thoughts at the beginning that the profile declares; it is set aside whole and never searched
//
// It must never close, complete or coerce anything, take a name that is only near an offered one, fill in a default,
// drop a key, or pick one of several candidates. Text that could be an example, a quotation or a refusal around a call is
// no call: the model is told so and writes it again. Whether a call may run is not decided here.
package action
