package enginetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Able is a BMC with all extensions of engine.BMC. Its firmware applies a setting at once, or some time after a start
// of the machine.
type Able struct {
	*Boards

	mu      sync.Mutex
	Mode    string
	Secure  bool
	Late    time.Duration // after a start; 0 for at once
	Never   bool          // not even then
	pending func()        // applied by the next start
	Sent    []string      // vendor methods that have reached the BMC
	Fail    error         // the error of a vendor method
	Hang    chan struct{} // which it waits for, if there is one
}

// NewAble makes a world with an Able as its redfish BMC.
func NewAble(t *testing.T) *Able {
	a := &Able{Boards: NewBoards(t), Mode: "uefi"}
	a.Drive = func(core.BMC) core.BMC { return a }
	return a
}

func (a *Able) take(set func()) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.Late == 0 && !a.Never {
		set()
	} else {
		a.pending = set
	}
	return nil
}

// SetPower applies a pending setting after a start.
func (a *Able) SetPower(ctx context.Context, n node.Node, target node.PowerState) error {
	a.mu.Lock()
	if set := a.pending; set != nil && !a.Never {
		a.pending = nil
		time.AfterFunc(a.Late, func() { a.mu.Lock(); defer a.mu.Unlock(); set() })
	}
	a.mu.Unlock()
	return a.Boards.SetPower(ctx, n, target)
}

// BootMode returns the mode in force.
func (a *Able) BootMode(context.Context, node.Node) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.Mode, nil
}

// SetBootMode sets the mode at once or with the next start.
func (a *Able) SetBootMode(_ context.Context, _ node.Node, mode string) error {
	return a.take(func() { a.Mode = mode })
}

// SecureBoot returns the setting in force.
func (a *Able) SecureBoot(context.Context, node.Node) (*bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	on := a.Secure
	return &on, nil
}

// SetSecureBoot sets secure boot at once or with the next start.
func (a *Able) SetSecureBoot(_ context.Context, _ node.Node, on bool) error {
	return a.take(func() { a.Secure = on })
}

// ValidateConsole refuses a console that is switched off, as the drivers do.
func (a *Able) ValidateConsole(n node.Node) error {
	if n.Off("console") {
		return node.Refuse(node.Invalid, "%s is no serial console", n.Interfaces["console"])
	}
	return nil
}

// SetConsole accepts every request.
func (a *Able) SetConsole(context.Context, node.Node, bool) error { return nil }

// Console returns one fixed address.
func (a *Able) Console(context.Context, node.Node) (map[string]any, error) {
	return map[string]any{"type": "socat", "url": "tcp://127.0.0.1:1"}, nil
}

// VendorMethods returns a method of each kind.
func (a *Able) VendorMethods() []node.VendorMethod {
	return []node.VendorMethod{
		{Name: "slow", HTTPMethods: []string{"POST"}, Async: true},
		{Name: "quick", HTTPMethods: []string{"GET", "POST"}},
		{Name: "beside", HTTPMethods: []string{"POST"}, Async: true, Shared: true},
	}
}

// CheckVendor refuses the argument "wrong".
func (a *Able) CheckVendor(_ context.Context, _ node.Node, _ string, args map[string]any) error {
	if args["wrong"] != nil {
		return node.Refuse(node.Invalid, "wrong is wrong")
	}
	return nil
}

// CallVendor notes the call, waits if the test says so, and returns the result of the test.
func (a *Able) CallVendor(ctx context.Context, _ node.Node, method string, _ map[string]any) (any, error) {
	a.mu.Lock()
	a.Sent = append(a.Sent, method)
	hang, fail := a.Hang, a.Fail
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

// SetAble changes a under its lock.
func (a *Able) SetAble(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}
