package cli

import "github.com/spf13/cobra"

// hostCommand holds what is done about hosts beside the verbs for documents.
func hostCommand(s *session) *cobra.Command {
	return group("host", "Hosts: make their documents of nodes",
		`Hosts are documents that say what a machine is to be (Metal3's BareMetalHost). The verbs for
them are those of kubectl: ferrite apply, get, describe and delete.`, hostImport(s))
}
