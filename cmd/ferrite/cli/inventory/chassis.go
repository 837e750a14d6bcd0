package inventory

import (
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/noun"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

var chassis = noun.Noun{
	Use: "chassis", Short: "Chassis that contain machines",
	Long: `A chassis holds machines. A machine names its chassis: ferrite node set --chassis. A
chassis that has machines cannot be deleted.`,
	Arg: "CHASSIS", Path: nodeapi.Root + "/chassis", Columns: output.Columns("uuid", "description"),
	Fields: []noun.Field{noun.UUID, {Name: "description", Help: "free text"}, noun.Extra},
	Verbs: []noun.Verb{noun.List, noun.Show,
		noun.Create("[--FIELD VALUE]...", "Add a chassis",
			`  ferrite chassis create --description "rack 7, units 10 to 13"`),
		noun.Set("Change a chassis"), noun.Unset, noun.Delete},
}

var volumes = noun.Noun{
	Use: "volume", Short: "Volumes that machines use over the network",
	Long: `Machines can use volumes of a storage network. A connector is the name by which storage
knows a machine. A target is a volume that the machine uses. Both can be changed and
deleted only while the machine is off.`,
	Below: []noun.Noun{connectors, targets},
}

var connectors = noun.Noun{
	Use: "connector", Short: "Names by which storage identifies machines", Name: "volume connector", Arg: "CONNECTOR",
	Path: nodeapi.Root + "/volume/connectors", Columns: output.Columns("uuid", "node_uuid", "type", "connector_id"),
	Fields: []noun.Field{
		noun.OfNode,
		noun.UUID,
		{Name: "type", Required: true, Help: "iqn, ip, mac, wwnn, wwpn, port or portgroup"},
		{Name: "connector_id", Required: true, Help: "name of the machine, of that type"},
		noun.Extra,
	},
	Verbs: []noun.Verb{noun.ListOf, noun.Show,
		noun.Create("--node NODE --type TYPE --connector-id ID", "Add the name that storage knows a machine by",
			`  ferrite volume connector create --node m1 --type iqn --connector-id iqn.2017-07.org.openstack:01:d9a51732c3f`),
		noun.Set("Change a connector"), noun.Unset, noun.Delete},
}

var targets = noun.Noun{
	Use: "target", Short: "Volumes that machines use", Name: "volume target", Arg: "TARGET",
	Path:    nodeapi.Root + "/volume/targets",
	Columns: output.Columns("uuid", "node_uuid", "volume_type", "boot_index", "volume_id"),
	Fields: []noun.Field{
		noun.OfNode,
		noun.UUID,
		{Name: "volume_type", Required: true, Help: "iscsi, fibre_channel or another"},
		{Name: "volume_id", Required: true, Help: "name of the volume at the storage"},
		{Name: "boot_index", Required: true, Value: 0, Help: "place in the boot order; the machine boots from 0"},
		{Name: "properties", Flag: "property", Kind: noun.Object, Keys: true,
			Help: "KEY=VALUE of its address: target_iqn, target_portal, target_lun, ...; repeat it"},
		noun.Extra,
	},
	Verbs: []noun.Verb{noun.ListOf, noun.Show,
		noun.Create("--node NODE --volume-type TYPE --volume-id ID --boot-index N", "Add a volume that a machine uses",
			`  ferrite volume target create --node m1 --volume-type iscsi --volume-id vol-1 --boot-index 0 `+
				`--property target_lun=1`),
		noun.Set("Change a volume"), noun.Unset, noun.Delete},
}
