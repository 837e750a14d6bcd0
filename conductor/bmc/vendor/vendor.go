// Package vendor has the shared parts of vendor methods (vendor passthru): acts of one kind of hardware for which
// Ironic has no verb. A driver writes a table of them.
//
// It must not call a BMC: a driver carries its methods out.
package vendor

import "github.com/ferrite-metal/ferrite/conductor/node"

// Method is one vendor method. Check refuses arguments without asking the BMC. Do is the driver's own type for the act.
type Method[Do any] struct {
	node.VendorMethod
	Check func(args map[string]any) error
	Do    Do
}

// Methods is all of a driver's.
type Methods[Do any] []Method[Do]

// List is the methods as operators see them.
func (m Methods[Do]) List() []node.VendorMethod {
	var all []node.VendorMethod
	for _, method := range m {
		all = append(all, method.VendorMethod)
	}
	return all
}

// Find finds a method by name; a *node.Refusal in Ironic's words when there is
// none.
func (m Methods[Do]) Find(name string) (Method[Do], error) {
	for _, method := range m {
		if method.Name == name {
			return method, nil
		}
	}
	return Method[Do]{}, node.Refuse(node.Invalid, "No handler for method %s", name)
}

// Check refuses an unknown method, arguments that no BMC could take, and a node with settings that are not valid;
// invalid is the error about them.
func (m Methods[Do]) Check(name string, args map[string]any, invalid error) error {
	method, err := m.Find(name)
	if err != nil {
		return err
	}
	if invalid != nil {
		return node.Refuse(node.Invalid, "%v", invalid)
	}
	return method.Check(args)
}
