package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	_ "embed"

	"github.com/spf13/cobra"

	"interlock/contract"
)

// draft is the contract file that init writes.
//
//go:embed draft.yaml
var draft []byte

func newInit() *cobra.Command {
	return &cobra.Command{
		Use:   "init [FILE]",
		Short: "Draft a commented contract file for the shipped body",
		Long: `Init writes a contract file to begin with: an SO-101 arm on a table, as the embedded
simulator plays it, with a comment beside every choice. It never overwrites a file;
'-' prints it. The draft passes interlock check as it is.`,
		Example: `  interlock init my-robot.yaml
  interlock check my-robot.yaml
  interlock chat --contract my-robot.yaml`,
		Args: takes(argument{"FILE", "the file to write, or - to print it", true}),
		RunE: func(cmd *cobra.Command, a []string) error {
			file := "robot.yaml"
			if len(a) == 1 {
				file = a[0]
			}
			return initFile(cmd.OutOrStdout(), file)
		},
	}
}

// initFile writes the draft to a file that does not exist yet.
func initFile(out io.Writer, file string) error {
	if _, err := contract.Load(file, draft); err != nil {
		return err // a test keeps this from happening
	}
	if file == "-" {
		_, err := out.Write(draft)
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return badInput(fmt.Errorf("%s exists already; init overwrites nothing", file))
	}
	if err != nil {
		return badInput(fmt.Errorf("FILE: %w", err))
	}
	_, err = f.Write(draft)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "wrote %s; next:\n  interlock check %s\n  interlock chat --contract %s\n", shown(file), shown(word(file)), shown(word(file)))
	return err
}
