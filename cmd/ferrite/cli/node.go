package cli

import (
	"context"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeCommand(s *session) *cobra.Command {
	cmd := group("node", "Machines: enroll, inspect, deploy, power", "Machines. NODE is a name or a UUID everywhere.",
		nodeCreate(s), nodeList(s), nodeShow(s), nodeSet(s), nodeUnset(s), nodeDelete(s),
		nodeStatus(s), nodeLogs(s), nodePower(s), nodeMaintenance(s), nodeBootDevice(s),
		nodeValidate(s), nodeInventory(s), nodeRootDevice(s), nodeErasePlan(s), nodeHistory(s), nodeDeploy(s), nodeRebuild(s),
		nodeClean(s), nodeService(s), nodeRescue(s),
		traitCommand(s, "node", "NODE", nodePath, completeNodes(s)),
	)
	cmd.AddCommand(nodeVerbs(s)...)
	return cmd
}

// completeNodes offers the names of nodes to a shell's completion.
func completeNodes(s *session) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		if err := s.open(cmd.InOrStdin()); err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var list nodeapi.NodeList
		if err := s.client.do(cmd.Context(), "GET", nodeapi.Root+"/nodes?fields=uuid,name", nil, &list); err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		names := make([]string, len(list.Nodes))
		for i, n := range list.Nodes {
			names[i] = n.Label()
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// getNode reads some fields of a node.
func (s *session) getNode(ctx context.Context, node, fields string) (n nodeapi.Node, err error) {
	err = s.client.do(ctx, "GET", nodePath(node)+"?fields="+url.QueryEscape(fields), nil, &n)
	return n, err
}
