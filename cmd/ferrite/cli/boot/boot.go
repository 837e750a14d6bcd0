// Package boot is `ferrite boot`: the network that machines boot from, as the conductor sees it.
package boot

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
)

const help = `Watch the network that machines boot from, and print what a DHCP server of your own needs.`

// Command is ferrite boot.
func Command(s *client.Session) *cobra.Command {
	return client.Group("boot", "Watch and set up the network that machines boot from", help, watchCommand(s))
}
