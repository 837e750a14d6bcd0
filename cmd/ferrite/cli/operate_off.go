//go:build nooperate

package cli

import "github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"

func operate(*client.Session) extra { return extra{} }
