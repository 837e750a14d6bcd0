//go:build nohosts

package cli

import "github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"

func hosts(*client.Session) extra { return extra{} }
