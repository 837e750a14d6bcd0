package inventory

import (
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/noun"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

var ports = noun.Noun{
	Use: "port", Short: "Network interfaces of machines", Arg: "PORT", Path: nodeapi.Root + "/ports",
	Long: "Network interfaces of machines. A machine can boot only from an interface whose MAC is recorded.",
	Fields: []noun.Field{
		noun.OfNode,
		noun.UUID,
		{Name: "address", Only: "PATCH", Required: true, Help: "MAC; the machine must not be active"},
		{Name: "physical_network", Help: "name of the network it is connected to"},
		{Name: "portgroup_uuid", Flag: "portgroup", Only: "POST", Help: "UUID of its portgroup"},
		{Name: "portgroup_uuid", Only: "PATCH", Help: "UUID of its portgroup"},
		{Name: "name", Help: "name of the port"},
		{Name: "description", Help: "free text"},
		{Name: "vendor", Help: "maker of the network card"},
		{Name: "category", Help: "purpose, for network planning"},
		{Name: "pxe_enabled", Value: true, Help: "the machine boots from it"},
		{Name: "is_smartnic", Value: false, Help: "it is a port of a SmartNIC"},
		{Name: "available_for_dynamic_portgroup", Value: true, Help: "the network service may join it with other ports"},
		{Name: "local_link_connection", Kind: noun.TextPairs, Keys: true,
			Help: "KEY=VALUE about the switch: switch_id, port_id, switch_info; repeat it"},
		noun.Extra,
	},
	Verbs: []noun.Verb{
		{Use: "create MAC --node NODE", Short: "Add a network interface to a machine", Method: "POST",
			Body: map[string]any{"address": "{0}"}, Example: "  ferrite port create 52:54:00:12:34:56 --node m1"},
		{Use: "set PORT [--FIELD VALUE]...", Short: "Change a network interface", Method: "PATCH", Path: "/{0}",
			Example: "  ferrite port set 5b2e52bd-0f05-4bb9-9b5b-5b6f4f6b9c1a --pxe-enabled=false"},
		noun.Unset,
		{Use: "list", Short: "List network interfaces", Path: "?detail=True", Key: "ports",
			Columns: append(output.Columns("uuid", "address", "node_uuid", "pxe_enabled"),
				output.Column{Field: "name", Wide: true}, output.Column{Field: "physical_network", Wide: true},
				output.Column{Field: "portgroup_uuid", Wide: true}, output.Column{Field: "description", Wide: true}),
			Fields: noun.Paged(
				noun.Field{Name: "node", Help: "only interfaces of this machine"},
				noun.Field{Name: "address", Help: "only the interface with this MAC"},
				noun.Field{Name: "portgroup", Help: "only interfaces of this portgroup"},
				noun.Field{Name: "shard", Help: "only interfaces of machines of these shards, separated by commas"})},
		{Use: "show PORT", Short: "Show one network interface, by UUID", Path: "/{0}"},
		{Use: "delete PORT...", Short: "Delete network interfaces, by UUID", Method: "DELETE", Path: "/{0}",
			Done: "deleted port {0}"},
	},
}

var portgroups = noun.Noun{
	Use: "portgroup", Short: "Portgroups: joined ports of a machine",
	Long: `A portgroup joins ports of one machine (link aggregation). A port names its portgroup
when it is created: ferrite port create --portgroup. A portgroup that has ports cannot
be deleted.`,
	Arg: "PORTGROUP", Path: nodeapi.Root + "/portgroups", Columns: noun.Named("address", "node_uuid", "mode"),
	Fields: []noun.Field{
		noun.OfNode,
		noun.UUID,
		{Name: "name", Help: "name of the portgroup"},
		{Name: "address", Help: "MAC of the portgroup"},
		{Name: "mode", Help: "bonding mode: active-backup (the default), 802.3ad, balance-rr and others"},
		{Name: "physical_network", Help: "name of the network it is connected to, with all its ports"},
		{Name: "category", Help: "purpose, for network planning"},
		{Name: "standalone_ports_supported", Value: true,
			Help: "its ports can also be used alone, for example in a network boot"},
		{Name: "properties", Flag: "property", Kind: noun.Object, Keys: true,
			Help: "KEY=VALUE of the bond, like miimon or xmit_hash_policy; repeat it"},
		noun.Extra,
	},
	Verbs: []noun.Verb{
		{Use: "list", Short: "List every portgroup", Path: "?detail=True", Key: "portgroups", Fields: noun.Paged(
			noun.Field{Name: "node", Help: "only portgroups of this machine"},
			noun.Field{Name: "address", Help: "only the portgroup with this MAC"},
			noun.Field{Name: "shard", Help: "only portgroups of machines of these shards, separated by commas"})},
		noun.Show,
		noun.Create("--node NODE [--FIELD VALUE]...", "Add a portgroup to a machine",
			`  ferrite portgroup create --node m1 --name bond0 --mode 802.3ad --property miimon=100`),
		noun.Set("Change a portgroup"), noun.Unset, noun.Delete},
}
