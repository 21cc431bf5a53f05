package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"interlock/brain/tool"
	"interlock/contract"
	"interlock/reject"
)

// maxCallBytes bounds what is read from standard input.
const maxCallBytes = 1 << 20

func newCall() *cobra.Command {
	var contractName string
	c := &cobra.Command{
		Use:   "call CALL|-",
		Short: "Put one call to the simulated robot, as a model would write it",
		Long: `Call reads one call as raw model text ('-' reads it from standard input), lets
the gate decide, moves the simulated arm, measures, and prints the answer that a
model would get. The table holds one cube at (22, 3) cm.

Exit codes: 0 measured success, 2 bad text or arguments, 3 refused, 4 measured
failure, 5 unverified, 6 a person is needed, 7 stopped.`,
		Example: `  interlock call '{"tool": "move_to", "arguments": {"x_cm": 20, "y_cm": 5, "z_cm": 15}}'
  interlock call '{"tool": "move_to", "arguments": {"x_cm": 20, "y_cm": 0, "z_cm": -5}}'`,
		Args: takes(callArgument()),
		RunE: func(cmd *cobra.Command, a []string) error {
			c, _, err := loadContract(contractName)
			if err != nil {
				return err
			}
			raw, err := callText(a[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			return call(cmd.Context(), cmd.OutOrStdout(), c, raw)
		},
	}
	c.Flags().StringVar(&contractName, "contract", "robots/so101-tabletop.yaml", "contract file")
	return c
}

func callText(arg string, in io.Reader) ([]byte, error) {
	if arg != "-" {
		return []byte(arg), nil
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxCallBytes+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxCallBytes {
		return nil, badInput(fmt.Errorf("standard input holds more than %d bytes", maxCallBytes))
	}
	return raw, nil
}

// call puts one call to a robot of its own and prints the answer; the error carries the exit code.
func call(ctx context.Context, out io.Writer, c *contract.Contract, raw []byte) (err error) {
	f, err := fold(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.end()) }()
	manifest, err := f.client.Describe(ctx)
	if err != nil {
		return err
	}
	registry, err := tool.New(manifest, f.client, tool.Options{})
	if err != nil {
		return err
	}
	one, err := oneCall(raw, registry.Names())
	if err != nil {
		return err
	}
	if one.Tool == tool.ReportName {
		return badInput(errors.New("report_result is a claim about a task, and moves nothing; put a call of the robot"))
	}
	r := registry.Call(ctx, one.Tool, one.Args)
	if err := printAnswer(out, r.JSON); err != nil {
		return err
	}
	return answerStatus(r)
}

func printAnswer(out io.Writer, answer []byte) error {
	var pretty strings.Builder
	enc := json.NewEncoder(&pretty)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(json.RawMessage(answer)); err != nil {
		return err
	}
	_, err := io.WriteString(out, pretty.String())
	return err
}

// answerStatus turns an answer into the exit code that documents promise.
func answerStatus(r tool.Result) error {
	if len(r.Rejections) > 0 {
		first := r.Rejections[0]
		return exitStatus{reject.ExitCode(reject.Code(first.GetCode())), errors.New(first.GetCode() + ": " + first.GetSays())}
	}
	switch {
	case r.Verdict != tool.OK:
		return errors.New("the call could not be carried out")
	case r.Mission == "" || r.Mission == "succeeded":
		return nil
	case r.Mission == "unverified":
		return exitStatus{exitUnverified, errors.New("the mission ended unverified")}
	case r.Mission == "aborted":
		return exitStatus{exitStopped, errors.New("the mission was aborted")}
	}
	return exitStatus{exitNotDone, errors.New("the mission ended " + r.Mission)}
}
