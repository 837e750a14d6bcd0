package hardware

import (
	"context"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// VendorMethods lists the methods of a node's vendor interface; none if it is switched off.
func (e *Hardware) VendorMethods(ctx context.Context, ref string) ([]node.VendorMethod, error) {
	n, bmc, err := e.driver(ctx, ref)
	if err != nil {
		return nil, err
	}
	vendor, err := core.Extension[core.Vendor](n, bmc, "vendor", "vendor")
	if err != nil {
		return nil, nil // an absent interface has no methods, and that is no error
	}
	return vendor.VendorMethods(), nil
}

// CallVendor calls a vendor method by an HTTP method. An asynchronous method (async) has no result; its failure ends in
// last_error.
func (e *Hardware) CallVendor(ctx context.Context, ref, httpMethod, method string,
	args map[string]any) (result any, async bool, err error) {
	n, bmc, err := e.driver(ctx, ref)
	if err != nil {
		return nil, false, err
	}
	vendor, err := core.Extension[core.Vendor](n, bmc, "vendor", "vendor")
	var all []node.VendorMethod
	if err == nil {
		all = vendor.VendorMethods()
	}
	i := slices.IndexFunc(all, func(m node.VendorMethod) bool { return m.Name == method })
	if i < 0 {
		return nil, false, node.Refuse(node.Invalid, "No handler for method %s", method)
	}
	m := all[i]
	if !slices.Contains(m.HTTPMethods, httpMethod) {
		return nil, false, node.Refuse(node.Invalid, "The method %s does not support HTTP %s", method, httpMethod)
	}
	if !m.Shared {
		if _, err := e.Free(ctx, n.UUID); err != nil {
			return nil, false, err
		}
	}
	call, cancel := context.WithTimeout(ctx, e.Patience(n).Call)
	defer cancel()
	if err := vendor.CheckVendor(call, n, method, args); err != nil {
		return nil, false, core.BmcFault(err)
	}
	if m.Async && !m.Shared {
		return nil, true, e.chore(ctx, n.UUID, plan.VendorRequest{Method: method, Args: args})
	}
	result, err = vendor.CallVendor(call, n, method, args)
	return result, m.Async, core.BmcFault(err)
}
