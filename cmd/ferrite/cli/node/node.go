package node

import (
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/nodes"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/noun"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"

	"github.com/spf13/cobra"
)

// Command is ferrite node.
func Command(s *client.Session) *cobra.Command {
	cmd := client.Group("node", "Machines: enroll, inspect, deploy, power",
		"Machines. NODE is a name or a UUID everywhere.",
		nodeCreate(s), nodeList(s), nodeShow(s), nodeSet(s), nodeUnset(s), nodeDelete(s),
		nodeStatus(s), nodeWatch(s), nodeLogs(s), nodeConsole(s), nodePower(s), nodeConfirm(s),
		nodeMaintenance(s), nodeBootDevice(s),
		nodeValidate(s), nodeInventory(s), nodeRootDevice(s), nodeErasePlan(s), nodeHistory(s), nodeSteps(s), nodeSensors(s),
		nodeDeploy(s), nodeRebuild(s),
		nodeClean(s), nodeService(s), nodeRescue(s),
		noun.Traits("node", "NODE", nodeapi.Root+"/nodes").Command(s),
	)
	cmd.AddCommand(nodeVerbs(s)...)
	cmd.AddCommand(hardware.Commands(s)...)
	nodes.Several(s, cmd)
	return cmd
}
