package network

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/ferrite-metal/ferrite/proto/netconfig"
)

// Do carries out an operation of a plan.
func (k Linux) Do(o netconfig.Operation, on, other Link) error {
	name := on.Name
	if name == "" {
		name = o.Link.Name
	}
	if err := k.do(o, on, other); err != nil {
		return fmt.Errorf("%s (%s): %w", o, name, err)
	}
	return nil
}

func (Linux) do(o netconfig.Operation, on, other Link) error {
	switch o.Action {
	case netconfig.Create:
		return create(o.Link, other)
	case netconfig.SetMTU:
		return netlink.LinkSetMTU(handle(on), o.Link.MTU)
	case netconfig.Join:
		// The kernel takes no card into a bond that is on.
		if err := netlink.LinkSetDown(handle(on)); err != nil {
			return err
		}
		return netlink.LinkSetMasterByIndex(handle(on), other.Index)
	case netconfig.SwitchOn:
		return netlink.LinkSetUp(handle(on))
	case netconfig.SetAddress:
		return netlink.AddrReplace(handle(on), address(Config{Address: o.Address}))
	case netconfig.SetRoute:
		return netlink.RouteReplace(route(on, Route{To: o.Route.To, Gateway: o.Route.Gateway, Metric: o.Route.Metric}))
	}
	return fmt.Errorf("operation %q is unknown", o.Action)
}

// create makes a bond or a VLAN.
func create(l netconfig.Link, parent Link) error {
	attributes := netlink.NewLinkAttrs()
	attributes.Name, attributes.HardwareAddr = l.Name, l.MAC
	var link netlink.Link
	module := "bonding"
	if l.Kind == netconfig.VLAN {
		attributes.ParentIndex, module = parent.Index, "8021q"
		link = &netlink.Vlan{LinkAttrs: attributes, VlanId: l.Tag, VlanProtocol: netlink.VLAN_PROTOCOL_8021Q}
	} else {
		link = bond(attributes, l.Bonding)
	}
	err := netlink.LinkAdd(link)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return fmt.Errorf("%w: the kernel has no module %s; build the ramdisk with it", err, module)
	}
	return err
}

func bond(attributes netlink.LinkAttrs, b netconfig.Bonding) *netlink.Bond {
	out := netlink.NewLinkBond(attributes)
	out.Mode, out.Miimon = netlink.StringToBondMode(b.Mode), b.MIIMonitor
	if b.HashPolicy != "" {
		out.XmitHashPolicy = netlink.StringToBondXmitHashPolicy(b.HashPolicy)
	}
	if b.LACPRate != "" {
		out.LacpRate = netlink.StringToBondLacpRate(b.LACPRate)
	}
	return out
}
