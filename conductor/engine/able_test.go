package engine_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// able is a BMC with all extensions of engine.BMC. Its firmware applies a setting at once, or some time after a start
// of the machine.
type able struct {
	*boards

	mu      sync.Mutex
	mode    string
	secure  bool
	late    time.Duration // after a start; 0 for at once
	never   bool          // not even then
	pending func()        // applied by the next start
	sent    []string      // vendor methods that have reached the BMC
	fail    error         // the error of a vendor method
	hang    chan struct{} // which it waits for, if there is one
}

func newAble(t *testing.T) *able {
	a := &able{boards: newBoards(t), mode: "uefi"}
	a.drive = func(core.BMC) core.BMC { return a }
	return a
}

func (a *able) take(set func()) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.late == 0 && !a.never {
		set()
	} else {
		a.pending = set
	}
	return nil
}

func (a *able) SetPower(ctx context.Context, n node.Node, target node.PowerState) error {
	a.mu.Lock()
	if set := a.pending; set != nil && !a.never {
		a.pending = nil
		time.AfterFunc(a.late, func() { a.mu.Lock(); defer a.mu.Unlock(); set() })
	}
	a.mu.Unlock()
	return a.boards.SetPower(ctx, n, target)
}

func (a *able) BootMode(context.Context, node.Node) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mode, nil
}

func (a *able) SetBootMode(_ context.Context, _ node.Node, mode string) error {
	return a.take(func() { a.mode = mode })
}

func (a *able) SecureBoot(context.Context, node.Node) (*bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	on := a.secure
	return &on, nil
}

func (a *able) SetSecureBoot(_ context.Context, _ node.Node, on bool) error {
	return a.take(func() { a.secure = on })
}

func (a *able) ValidateConsole(node.Node) error { return nil }

func (a *able) SetConsole(context.Context, node.Node, bool) error { return nil }

func (a *able) Console(context.Context, node.Node) (map[string]any, error) {
	return map[string]any{"type": "socat", "url": "tcp://127.0.0.1:1"}, nil
}

func (a *able) VendorMethods() []node.VendorMethod {
	return []node.VendorMethod{
		{Name: "slow", HTTPMethods: []string{"POST"}, Async: true},
		{Name: "quick", HTTPMethods: []string{"GET", "POST"}},
		{Name: "beside", HTTPMethods: []string{"POST"}, Async: true, Shared: true},
	}
}

func (a *able) CheckVendor(_ context.Context, _ node.Node, _ string, args map[string]any) error {
	if args["wrong"] != nil {
		return node.Refuse(node.Invalid, "wrong is wrong")
	}
	return nil
}

func (a *able) CallVendor(ctx context.Context, _ node.Node, method string, _ map[string]any) (any, error) {
	a.mu.Lock()
	a.sent = append(a.sent, method)
	hang, fail := a.hang, a.fail
	a.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return "done " + method, fail
}

func (a *able) setAble(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}
