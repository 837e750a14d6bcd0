//go:build !nooperate

package main

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/setup"
)

// operate is the commands of the extra of that name, which look after a conductor's host.
func operate() []*cobra.Command {
	return []*cobra.Command{serve.BackupCommand(), serve.RestoreCommand(), serve.DoctorCommand(), setup.Command()}
}
