package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"interlock/body/remote"
	contractv1 "interlock/contract/v1"
	"interlock/contract/v1/contractv1connect"
	"interlock/transport"
	"interlock/transport/connect"
)

// newBenchEcho is what `bench line` holds the robot's line against, in a process of its own: on one socket a bare Connect
// handler that answers with messages from files, on another our own line before a server that has events without end.
func newBenchEcho() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:    "echo",
		Short:  "Answer calls with messages from files, and events without end",
		Hidden: true,
		Args:   takes(),
		RunE: func(c *cobra.Command, _ []string) error {
			if dir == "" {
				return badInput(errors.New("--dir is missing: the folder with the messages"))
			}
			e := &echoed{manifest: &contractv1.Manifest{}, observation: &contractv1.Observation{}}
			for name, m := range map[string]proto.Message{echoManifest: e.manifest, echoObservation: e.observation} {
				text, err := os.ReadFile(filepath.Join(dir, name))
				if err == nil {
					err = proto.Unmarshal(text, m)
				}
				if err != nil {
					return badInput(err)
				}
			}
			return serveEcho(c.Context(), dir, e, func() error { _, err := fmt.Fprintln(c.OutOrStdout(), "ready"); return err })
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "where the messages are, and the sockets are to be")
	return c
}

// Files and sockets of the echo.
const (
	echoManifest    = "manifest.pb"
	echoObservation = "observation.pb"
	echoSocket      = "echo"
	endlessSocket   = "endless"
)

func serveEcho(ctx context.Context, dir string, e *echoed, ready func() error) error {
	bare, err := remote.Listen("unix:" + filepath.Join(dir, echoSocket))
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle(contractv1connect.NewRobotHandler(e))
	s := &http.Server{Handler: mux, Protocols: new(http.Protocols), ReadHeaderTimeout: 5 * time.Second, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelWarn)}
	s.Protocols.SetUnencryptedHTTP2(true)
	ended := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer ended()
	o := connect.Options{}
	ours, err := connect.Listen(ctx, "unix:"+filepath.Join(dir, endlessSocket), o)
	if err != nil {
		return errors.Join(err, bare.Close())
	}
	served := make(chan error, 1)
	go func() { served <- connect.Serve(ctx, ours, endless{}, o) }()
	if err := ready(); err != nil {
		return err
	}
	if err := s.Serve(bare); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-served
}

// echoed answers with what it was given.
type echoed struct {
	contractv1connect.UnimplementedRobotHandler
	manifest    *contractv1.Manifest
	observation *contractv1.Observation
}

// Describe implements contractv1connect.RobotHandler.
func (e *echoed) Describe(context.Context, *contractv1.DescribeRequest) (*contractv1.Manifest, error) {
	return e.manifest, nil
}

// Observe implements contractv1connect.RobotHandler.
func (e *echoed) Observe(context.Context, *contractv1.ObserveRequest) (*contractv1.Observation, error) {
	return e.observation, nil
}

// endless has events for whoever takes them, and nothing else.
type endless struct{ transport.Server }

// Events implements transport.Server.
func (endless) Events(_ context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	return func(yield func(*contractv1.Event, error) bool) {
		for seq := q.GetFromSeq(); ; seq++ {
			if !yield(&contractv1.Event{MissionId: q.GetMissionId(), Seq: seq, Kind: contractv1.EventKind_PHASE, Phase: "approach", AtMs: int64(seq)}, nil) {
				return
			}
		}
	}
}
