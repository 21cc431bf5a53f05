package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"interlock/eval"
)

func newReport() *cobra.Command {
	return &cobra.Command{
		Use:   "report DIR",
		Short: "Write one HTML page about a saved run",
		Long: `Report reads a run that eval or demo saved with --out and writes report.html
beside it: claims against facts, the timeline of an episode, and the worst
seeds with the command that replays each. The page needs nothing else.`,
		Example: "  interlock eval suites/seven.yaml --out run && interlock report run",
		Args:    takes(runArgument()),
		RunE: func(cmd *cobra.Command, a []string) error {
			r, err := eval.LoadRun(a[0])
			if err != nil {
				return badInput(err)
			}
			var page bytes.Buffer
			replay := func(id string) string { return "interlock replay " + word(a[0]) + " " + word(id) }
			if err := eval.WriteHTML(&page, &r, replay); err != nil {
				return err
			}
			path := filepath.Join(a[0], eval.PageFile)
			if err := os.WriteFile(path, page.Bytes(), 0o644); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d episodes, %d bytes\n", path, len(r.Episodes), page.Len())
			return err
		},
	}
}
