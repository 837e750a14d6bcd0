package redfish

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/bmc/vendor"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// vendorMethods has Ironic's names and descriptions.
func vendorMethods() vendor.Methods[func(s *session, args map[string]any) (any, error)] {
	return vendor.Methods[func(s *session, args map[string]any) (any, error)]{
		{VendorMethod: node.VendorMethod{Name: "create_subscription", HTTPMethods: []string{"POST"},
			Description: "Creates a subscription on a node. Required argument: a dictionary of {'Destination': " +
				"'destination_url'}"}, Check: checkSubscription, Do: createSubscription},
		{VendorMethod: node.VendorMethod{Name: "delete_subscription", HTTPMethods: []string{"DELETE"},
			Description: "Delete a subscription on a node. Required argument: a dictionary of {'id': 'subscription_bmc_id'}"},
			Check: checkSubscriptionID, Do: deleteSubscription},
		{VendorMethod: node.VendorMethod{Name: "get_all_subscriptions", HTTPMethods: []string{"GET"},
			Description: "Returns all subscriptions on the node."}, Check: noCheck, Do: allSubscriptions},
		{VendorMethod: node.VendorMethod{Name: "get_subscription", HTTPMethods: []string{"GET"},
			Description: "Get a subscription on the node. Required argument: a dictionary of {'id': 'subscription_bmc_id'}"},
			Check: checkSubscriptionID, Do: getSubscription},
		{VendorMethod: node.VendorMethod{Name: "eject_vmedia", HTTPMethods: []string{"POST"}, Async: true,
			Description: "Eject a virtual media device. If no device is provided then all attached devices will be ejected. " +
				"Optional arguments: 'boot_device' - the boot device to eject, either 'cd', 'dvd', 'usb', or 'floppy'"},
			Check: checkEject, Do: ejectVendorMedia},
	}
}

func noCheck(map[string]any) error { return nil }

// VendorMethods lists the methods of CallVendor.
func (d *Driver) VendorMethods() []node.VendorMethod { return vendorMethods().List() }

// CheckVendor refuses calls that no BMC could carry out.
func (d *Driver) CheckVendor(_ context.Context, n node.Node, method string, args map[string]any) error {
	return vendorMethods().Check(method, args, d.Validate(n))
}

// CallVendor does a method and returns the BMC's answer.
func (d *Driver) CallVendor(ctx context.Context, n node.Node, method string,
	args map[string]any) (result any, err error) {
	m, err := vendorMethods().Find(method)
	if err != nil {
		return nil, err
	}
	err = d.call(ctx, n, "do the vendor method "+method, func(s *session) error {
		result, err = m.Do(s, args)
		return err
	})
	if err != nil {
		return nil, err
	}
	return clipValue(result), nil
}
