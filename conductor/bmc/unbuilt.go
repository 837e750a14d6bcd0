package bmc

import (
	"context"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/bmc/driverinfo"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// unbuilt is a hardware type whose nodes can be created while its driver does
// not exist: every call of it says so.
type unbuilt struct {
	name    string
	address string // the key of driver_info that no node can do without
}

type unbuiltError struct{ driver, call string }

func (e *unbuiltError) Error() string {
	return fmt.Sprintf("%s: the driver is not built yet, %s cannot be done: use another hardware type", e.driver, e.call)
}

// Permanent says that trying again does not help.
func (e *unbuiltError) Permanent() bool { return true }

func (u unbuilt) refuse(call string) error { return &unbuiltError{u.name, call} }

func (u unbuilt) Validate(n node.Node) error {
	_, err := driverinfo.Required(n, u.address, "the BMC's host name or address")
	return err
}

func (u unbuilt) PowerState(context.Context, node.Node) (node.PowerState, error) {
	return "", u.refuse("reading the power state")
}

func (u unbuilt) SetPower(context.Context, node.Node, node.PowerState) error {
	return u.refuse("setting the power state")
}

func (u unbuilt) BootDevice(context.Context, node.Node) (string, bool, error) {
	return "", false, u.refuse("reading the boot device")
}

func (u unbuilt) SetBootDevice(context.Context, node.Node, string, bool) error {
	return u.refuse("setting the boot device")
}

func (u unbuilt) SupportedBootDevices(node.Node) []string { return nil }

func (u unbuilt) BootMode(context.Context, node.Node) (string, error) {
	return "", u.refuse("reading the boot mode")
}

func (u unbuilt) SetBootMode(context.Context, node.Node, string) error {
	return u.refuse("setting the boot mode")
}

func (u unbuilt) System(context.Context, node.Node) (node.System, error) {
	return node.System{}, u.refuse("reading the system")
}

func (u unbuilt) Close() error { return nil }
