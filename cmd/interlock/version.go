package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print which program this is",
		Args:  takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "interlock %s, %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// version identifies this program: the revision it was built from, or, where the build kept none, the hash of the
// program itself. Two programs of one version behave alike.
func version() string {
	if revision := revision(); revision != "" {
		return revision
	}
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	program, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = program.Close() }()
	sum := sha256.New() // of a program that is not held in memory: a robot keeps little
	if _, err := io.Copy(sum, program); err != nil {
		return ""
	}
	return "program " + hex.EncodeToString(sum.Sum(nil)[:8])
}

// revision is what the program was built from; empty where the build kept none, or had changes that were no part of it.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	revision := ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				return ""
			}
		}
	}
	return revision
}
