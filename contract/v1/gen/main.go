// Command gen turns contract/v1/interlock.proto into contract/v1/interlock.pb.go without any tool outside Go: the
// file is compiled by protocompile and handed to protoc-gen-go, built from the version that go.mod pins.
//
// Run it with `go generate ./contract/v1`. It must never write anything but interlock.pb.go.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

const (
	source = "interlock.proto"
	output = "interlock.pb.go"
	// plugin is the generator as a Go package: `go run` builds it from go.mod's version.
	plugin = "google.golang.org/protobuf/cmd/protoc-gen-go"
)

func main() {
	log.SetFlags(0)
	code, err := generate(context.Background(), ".")
	if err != nil {
		log.Fatal("contract/v1/gen: ", err)
	}
	if err := os.WriteFile(output, code, 0o644); err != nil {
		log.Fatal("contract/v1/gen: ", err)
	}
}

// generate returns the Go file for the interlock.proto that lies in dir.
func generate(ctx context.Context, dir string) ([]byte, error) {
	file, err := compile(ctx, dir)
	if err != nil {
		return nil, err
	}
	request, err := proto.Marshal(&pluginpb.CodeGeneratorRequest{
		FileToGenerate: []string{source},
		Parameter:      proto.String("paths=source_relative"),
		ProtoFile:      []*descriptorpb.FileDescriptorProto{file},
	})
	if err != nil {
		return nil, err
	}
	reply, err := run(ctx, request)
	if err != nil {
		return nil, err
	}
	return only(reply)
}

// compile parses and links the source, comments included. It has no imports, so its own descriptor is all there is.
func compile(ctx context.Context, dir string) (*descriptorpb.FileDescriptorProto, error) {
	c := protocompile.Compiler{
		Resolver:       &protocompile.SourceResolver{ImportPaths: []string{dir}},
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := c.Compile(ctx, source)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	return protoutil.ProtoFromFileDescriptor(files[0]), nil
}

// run pipes one request through the plugin.
func run(ctx context.Context, request []byte) ([]byte, error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "run", plugin)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(request), &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", plugin, err, errs.Bytes())
	}
	return out.Bytes(), nil
}

// only unpacks the plugin's reply, which must be exactly the one file.
func only(reply []byte) ([]byte, error) {
	var r pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(reply, &r); err != nil {
		return nil, fmt.Errorf("the plugin's reply: %w", err)
	}
	if r.Error != nil {
		return nil, errors.New(r.GetError())
	}
	if len(r.File) != 1 || r.File[0].GetName() != output {
		return nil, fmt.Errorf("the plugin wrote %d files, wanted only %s", len(r.File), output)
	}
	return []byte(r.File[0].GetContent()), nil
}
