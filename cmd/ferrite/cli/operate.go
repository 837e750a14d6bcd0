//go:build !nooperate

package cli

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/resume"
)

func operate(s *client.Session) extra {
	c := resume.Command(s)
	c.Annotations = map[string]string{asks: conductor}
	return extra{server: []*cobra.Command{c}}
}
