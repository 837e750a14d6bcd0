package inventory

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
)

const volumeHelp = `Machines can use volumes of a storage network. A connector is the name by which storage
knows a machine. A target is a volume that the machine uses. Both can be changed and
deleted only while the machine is off.`

// VolumeCommand is ferrite volume.
func VolumeCommand(s *client.Session) *cobra.Command {
	return client.Group("volume", "Volumes that machines use over the network", volumeHelp, connectorCommand(s),
		targetCommand(s))
}

func connectorCommand(s *client.Session) *cobra.Command {
	r := record{
		s, "volume connector", "CONNECTOR", "volume/connectors", output.Columns("uuid", "node_uuid", "type", "connector_id"),
	}
	create := &cobra.Command{
		Use:     "create --node NODE --type TYPE --connector-id ID",
		Short:   "Add the name that storage knows a machine by",
		Example: `  ferrite volume connector create --node m1 --type iqn --connector-id iqn.2017-07.org.openstack:01:d9a51732c3f`,
	}
	set := &cobra.Command{Use: "set CONNECTOR [--FIELD VALUE]...", Short: "Change a connector"}
	made := r.createOf(connectorFlags(create), create)
	client.Must(create.MarkFlagRequired("type"))
	client.Must(create.MarkFlagRequired("connector-id"))
	return client.Group("connector", "Names that storage knows machines by", "", r.listOf(), r.show(), made,
		r.set(connectorFlags(set), set), r.delete())
}

func connectorFlags(cmd *cobra.Command) *recordFlags {
	f := &recordFlags{texts: map[string]*string{
		"type":         cmd.Flags().String("type", "", "iqn, ip, mac, wwnn, wwpn, port or portgroup"),
		"connector-id": cmd.Flags().String("connector-id", "", "name of the machine, of that type"),
	}}
	f.extra(cmd)
	return f
}

func targetCommand(s *client.Session) *cobra.Command {
	r := record{
		s, "volume target", "TARGET", "volume/targets",
		output.Columns("uuid", "node_uuid", "volume_type", "boot_index", "volume_id"),
	}
	create := &cobra.Command{
		Use:     "create --node NODE --volume-type TYPE --volume-id ID --boot-index N",
		Short:   "Add a volume that a machine uses",
		Example: `  ferrite volume target create --node m1 --volume-type iscsi --volume-id vol-1 --boot-index 0 --property target_lun=1`,
	}
	set := &cobra.Command{Use: "set TARGET [--FIELD VALUE]...", Short: "Change a volume"}
	made := r.createOf(targetFlags(create), create)
	for _, flag := range []string{"volume-type", "volume-id", "boot-index"} {
		client.Must(create.MarkFlagRequired(flag))
	}
	return client.Group("target", "Volumes that machines use", "", r.listOf(), r.show(), made,
		r.set(targetFlags(set), set), r.delete())
}

func targetFlags(cmd *cobra.Command) *recordFlags {
	f := &recordFlags{
		texts: map[string]*string{
			"volume-type": cmd.Flags().String("volume-type", "", "iscsi, fibre_channel or another"),
			"volume-id":   cmd.Flags().String("volume-id", "", "name of the volume at the storage"),
		},
		numbers: map[string]*int{
			"boot-index": cmd.Flags().Int("boot-index", 0, "place in the boot order; the machine boots from 0"),
		},
	}
	f.object(cmd, "property", "properties",
		"KEY=VALUE of its address: target_iqn, target_portal, target_lun, ...; repeat it")
	f.extra(cmd)
	return f
}
