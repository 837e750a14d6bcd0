//go:build !nohosts

package cli

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/host"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
)

const hostsHelp = `
Or describe the machine in a document, and the conductor keeps it so. The
document is Metal3's BareMetalHost, so kubectl works with it, too:

  ferrite host apply -f host.yaml --wait
  ferrite host get -w
  ferrite host describe NAME
`

func hosts(s *client.Session) extra {
	return extra{help: hostsHelp, imports: []*cobra.Command{host.Metal3Command(s)},
		commands: []*cobra.Command{host.Command(s)}}
}
