// Package connect carries the robot's service over HTTP: gRPC, gRPC-Web and Connect (which is plain JSON or protobuf
// by POST) on one handler, over TCP on the loopback or a unix socket.
//
// A request passes these doors in this order, and none is opened out of turn: host and origin, before anything of it
// is parsed; the caller's token, or the user behind a unix socket; method and content type; a free place, else it is
// shed with OVERLOADED and a time to come back; the body, bounded in bytes and time; strict decoding. Only then does
// the robot hear of it. A refusal carries a Rejection as the error's detail in every protocol.
//
// The package must never decide about a call, retry one, or answer for the robot. An event stream that breaks is
// opened again from the next number, a bounded number of times; a reader that is too slow is dropped with the number
// to go on from and costs the robot nothing. There is no reset of a stop here.
package connect
