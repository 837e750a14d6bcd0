package core

import (
	"reflect"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// checkForm refuses a driver_info that cannot be right. One that is left as it
// was is not looked at: a node of an earlier release can be edited all the same.
func (e *Core) checkForm(old, n node.Node) error {
	if e.CheckForm == nil || reflect.DeepEqual(old.DriverInfo, n.DriverInfo) {
		return nil
	}
	if err := e.CheckForm(n); err != nil {
		return node.Refuse(node.Invalid, "%v", err)
	}
	return nil
}
