package cli

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
)

// extra is the commands for an extra of the conductor. The build tag that leaves the extra out (nohosts, noopenstack)
// leaves them out, too.
type extra struct {
	help     string // part of the help of ferrite
	commands []*cobra.Command
	imports  []*cobra.Command // below ferrite import
	server   []*cobra.Command // below ferrite server
}

func extras(s *client.Session) []extra { return []extra{openstack(s), hosts(s), operate(s)} }

const serverHelp = `Work on the host of a conductor: its configuration, its database and its keys. The conductor
itself is ferrite serve.`

const importHelp = `Take over the machines of another program, with the states they are in. Nothing is done to any machine:
no power change (unless spec.online of a Metal3 host says so), no reboot, no cleaning. The same import can be
run again at any time: it takes over what has changed there, and leaves what was changed here.`

// addExtras adds the commands of all extras beside the client's own, and returns their part of the help.
func addExtras(root *cobra.Command, s *client.Session, add func(*cobra.Command)) (help string) {
	var imports []*cobra.Command
	server := client.Group("server", "Set up, check, save and restore a conductor's host", serverHelp)
	server.GroupID = "server"
	root.AddCommand(server)
	for _, e := range extras(s) {
		help += e.help
		imports = append(imports, e.imports...)
		server.AddCommand(e.server...)
		for _, c := range e.commands {
			add(c)
		}
	}
	if len(imports) > 0 {
		add(client.Group("import", "Take over the machines of Ironic or Metal3", importHelp, imports...))
	}
	return help
}
