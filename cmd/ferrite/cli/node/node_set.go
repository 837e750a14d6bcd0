package node

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/caution"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/nodes"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/noun"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// addFields adds the flags of node create (POST) and node set (PATCH).
func addFields(cmd *cobra.Command, method string) noun.Flags {
	all := []noun.Field{
		{Name: "automated_clean", Value: false,
			Help: "clean its disks between tenants, also against the conductor's default"},
		{Name: "automated_clean", Flag: "no-automated-clean", Kind: noun.Not,
			Help: "do not clean its disks between tenants"},
		{Name: "driver", Only: "POST", Required: true, Help: `hardware type; "ferrite driver list" shows them`},
		{Name: "driver", Only: "PATCH", Help: "hardware type"},
		{Name: "uuid", Only: "POST", Help: "UUID, generated when left out"},
		{Name: "network_data", Kind: noun.JSON, Help: "JSON that the ramdisk configures its network by"},
		{Name: "instance_uuid", Only: "PATCH", Help: "UUID of the instance that it runs"},
		{Name: "protected", Only: "PATCH", Value: false,
			Help: "refuse undeploy, rebuild and delete; --protected=false allows them again"},
		{Name: "protected_reason", Only: "PATCH", Help: "why it is protected"},
		{Name: "retired", Only: "PATCH", Value: false,
			Help: "never make it available again; --retired=false allows it"},
		{Name: "retired_reason", Only: "PATCH", Help: "why it is retired"},
		{Name: "disable_power_off", Value: false,
			Help: "never switch it off, only restart it; --disable-power-off=false allows it"},
	}
	all = append(all, noun.Field{Name: "driver_info", Flag: "driver-info-file", Kind: noun.Secrets,
		Help: "`KEY=FILE` of driver_info, for passwords: the value is the first line of the file; - is standard input, " +
			"which a terminal does not show; repeat it"})
	for _, of := range nodeapi.NodeFields() {
		f := noun.Field{Name: of.Name, Flag: of.FlagName(), Help: of.Flag}
		switch {
		case of.Interface:
			f.Help = strings.TrimSuffix(of.Name, "_interface") + " interface; the driver's default when left out"
		case of.Name == "driver_info":
			f.Kind = noun.TextPairs
		case of.Object:
			f.Kind = noun.Object
		}
		if f.Help != "" {
			all = append(all, f)
		}
	}
	flags := noun.AddFlags(cmd, method, all)
	cmd.MarkFlagsMutuallyExclusive("automated-clean", "no-automated-clean")
	return flags
}

func nodeSet(s *client.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "set NODE... [--FIELD VALUE]...",
		Short:   "Change the record of a machine",
		Example: "  ferrite node set m1 --property cpu_arch=x86_64 --driver-info-file redfish_password=FILE",
	}
	caution.Care{Force: caution.OfMachine}.Add(s, cmd)
	flags := addFields(cmd, "PATCH")
	reset := cmd.Flags().Bool("reset-interfaces", false,
		"with --driver: set every interface to the default of the new driver")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		given, err := flags.Read(cmd, s)
		if err != nil {
			return err
		}
		ops, err := given.Patch()
		if err != nil {
			return err
		}
		driver, _ := given.Plain["driver"].(string)
		if err := checkDriverInfo(cmd.Context(), s, given.Objects["driver_info"], driver, args...); err != nil {
			return err
		}
		query := ""
		if *reset {
			query = "?reset_interfaces=true"
		}
		return nodes.PatchEach(s, cmd, args, query, ops)
	}
	return cmd
}

func nodeUnset(s *client.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "unset NODE... [--FIELD]...",
		Short:   "Remove fields from the record of a machine",
		Example: "  ferrite node unset m1 --property cpu_arch --instance-uuid",
	}
	flags := noun.AddFlags(cmd, "PATCH", removable())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		given, err := flags.Read(cmd, s)
		if err != nil {
			return err
		}
		ops, err := given.Patch()
		if err != nil {
			return err
		}
		return nodes.PatchEach(s, cmd, args, "", ops)
	}
	return cmd
}

// removable are the fields that a node can be without: those with a flag of node create, and some more.
func removable() (all []noun.Field) {
	more := []string{"automated_clean", "disable_power_off", "instance_uuid", "network_data", "protected",
		"protected_reason", "retired", "retired_reason"}
	for _, of := range nodeapi.NodeFields() {
		if of.Flag == "" && !of.Interface && !slices.Contains(more, of.Name) {
			continue
		}
		f := noun.Field{Name: of.Name, Flag: of.FlagName(), Keys: of.Object && of.Flag != ""}.Removal()
		if of.Interface {
			f.Help = "use the default of the driver"
		}
		all = append(all, f)
	}
	return all
}
