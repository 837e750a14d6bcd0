package hardware

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// SetConsole asks for the console to be usable, or no longer. It returns once
// the request is taken; a console that is as wanted is left alone.
func (e *Hardware) SetConsole(ctx context.Context, ref string, on bool) error {
	n, _, err := e.consoles(ctx, ref)
	if err != nil || n.ConsoleEnabled == on {
		return err
	}
	return e.chore(ctx, n.UUID, plan.ConsoleRequest{On: on})
}

// Console says whether the console can be used, and how it is reached; info is
// nil when it cannot.
func (e *Hardware) Console(ctx context.Context, ref string) (on bool, info map[string]any, err error) {
	n, err := e.Node(ctx, ref)
	if err != nil || !n.ConsoleEnabled {
		return false, nil, err
	}
	n, bmc, err := e.consoles(ctx, n.UUID)
	if err != nil {
		return false, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, e.Patience(n).Call)
	defer cancel()
	info, err = bmc.Console(ctx, n)
	return true, info, core.BmcFault(err)
}

// consoles finds a node and its console, if that is fit for use.
func (e *Hardware) consoles(ctx context.Context, ref string) (node.Node, core.Consoles, error) {
	n, bmc, err := find[core.Consoles](ctx, e, ref, "console", "console")
	if err == nil {
		err = bmc.ValidateConsole(n)
	}
	return n, bmc, err
}
