// Package host is the commands for documents of hosts: apply, get, describe, delete, and
// the import of enrolled nodes.
package host

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
)

// Command holds the commands for hosts beside the verbs for documents.
func Command(s *client.Session) *cobra.Command {
	return client.Group("host", "Hosts: documents that describe machines, as Metal3 has them",
		`A host is a document that describes a machine (Metal3's BareMetalHost). It has the verbs
of kubectl: apply, get, describe and delete. Other documents belong to hosts, and have the
same verbs.`, apply(s), get(s), describe(s), remove(s), hostImport(s), hostReprovision(s))
}
