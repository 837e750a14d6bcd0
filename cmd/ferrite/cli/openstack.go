//go:build !noopenstack

package cli

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/importing"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
)

func openstack(s *client.Session) extra {
	return extra{imports: []*cobra.Command{importing.IronicCommand(s)},
		commands: []*cobra.Command{importing.ExportCommand(s)}}
}
