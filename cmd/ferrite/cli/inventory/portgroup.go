package inventory

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
)

const portgroupHelp = `Portgroups: ports of one machine that work as one (link aggregation). A port joins
one when it is made (ferrite port create --portgroup); a portgroup that has ports
stays.`

// PortgroupCommand is ferrite portgroup.
func PortgroupCommand(s *client.Session) *cobra.Command {
	r := record{s, "portgroup", "PORTGROUP", "portgroups", []string{"uuid", "name", "address", "node_uuid", "mode"}}
	return client.Group("portgroup", "Ports of a machine that work as one", portgroupHelp,
		r.listOf(), r.show(), portgroupCreate(r), portgroupSet(r), r.delete())
}

func portgroupFlags(cmd *cobra.Command) *recordFlags {
	flags := cmd.Flags()
	f := &recordFlags{
		texts: map[string]*string{
			"name":    flags.String("name", "", "its name"),
			"address": flags.String("address", "", "MAC of all its ports together"),
			"mode": flags.String("mode", "",
				"of the bond: active-backup, which a new one has, 802.3ad, balance-rr and others"),
			"physical-network": flags.String("physical-network", "",
				"name of the network it is plugged into; its ports go along"),
			"category": flags.String("category", "", "what it is for, to those who plan networks"),
		},
		bools: map[string]*bool{
			"standalone-ports-supported": flags.Bool("standalone-ports-supported", true,
				"whether its ports may be used by themselves, as in a network boot"),
		},
	}
	f.object(cmd, "property", "properties", "KEY=VALUE of the bond: miimon, xmit_hash_policy, ...; repeat it")
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
