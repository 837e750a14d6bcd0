package inventory

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
)

const chassisHelp = `A chassis holds machines. A machine names its chassis: ferrite node set --chassis. A
chassis that has machines cannot be deleted.`

// ChassisCommand is ferrite chassis.
func ChassisCommand(s *client.Session) *cobra.Command {
	r := record{s, "chassis", "CHASSIS", "chassis", output.Columns("uuid", "description")}
	return client.Group("chassis", "Chassis that machines are built into", chassisHelp,
		r.list(), r.show(), chassisCreate(r), chassisSet(r), r.delete())
}

func chassisFlags(cmd *cobra.Command) *recordFlags {
	f := &recordFlags{texts: map[string]*string{"description": cmd.Flags().String("description", "", "free text")}}
	f.extra(cmd)
	return f
}

func chassisCreate(r record) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "create [--FIELD VALUE]...",
		Short:   "Add a chassis",
		Example: `  ferrite chassis create --description "rack 7, units 10 to 13"`,
		Args:    cobra.NoArgs,
	}
	f := chassisFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return r.created(cmd, f, nil) }
	return cmd
}

func chassisSet(r record) *cobra.Command {
	cmd := &cobra.Command{Use: "set CHASSIS [--FIELD VALUE]...", Short: "Change a chassis"}
	return r.set(chassisFlags(cmd), cmd)
}
