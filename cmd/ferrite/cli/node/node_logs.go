package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeLogs(s *client.Session) *cobra.Command {
	var q nodeapi.LogQuery
	c := &cobra.Command{
		Use:   "logs NODE",
		Short: "Show the log of kernel and agent in the ramdisk",
		Long: `Show the log of the kernel and the agent in the ramdisk, from the kernel's first line on.
Times count from the machine's start. The last five boots are kept. With -f, new lines
follow, also those of the next boot.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if q.Boot < 0 || q.Tail < 0 {
				return errors.New("--boot and --tail count from 0 on")
			}
			if q.Follow && q.Boot > 0 {
				return fmt.Errorf("--follow is for the latest boot, and boot %d is over", q.Boot)
			}
			path := client.FerritePath(args[0], "logs?"+q.Values().Encode())
			err := s.Client.Stream(cmd.Context(), path, cmd.OutOrStdout())
			if q.Follow && errors.Is(err, context.Canceled) {
				return nil // Ctrl-C is how following ends
			}
			return s.Older(err, "has no logs of machines")
		},
	}
	c.Flags().BoolVarP(&q.Follow, "follow", "f", false, "show new lines as they come")
	c.Flags().IntVar(&q.Boot, "boot", 0, "number of the boot: 0 is the latest, 1 the previous, ...")
	c.Flags().IntVar(&q.Tail, "tail", 0, "only so many `lines` from the end (default: all)")
	return c
}
