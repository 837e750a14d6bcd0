package core

import (
	"reflect"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// checkForm refuses keys with values that can never work, a malformed driver_info, and a disallowed boot mode. It skips
// unchanged ones, so that a node of an earlier release can still be edited.
func (e *Core) checkForm(old, n node.Node) error {
	if err := node.CheckKeys(old, n); err != nil {
		return err
	}
	if err := plan.CheckEnrolledMode(old, n, e.Settings); err != nil {
		return err
	}
	if e.CheckForm == nil || reflect.DeepEqual(old.DriverInfo, n.DriverInfo) {
		return nil
	}
	if err := e.CheckForm(n); err != nil {
		return node.Refuse(node.Invalid, "%v", err)
	}
	return nil
}
