package fake

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/bmc/vendor"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// vendorMethods are the same as in Ironic's fake-hardware. Each compares bar with a word.
func vendorMethods() vendor.Methods[string] {
	return vendor.Methods[string]{
		{VendorMethod: node.VendorMethod{Name: "second_method", HTTPMethods: []string{"POST"}, Async: true,
			Description: "Test if the value of bar is kazoo"}, Check: needsBar("second_method"), Do: "kazoo"},
		{VendorMethod: node.VendorMethod{Name: "third_method_sync", HTTPMethods: []string{"POST"},
			Description: "Test if the value of bar is meow"}, Check: needsBar("third_method_sync"), Do: "meow"},
		{VendorMethod: node.VendorMethod{Name: "fourth_method_shared_lock", HTTPMethods: []string{"POST"}, Async: true,
			Shared: true, Description: "Test if the value of bar is woof"},
			Check: needsBar("fourth_method_shared_lock"), Do: "woof"},
	}
}

func needsBar(method string) func(args map[string]any) error {
	return func(args map[string]any) error {
		switch args["bar"] {
		case nil, "", false, 0.0:
			return node.Refuse(node.Invalid, "Parameter 'bar' not passed to method '%s'.", method)
		}
		return nil
	}
}

// VendorMethods lists the methods of CallVendor.
func (d *Driver) VendorMethods() []node.VendorMethod { return vendorMethods().List() }

// CheckVendor wants the argument bar.
func (d *Driver) CheckVendor(_ context.Context, _ node.Node, method string, args map[string]any) error {
	return vendorMethods().Check(method, args, nil)
}

// CallVendor answers whether bar is the right word.
func (d *Driver) CallVendor(ctx context.Context, n node.Node, method string, args map[string]any) (any, error) {
	m, err := vendorMethods().Find(method)
	if err != nil {
		return nil, err
	}
	err = d.call(ctx, "CallVendor", n, func(*machine) {})
	return args["bar"] == any(m.Do), err
}
