//go:build noopenstack

package cli

import "github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"

func openstack(*client.Session) extra { return extra{} }
