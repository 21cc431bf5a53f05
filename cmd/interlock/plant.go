package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"interlock/body/plant"
	"interlock/body/remote"
	"interlock/body/sim"
)

func newPlant() *cobra.Command {
	var listen, labSocket, contractFile string
	var owned bool
	c := &cobra.Command{
		Use:   "plant",
		Short: "Run the simulator as a process with its own clock",
		Long: `Plant runs the simulated arm and table as a process of its own. Its servos keep
their last goal, as real ones do, whatever becomes of the driver. It serves the
driver protocol without any guard: a driver process belongs in front of it.

With --lab-socket it also serves an evaluation's line: set-up, truth and lockstep.
No robot opens that socket.

Addresses are unix:PATH or a loopback HOST:PORT.`,
		Example: `  interlock plant --contract robots/so101-tabletop.yaml --listen unix:plant.sock
  interlock driver sim --contract robots/so101-tabletop.yaml --plant unix:plant.sock`,
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg := sim.DefaultConfig()
			if contractFile != "" {
				k, _, err := loadContract(contractFile)
				if err != nil {
					return err
				}
				cfg = tableFor(k, [2]float64{0.22, 0.03})
			}
			if err := checkAddresses("--listen", listen, "--lab-socket", labSocket); err != nil {
				return err
			}
			if err := orElse(&listen, runtimeAddr, "plant"); err != nil {
				return err
			}
			p, err := plant.New(cfg)
			if err != nil {
				return err
			}
			services := []service{{flag: "--listen", addr: listen, handler: remote.DriverHandler(p)}}
			says := "plant: " + listen
			if labSocket != "" {
				services = append(services, service{flag: "--lab-socket", addr: labSocket, handler: remote.LabHandler(plant.Serve(p))})
				says += "; lab: " + labSocket
			}
			ready := func() error { _, err := fmt.Fprintln(cmd.OutOrStdout(), says); return err }
			ctx := cmd.Context()
			if owned {
				var end func()
				ctx, end = untilEOF(ctx, cmd.InOrStdin())
				defer end()
			}
			return together(ctx, services, ready, p.Run)
		},
	}
	c.Flags().StringVar(&listen, "listen", "", "where drivers reach it (default: a unix socket of this user)")
	c.Flags().StringVar(&labSocket, "lab-socket", "", "serve set-up, truth and lockstep to an evaluation here")
	c.Flags().BoolVar(&owned, "owned", false, "end when standard input does, which is when the process that started it is gone")
	c.Flags().StringVar(&contractFile, "contract", "", "put the contract's first object on the table")
	return c
}
