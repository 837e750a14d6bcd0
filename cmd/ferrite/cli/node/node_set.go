package node

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/caution"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/nodes"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeSet(s *client.Session) *cobra.Command {
	var driver, instanceUUID, networkData, protectedReason string
	var reset, protected, retired bool
	cmd := &cobra.Command{
		Use:     "set NODE... [--FIELD VALUE]...",
		Short:   "Change the record of a machine",
		Example: "  ferrite node set m1 --property cpu_arch=x86_64 --driver-info redfish_password=new",
		Args:    cobra.MinimumNArgs(1),
	}
	caution.Care{Force: caution.OfMachine}.Add(s, cmd)
	f := addNodeFlags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&driver, "driver", "", "hardware type")
	flags.BoolVar(&reset, "reset-interfaces", false, "with --driver: set every interface to the default of the new driver")
	flags.StringVar(&instanceUUID, "instance-uuid", "", "UUID of the instance that it runs")
	flags.StringVar(&networkData, "network-data", "", "JSON that the ramdisk configures its network by")
	flags.BoolVar(&protected, "protected", false,
		"refuse undeploy, rebuild and delete; --protected=false allows them again")
	flags.StringVar(&protectedReason, "protected-reason", "", "why it is protected")
	flags.BoolVar(&retired, "retired", false, "never make it available again; --retired=false allows it")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ops, err := f.patch(cmd)
		if err != nil {
			return err
		}
		if o := f.objects["driver_info"]; len(o.Args) > 0 {
			info, err := output.Pairs(o.Flag, o.Args, o.Read)
			if err != nil {
				return err
			}
			of := driverOf(cmd.Context(), s, driver, args)
			if err := checkDriverInfo(cmd.Context(), s, of, info); err != nil {
				return err
			}
		}
		add := func(given bool, field string, value any) {
			if given {
				ops = append(ops, nodeapi.Patch{Op: "add", Path: "/" + field, Value: value})
			}
		}
		add(driver != "", "driver", driver)
		add(instanceUUID != "", "instance_uuid", instanceUUID)
		add(flags.Changed("protected"), "protected", protected)
		add(protectedReason != "", "protected_reason", protectedReason)
		add(flags.Changed("retired"), "retired", retired)
		if networkData != "" {
			data, err := jsonFlag("network-data", networkData)
			if err != nil {
				return err
			}
			add(true, "network_data", data)
		}
		query := ""
		if reset {
			query = "?reset_interfaces=true"
		}
		return nodes.PatchEach(s, cmd, args, query, ops)
	}
	return cmd
}

func nodeUnset(s *client.Session) *cobra.Command {
	texts := map[string]*bool{}
	keys := map[string]*[]string{}
	cmd := &cobra.Command{
		Use:     "unset NODE... [--FIELD]...",
		Short:   "Remove fields from the record of a machine",
		Example: "  ferrite node unset m1 --property cpu_arch --instance-uuid",
		Args:    cobra.MinimumNArgs(1),
	}
	for _, f := range nodeapi.NodeFields() {
		switch {
		case f.Interface:
			texts[f.Name] = cmd.Flags().Bool(f.FlagName(), false, "use the default of the driver")
		case f.Object && f.Flag != "":
			keys[f.Name] = cmd.Flags().StringArray(f.FlagName(), nil, "KEY of "+f.Name+" to remove; repeat it")
		case f.Flag != "", f.Name == "instance_uuid", f.Name == "automated_clean":
			texts[f.Name] = cmd.Flags().Bool(f.FlagName(), false, "remove its "+f.Name)
		}
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var ops []nodeapi.Patch
		for field, given := range texts {
			if *given {
				ops = append(ops, nodeapi.Patch{Op: "remove", Path: "/" + field})
			}
		}
		for field, names := range keys {
			for _, key := range *names {
				ops = append(ops, nodeapi.Patch{Op: "remove", Path: "/" + field + "/" + output.Pointer(key)})
			}
		}
		return nodes.PatchEach(s, cmd, args, "", ops)
	}
	return cmd
}
