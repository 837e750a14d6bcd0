// Package host is the commands for documents of hosts: apply, get, describe, delete, and
// the import of enrolled nodes.
package host

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
)

// Command holds the commands for hosts beside the verbs for documents.
func Command(s *client.Session) *cobra.Command {
	return client.Group("host", "Hosts: import enrolled nodes, write lost images again",
		`A host is a document that describes a machine (Metal3's BareMetalHost). It has the verbs
of kubectl: ferrite apply, get, describe and delete.`, hostImport(s), hostReprovision(s))
}
