package host

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
)

// Command holds what is done about hosts beside the verbs for documents.
func Command(s *client.Session) *cobra.Command {
	return client.Group("host", "Hosts: make their documents of nodes",
		`Hosts are documents that say what a machine is to be (Metal3's BareMetalHost). The verbs for
them are those of kubectl: ferrite apply, get, describe and delete.`, hostImport(s))
}
