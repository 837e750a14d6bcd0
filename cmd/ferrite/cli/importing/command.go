// Package importing is `ferrite import` and `ferrite export`: nodes of Ironic and hosts of Metal3 taken over, and nodes
// given back. It does nothing to a machine.
package importing

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/host"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
)

const importHelp = `Take over the machines of another program, with the states they are in. Nothing is done to any machine:
no power change (unless spec.online of a Metal3 host says so), no reboot, no cleaning. The same import can be
run again at any time: it takes over what has changed there, and leaves what was changed here.`

// Command is ferrite import.
func Command(s *client.Session) *cobra.Command {
	return client.Group("import", "Take over the machines of Ironic or Metal3", importHelp, ironicCommand(s),
		host.Metal3Command(s))
}
