// Package largesite fills a store with the nodes of a large site, for measurements. Some values of the filtered fields
// are rare, and some are common to nearly all nodes.
//
// It must not be used by the programs themselves.
package largesite

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Nodes is how many there are.
const Nodes = 100_000

// callers is how many nodes are written at a time.
const callers = 256

// Store takes the nodes.
type Store interface {
	Commit(ctx context.Context, c node.Change) (node.Node, error)
}

// Fill writes the nodes, in no particular order.
func Fill(ctx context.Context, s Store) error {
	errs := make([]error, callers)
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := c; i < Nodes && errs[c] == nil; i += callers {
				n := Node(i)
				_, errs[c] = s.Commit(ctx, node.Change{Insert: &n})
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// UUID is the UUID of a node, by its number.
func UUID(i int) string { return fmt.Sprintf("6f000000-0000-4000-8000-%012x", i) }

// Node is the node of a number. Every thousandth is a rare one.
func Node(i int) node.Node {
	n := node.Node{
		UUID: UUID(i), Name: fmt.Sprintf("rack%03d-node%06d", i%500, i), Driver: "redfish",
		ProvisionState: node.Active, PowerState: node.PowerOn, ResourceClass: "baremetal.general",
		InstanceUUID: Instance(i), Owner: "project-" + strconv.Itoa(i%40), Shard: "shard-" + strconv.Itoa(i%10),
		CreatedAt: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Millisecond),
		DriverInfo: map[string]any{
			"redfish_address": fmt.Sprintf("https://10.%d.%d.%d", i>>16, i>>8&255, i&255), "redfish_username": "admin",
			"redfish_password": "x",
		},
		Properties: map[string]any{"cpus": 64.0, "memory_mb": 524288.0, "local_gb": 3840.0, "cpu_arch": "x86_64",
			"capabilities": "boot_mode:uefi"},
		Interfaces: map[string]string{
			"bios": "redfish", "boot": "ipxe", "console": "no-console", "deploy": "direct", "firmware": "redfish",
			"inspect": "agent", "management": "redfish",
			"network": "noop", "power": "redfish", "raid": "redfish", "rescue": "agent", "storage": "noop", "vendor": "redfish",
		},
		Extra: map[string]any{"rack": strconv.Itoa(i % 500), "serial": strings.Repeat("x", 100)},
	}
	updated := n.CreatedAt.Add(time.Duration(i*7919%Nodes) * time.Second)
	n.UpdatedAt = &updated
	if i%1000 == 7 {
		n.Driver, n.ResourceClass, n.Owner, n.ConductorGroup = "ipmi", "baremetal.gpu", "project-rare", "far"
		n.ProvisionState, n.InstanceUUID, n.Shard = node.Available, "", ""
		n.Maintenance, n.Fault, n.Retired = true, "power failure", true
	}
	return n
}

// Instance is the instance on the node of a number.
func Instance(i int) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(strconv.Itoa(i))).String()
}
