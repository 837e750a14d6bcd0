package fake

import (
	"context"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// vendorMethods are those of Ironic's fake-hardware, each with the word that it
// calls right.
var vendorMethods = []struct {
	method node.VendorMethod
	word   string
}{
	{node.VendorMethod{Name: "second_method", HTTPMethods: []string{"POST"}, Async: true, Description: "Test if the value of bar is kazoo"}, "kazoo"},
	{node.VendorMethod{Name: "third_method_sync", HTTPMethods: []string{"POST"}, Description: "Test if the value of bar is meow"}, "meow"},
	{node.VendorMethod{Name: "fourth_method_shared_lock", HTTPMethods: []string{"POST"}, Async: true, Shared: true, Description: "Test if the value of bar is woof"}, "woof"},
}

// VendorMethods lists what CallVendor can do.
func (d *Driver) VendorMethods() []node.VendorMethod {
	var all []node.VendorMethod
	for _, v := range vendorMethods {
		all = append(all, v.method)
	}
	return all
}

// CheckVendor wants the argument bar.
func (d *Driver) CheckVendor(_ context.Context, _ node.Node, method string, args map[string]any) error {
	if !slices.ContainsFunc(d.VendorMethods(), func(m node.VendorMethod) bool { return m.Name == method }) {
		return node.Refuse(node.Invalid, "No handler for method %s", method)
	}
	switch args["bar"] {
	case nil, "", false, 0.0:
		return node.Refuse(node.Invalid, "Parameter 'bar' not passed to method '%s'.", method)
	}
	return nil
}

// CallVendor answers whether bar is the right word.
func (d *Driver) CallVendor(ctx context.Context, n node.Node, method string, args map[string]any) (any, error) {
	for _, v := range vendorMethods {
		if v.method.Name == method {
			err := d.call(ctx, "CallVendor", n, func(*machine) {})
			return args["bar"] == any(v.word), err
		}
	}
	return nil, node.Refuse(node.Invalid, "No handler for method %s", method)
}
