package depstmp

import (
	_ "cel.dev/cel-go/cel"
	_ "cel.dev/cel-go/ext"
	_ "github.com/bufbuild/protocompile"
	_ "github.com/goccy/go-yaml"
	_ "github.com/goccy/go-yaml/parser"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/go-json-experiment/json"
	_ "github.com/go-json-experiment/json/jsontext"
	_ "github.com/jedib0t/go-pretty/v6/progress"
	_ "github.com/jedib0t/go-pretty/v6/table"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
	_ "github.com/spf13/cobra"
	_ "go.uber.org/goleak"
	_ "gonum.org/v1/gonum/stat/distuv"
	_ "gonum.org/v1/plot"
	_ "gonum.org/v1/plot/vg/vgsvg"
	_ "google.golang.org/protobuf/proto"
	_ "google.golang.org/protobuf/compiler/protogen"
	_ "pgregory.net/rapid"
)
