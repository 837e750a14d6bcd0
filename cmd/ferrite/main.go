// Certificates with a negative serial number can be read at all, as BMCs of old firmware
// have them. Package redfish refuses them where a node has no redfish_tls: legacy.
//go:debug x509negativeserial=1

// Command ferrite is the conductor, its client and the maker of ramdisks in
// one static binary.
package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/bmc"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/boot"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/manual"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/ramdisk"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/user"
)

// release is the version in the output of `ferrite version` and in the agents' records.
const release = "0.2.0"

func main() {
	os.Exit(cli.Run(context.Background(), program()))
}

// program is the root command with all others below it.
func program() *cobra.Command {
	server := &cobra.Command{Use: "server"} // below which cli has commands that ask the conductor
	server.AddCommand(append(operate(), serve.StoreCommand(), serve.SecretsCommand())...)
	return cli.New(release, serve.Command(), server, user.Command(), ramdisk.Command(), boot.Command(), bmc.Command(),
		manual.Command())
}
