package inventory

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
)

const portgroupHelp = `A portgroup joins ports of one machine (link aggregation). A port names its portgroup
when it is created: ferrite port create --portgroup. A portgroup that has ports cannot
be deleted.`

// PortgroupCommand is ferrite portgroup.
func PortgroupCommand(s *client.Session) *cobra.Command {
	r := record{s, "portgroup", "PORTGROUP", "portgroups", named("address", "node_uuid", "mode")}
	return client.Group("portgroup", "Portgroups: joined ports of a machine", portgroupHelp,
		r.listOf(), r.show(), portgroupCreate(r), portgroupSet(r), r.delete())
}

func portgroupFlags(cmd *cobra.Command) *recordFlags {
	flags := cmd.Flags()
	f := &recordFlags{
		texts: map[string]*string{
			"name":    flags.String("name", "", "name of the portgroup"),
			"address": flags.String("address", "", "MAC of the portgroup"),
			"mode": flags.String("mode", "",
				"bonding mode: active-backup (the default), 802.3ad, balance-rr and others"),
			"physical-network": flags.String("physical-network", "",
				"name of the network it is connected to, with all its ports"),
			"category": flags.String("category", "", "purpose, for network planning"),
		},
		bools: map[string]*bool{
			"standalone-ports-supported": flags.Bool("standalone-ports-supported", true,
				"its ports can also be used alone, for example in a network boot"),
		},
	}
	f.object(cmd, "property", "properties", "KEY=VALUE of the bond, like miimon or xmit_hash_policy; repeat it")
	f.extra(cmd)
	return f
}

func portgroupCreate(r record) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "create --node NODE [--FIELD VALUE]...",
		Short:   "Add a portgroup to a machine",
		Example: `  ferrite portgroup create --node m1 --name bond0 --mode 802.3ad --property miimon=100`,
	}
	return r.createOf(portgroupFlags(cmd), cmd)
}

func portgroupSet(r record) *cobra.Command {
	cmd := &cobra.Command{Use: "set PORTGROUP [--FIELD VALUE]...", Short: "Change a portgroup"}
	return r.set(portgroupFlags(cmd), cmd)
}
