// Command gen turns body/remote/v1/driver.proto into Go messages and Connect stubs without any tool outside Go: the file
// is compiled by protocompile and handed to the two plugins, built from the versions that go.mod pins.
//
// Run it with `go generate ./body/remote/v1`. It must never write anything but the two outputs.
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
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

const source = "driver.proto"

// plugin is a generator as a Go package (`go run` builds it from go.mod's version), its parameter and its one output.
type plugin struct{ path, parameter, output string }

var plugins = []plugin{
	{"google.golang.org/protobuf/cmd/protoc-gen-go", "paths=source_relative", "driver.pb.go"},
	{"connectrpc.com/connect/cmd/protoc-gen-connect-go", "paths=source_relative,package_suffix,simple", "driver.connect.go"},
}

func main() {
	log.SetFlags(0)
	for _, p := range plugins {
		code, err := generate(context.Background(), ".", p)
		if err != nil {
			log.Fatal("body/remote/gen: ", err)
		}
		if err := os.WriteFile(p.output, code, 0o644); err != nil {
			log.Fatal("body/remote/gen: ", err)
		}
	}
}

// generate returns the Go file that the plugin makes of the driver.proto in dir.
func generate(ctx context.Context, dir string, p plugin) ([]byte, error) {
	files, err := compile(ctx, dir)
	if err != nil {
		return nil, err
	}
	request, err := proto.Marshal(&pluginpb.CodeGeneratorRequest{
		FileToGenerate: []string{source},
		Parameter:      proto.String(p.parameter),
		ProtoFile:      files,
	})
	if err != nil {
		return nil, err
	}
	reply, err := run(ctx, p, request)
	if err != nil {
		return nil, err
	}
	return only(reply, p)
}

// compile parses and links the source, comments included, and puts its one import before it.
func compile(ctx context.Context, dir string) ([]*descriptorpb.FileDescriptorProto, error) {
	c := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{dir}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := c.Compile(ctx, source)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	options := protodesc.ToFileDescriptorProto(descriptorpb.File_google_protobuf_descriptor_proto)
	return []*descriptorpb.FileDescriptorProto{options, protoutil.ProtoFromFileDescriptor(files[0])}, nil
}

// run pipes one request through the plugin.
func run(ctx context.Context, p plugin, request []byte) ([]byte, error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "run", p.path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(request), &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", p.path, err, errs.Bytes())
	}
	return out.Bytes(), nil
}

// only unpacks the plugin's reply, which must be exactly the one file.
func only(reply []byte, p plugin) ([]byte, error) {
	var r pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(reply, &r); err != nil {
		return nil, fmt.Errorf("the reply of %s: %w", p.path, err)
	}
	if r.Error != nil {
		return nil, errors.New(r.GetError())
	}
	if len(r.File) != 1 || r.File[0].GetName() != p.output {
		return nil, fmt.Errorf("%s wrote %d files, wanted only %s", p.path, len(r.File), p.output)
	}
	return []byte(r.File[0].GetContent()), nil
}
