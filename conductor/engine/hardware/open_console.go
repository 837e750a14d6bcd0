package hardware

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// OpenConsole connects to the serial line of a node's machine. A host key that the BMC shows for the first time is kept
// (trust on first use). console_interface is for Ironic's consoles only: the conductor's own console works with any BMC
// that has one.
func (e *Hardware) OpenConsole(ctx context.Context, ref string, take bool) (io.ReadWriteCloser, error) {
	n, bmc, err := e.driver(ctx, ref)
	if err != nil {
		return nil, err
	}
	able, ok := bmc.(core.ConsoleOpener)
	if !ok {
		return nil, node.Refuse(node.Invalid,
			"the driver %s of node %s has no serial console: the drivers ipmi and redfish have one, and redfish's vendor types",
			n.Driver, n.UUID)
	}
	line, err := able.OpenConsole(ctx, n, take)
	if err != nil {
		return nil, err
	}
	known, ok := line.(interface{ HostKey() (address, key string) })
	if !ok {
		return line, nil
	}
	address, key := known.HostKey()
	if n.ConsoleKey(address) == key {
		return line, nil
	}
	if _, err := e.Act(ctx, n.UUID, plan.ConsoleKeySeen{Address: address, Key: key}); err != nil {
		return nil, errors.Join(fmt.Errorf("keep the SSH host key of the BMC: %w", err), line.Close())
	}
	return line, nil
}
