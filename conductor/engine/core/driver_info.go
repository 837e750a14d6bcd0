package core

import (
	"reflect"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// checkForm refuses a malformed driver_info. It skips an unchanged one, so that a node of an earlier release can still
// be edited.
func (e *Core) checkForm(old, n node.Node) error {
	if e.CheckForm == nil || reflect.DeepEqual(old.DriverInfo, n.DriverInfo) {
		return nil
	}
	if err := e.CheckForm(n); err != nil {
		return node.Refuse(node.Invalid, "%v", err)
	}
	return nil
}
