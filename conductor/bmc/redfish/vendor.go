package redfish

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// vendorMethod is something the driver can do for which Ironic has no word of
// its own. check refuses arguments without asking the BMC.
type vendorMethod struct {
	node.VendorMethod
	check func(args map[string]any) error
	do    func(s *session, args map[string]any) (any, error)
}

// vendorMethods has Ironic's names and descriptions.
func vendorMethods() []vendorMethod {
	return []vendorMethod{
		{node.VendorMethod{Name: "create_subscription", HTTPMethods: []string{"POST"}, Description: "Creates a subscription on a node. Required argument: a dictionary of {'Destination': 'destination_url'}"}, checkSubscription, createSubscription},
		{node.VendorMethod{Name: "delete_subscription", HTTPMethods: []string{"DELETE"}, Description: "Delete a subscription on a node. Required argument: a dictionary of {'id': 'subscription_bmc_id'}"}, checkSubscriptionID, deleteSubscription},
		{node.VendorMethod{Name: "get_all_subscriptions", HTTPMethods: []string{"GET"}, Description: "Returns all subscriptions on the node."}, noCheck, allSubscriptions},
		{node.VendorMethod{Name: "get_subscription", HTTPMethods: []string{"GET"}, Description: "Get a subscription on the node. Required argument: a dictionary of {'id': 'subscription_bmc_id'}"}, checkSubscriptionID, getSubscription},
		{node.VendorMethod{Name: "eject_vmedia", HTTPMethods: []string{"POST"}, Async: true, Description: "Eject a virtual media device. If no device is provided then all attached devices will be ejected. Optional arguments: 'boot_device' - the boot device to eject, either 'cd', 'dvd', 'usb', or 'floppy'"}, checkEject, ejectVendorMedia},
	}
}

func noCheck(map[string]any) error { return nil }

// VendorMethods lists what CallVendor can do.
func (d *Driver) VendorMethods() []node.VendorMethod {
	var all []node.VendorMethod
	for _, m := range vendorMethods() {
		all = append(all, m.VendorMethod)
	}
	return all
}

func vendorMethodOf(name string) (vendorMethod, error) {
	for _, m := range vendorMethods() {
		if m.Name == name {
			return m, nil
		}
	}
	return vendorMethod{}, node.Refuse(node.Invalid, "No handler for method %s", name)
}

// CheckVendor refuses arguments that no BMC could take.
func (d *Driver) CheckVendor(_ context.Context, n node.Node, method string, args map[string]any) error {
	m, err := vendorMethodOf(method)
	if err != nil {
		return err
	}
	if err := d.Validate(n); err != nil {
		return node.Refuse(node.Invalid, "%v", err)
	}
	return m.check(args)
}

// CallVendor does a method and answers what the BMC says.
func (d *Driver) CallVendor(ctx context.Context, n node.Node, method string, args map[string]any) (result any, err error) {
	m, err := vendorMethodOf(method)
	if err != nil {
		return nil, err
	}
	err = d.call(ctx, n, "do the vendor method "+method, func(s *session) error {
		result, err = m.do(s, args)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}
