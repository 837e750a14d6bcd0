//go:build e2e

package scale

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/lab/agenttest"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

// writers is how many nodes are written at a time.
const writers = 64

// tokenOf is the token of the agent of the nth node.
func tokenOf(nth int) string { return fmt.Sprintf("token-of-the-agent-of-one-node-%012d", nth) }

// nodeOf is the nth node: available, and on, since its agent was kept running.
func nodeOf(nth int) node.Node {
	created := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).Add(time.Duration(nth) * time.Millisecond)
	return node.Node{
		UUID: uuidOf(nth), Name: fmt.Sprintf("rack%03d-node%06d", nth%500, nth), Driver: "redfish",
		ProvisionState: node.Available, PowerState: node.PowerOn, ResourceClass: "baremetal.general", CreatedAt: created,
		DriverInfo: map[string]any{
			"redfish_address":  fmt.Sprintf("http://%s:%d", address(bmcNet, nth), bmcPort),
			"redfish_username": redfishtest.User, "redfish_password": redfishtest.Password,
		},
		Properties: map[string]any{"cpus": 64.0, "memory_mb": 524288.0, "local_gb": 3840.0, "cpu_arch": "x86_64",
			"capabilities": "boot_mode:uefi"},
		Interfaces: map[string]string{
			"bios": "redfish", "boot": "ipxe", "console": "no-console", "deploy": "direct", "firmware": "redfish",
			"inspect": "agent", "management": "redfish", "network": "noop", "power": "redfish", "raid": "redfish",
			"rescue": "agent", "storage": "noop", "vendor": "redfish",
		},
		Agent: node.Agent{URL: callbackOf(nth), Version: agenttest.Version, Token: tokenOf(nth), TokenSent: true,
			Since: created},
	}
}

func callbackOf(nth int) string {
	return fmt.Sprintf("http://%s:%d", address(agentNet, nth), agentPort)
}

// fillRoom writes nodes with a port each.
func fillRoom(ctx context.Context, db *store.Database, count int) error {
	errs := make([]error, writers)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := w; i < count && errs[w] == nil; i += writers {
				n := nodeOf(i)
				port := node.Port{UUID: fmt.Sprintf("5ca1e001-0000-4000-8000-%012x", i), NodeUUID: n.UUID, Address: macOf(i),
					PXEEnabled: true}
				_, errs[w] = db.Commit(ctx, node.Change{Insert: &n, AddPorts: []node.Port{port}})
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
