// Command gen turns the .proto files of contract/v1 into Go without any tool outside Go: they are compiled by
// protocompile and handed to protoc-gen-go and protoc-gen-connect-go, built from the versions that go.mod pins.
//
// Run it with `go generate ./contract/v1`. It must never write anything but the files in outputs.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// sources are the files that are turned into Go, whatever they import before them.
func sources() []string {
	return []string{"interlock.proto", "robot_service.proto", "audit.proto", "operator_service.proto"}
}

// plugin is a generator as a Go package (`go run` builds it from go.mod's version), and the files it must write.
type plugin struct {
	path, parameter string
	outputs         []string
}

func plugins() []plugin {
	return []plugin{
		{"google.golang.org/protobuf/cmd/protoc-gen-go", "paths=source_relative", []string{
			"interlock.pb.go", "robot_service.pb.go", "audit.pb.go", "operator_service.pb.go",
		}},
		{"connectrpc.com/connect/cmd/protoc-gen-connect-go", "paths=source_relative,simple=true", []string{
			"contractv1connect/robot_service.connect.go", "contractv1connect/operator_service.connect.go",
		}},
	}
}

func main() {
	log.SetFlags(0)
	code, err := generate(context.Background(), ".")
	if err != nil {
		log.Fatal("contract/v1/gen: ", err)
	}
	for name, text := range code {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			log.Fatal("contract/v1/gen: ", err)
		}
		if err := os.WriteFile(name, text, 0o644); err != nil {
			log.Fatal("contract/v1/gen: ", err)
		}
	}
}

// generate returns the Go files, by name, for the sources that lie in dir.
func generate(ctx context.Context, dir string) (map[string][]byte, error) {
	files, err := compile(ctx, dir)
	if err != nil {
		return nil, err
	}
	code := map[string][]byte{}
	for _, p := range plugins() {
		request, err := proto.Marshal(&pluginpb.CodeGeneratorRequest{
			FileToGenerate: sources(), Parameter: proto.String(p.parameter), ProtoFile: files,
		})
		if err != nil {
			return nil, err
		}
		reply, err := run(ctx, p.path, request)
		if err != nil {
			return nil, err
		}
		if err := unpack(reply, p, code); err != nil {
			return nil, err
		}
	}
	return code, nil
}

// compile parses and links the sources, comments included, and returns them behind what they import.
func compile(ctx context.Context, dir string) ([]*descriptorpb.FileDescriptorProto, error) {
	c := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{dir}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	compiled, err := c.Compile(ctx, sources()...)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	var files []*descriptorpb.FileDescriptorProto
	seen := map[string]bool{}
	var add func(protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i).FileDescriptor)
		}
		files = append(files, protoutil.ProtoFromFileDescriptor(f))
	}
	for _, f := range compiled {
		add(f)
	}
	return files, nil
}

// run pipes one request through the plugin.
func run(ctx context.Context, path string, request []byte) ([]byte, error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "run", path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(request), &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", path, err, errs.Bytes())
	}
	return out.Bytes(), nil
}

// unpack adds the files of the plugin's reply to code. They must be exactly those it is known to write.
func unpack(reply []byte, p plugin, code map[string][]byte) error {
	var r pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(reply, &r); err != nil {
		return fmt.Errorf("the reply of %s: %w", p.path, err)
	}
	if r.Error != nil {
		return errors.New(r.GetError())
	}
	for _, f := range r.File {
		code[f.GetName()] = []byte(f.GetContent())
	}
	if len(r.File) != len(p.outputs) {
		return fmt.Errorf("%s wrote %d files, wanted %v", p.path, len(r.File), p.outputs)
	}
	for _, name := range p.outputs {
		if code[name] == nil {
			return fmt.Errorf("%s did not write %s", p.path, name)
		}
	}
	return nil
}
