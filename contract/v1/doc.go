// Package contractv1 holds the protobuf messages of interlock.proto and the service of robot_service.proto that carries
// them: the only things a brain and a robot share.
//
// The Go code is generated (`go generate ./contract/v1`) and committed; a check regenerates and compares it. Nothing
// is added here by hand: a message carries, it never decides.
package contractv1

//go:generate go run ./gen
