//go:build dhcpbench

package dhcpbench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
)

// writers is how many nodes are written at a time.
const writers = 256

// enroll writes the first machines of a load into an empty data folder, each a node with a port.
func enroll(ctx context.Context, dir string, count int) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	db, err := datafolder.Folder{Dir: dir}.Open(ctx, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		return err
	}
	errs := make([]error, writers)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := w; i < count && errs[w] == nil; i += writers {
				n := node.Node{UUID: fmt.Sprintf("d4c90000-0000-4000-8000-%012x", i+1), Name: fmt.Sprintf("rack-node%06d", i),
					Driver: "manual-management", ProvisionState: node.Available, PowerState: node.PowerOn,
					Properties: map[string]any{"cpus": 64.0, "memory_mb": 524288.0, "capabilities": "boot_mode:uefi"}}
				port := node.Port{UUID: fmt.Sprintf("d4c90001-0000-4000-8000-%012x", i+1), NodeUUID: n.UUID,
					Address: macOf(uint32(i + 1)).String(), PXEEnabled: true}
				_, errs[w] = db.Commit(ctx, node.Change{Insert: &n, AddPorts: []node.Port{port}})
			}
		})
	}
	all.Wait()
	return errors.Join(errors.Join(errs...), db.Close())
}
