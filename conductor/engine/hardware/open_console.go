package hardware

import (
	"context"
	"io"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// OpenConsole connects to the serial line of a node's machine. Whatever console_interface
// says of Ironic's consoles, the conductor's own works where the BMC has one.
func (e *Hardware) OpenConsole(ctx context.Context, ref string, take bool) (io.ReadWriteCloser, error) {
	n, bmc, err := e.driver(ctx, ref)
	if err != nil {
		return nil, err
	}
	able, ok := bmc.(core.ConsoleOpener)
	if !ok {
		return nil, node.Refuse(node.Invalid,
			"the driver %s of node %s has no serial console: it is for the driver ipmi, by serial over LAN", n.Driver, n.UUID)
	}
	return able.OpenConsole(ctx, n, take)
}
