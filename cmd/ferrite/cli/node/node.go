// Package node is the command ferrite node: a verb a file.
package node

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/nodes"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/noun"
)

// Command is ferrite node.
func Command(s *client.Session) *cobra.Command {
	cmd := client.Group("node", "Machines: enroll, inspect, deploy, power",
		"Machines. NODE is a name or a UUID everywhere.",
		nodeCreate(s), nodeList(s), nodeShow(s), nodeSet(s), nodeUnset(s),
		nodeStatus(s), nodeWatch(s), nodeLogs(s), nodeConsole(s), nodePower(s),
		nodeRootDevice(s), nodeErasePlan(s), nodeSteps(s), nodeSensors(s),
		nodeRescue(s),
		noun.Traits("node", "NODE", record.Path).Command(s),
	)
	cmd.AddCommand(nodeVerbs(s)...)
	cmd.AddCommand(record.Commands(s)...)
	nodes.Several(s, cmd)
	return cmd
}
