package fake

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// ValidateConsole takes the console interface fake. Nodes of fake-hardware may
// name any other that Ironic has, but there is no machine to connect it to.
func (d *Driver) ValidateConsole(n node.Node) error {
	if name := n.Interfaces["console"]; name != "" && name != "fake" {
		return node.Refuse(node.Invalid,
			"console_interface %s of node %s is not built into this release: set console_interface to fake or no-console",
			name, n.UUID)
	}
	return nil
}

// SetConsole opens nothing.
func (d *Driver) SetConsole(ctx context.Context, n node.Node, _ bool) error {
	return d.call(ctx, "SetConsole", n, func(*machine) {})
}

// Console is empty, as Ironic's is.
func (d *Driver) Console(ctx context.Context, n node.Node) (map[string]any, error) {
	return map[string]any{}, d.call(ctx, "Console", n, func(*machine) {})
}
