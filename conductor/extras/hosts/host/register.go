package host

import (
	"fmt"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/translate"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/placeholder"
)

// ensureRegistered makes the node as the document says, in every state that needs one. So a conductor that has lost its
// nodes gets them back.
func (d *decision) ensureRegistered() (registered bool) {
	switch d.state().Canonical() {
	case hostapi.StateNone, hostapi.StateUnmanaged, hostapi.StateMatchProfile, hostapi.StateDeleting:
		return true
	default:
	}
	l, err := d.source().Credentials()
	switch {
	case err != nil && d.beingDeleted(): // the node, if there is one, has credentials
		return true
	case err != nil:
		d.failUntilChanged(hostapi.RegistrationError, "%v", err)
		return false
	// the document's settings would reach another host's machine
	case (len(d.facts.Conflicts) > 0 || d.facts.Foreign != "") && d.beingDeleted():
		return true
	case d.facts.Away != "" && d.facts.Node == nil && d.beingDeleted(): // no conductor can make one
		return true
	}
	if d.state() != hostapi.StateRegistering &&
		(d.h.Status.ErrorType == hostapi.RegistrationError || !d.credentialsAccepted()) {
		d.recordStateBegin(hostapi.StateRegistering)
	}
	a, why := d.accessToBMC()
	if why != "" {
		d.failUntilChanged(hostapi.RegistrationError, "%s", why)
		return false
	}
	preboot, err := d.prebootNetwork()
	if err != nil {
		d.failUntilChanged(hostapi.RegistrationError, "%v", err)
		return false
	}
	spec := translate.NodeSpec{Access: a, Login: l, Preboot: preboot}
	if d.facts.Node == nil {
		d.recordTriedCredentials()
		n := d.source().NewNode(spec)
		n.ConductorGroup = NodeGroup(d.h, nil)
		d.do(CreateNode{n}, hostapi.RegistrationError)
		return false
	}
	return d.ensureNodeMatches(spec) && d.ensureVerified() && d.completeRegistration()
}

// accessToBMC is how the BMC is reached, or why that cannot be.
func (d *decision) accessToBMC() (a translate.Access, why string) {
	a, err := translate.AccessOf(d.h.Spec.BMC)
	switch {
	case err != nil:
		return a, err.Error()
	case d.facts.Foreign != "":
		return a, d.facts.Foreign
	case len(d.facts.Conflicts) > 0:
		r := d.facts.Conflicts[0]
		return a, r.Claim + " is that of host " + r.Host + " already: correct one of the two"
	case d.facts.NodeWithBMC != "":
		return a, fmt.Sprintf("the BMC address %s is that of node %s already: call that node %s to have it taken over, or "+
			"correct one of the two",
			a.Identity, d.facts.NodeWithBMC, hostapi.NodeName(d.h.Namespace, d.h.Name))
	case d.h.Spec.InspectionMode == hostapi.InspectionFast && a.Fast == "":
		return a, "spec.inspectionMode fast needs a BMC that reports the machine's hardware, which " + a.Scheme +
			" does not: choose agent"
	case translate.BootMode(d.h.Spec) == hostapi.UEFISecureBoot && !a.SecureBoot:
		return a, "spec.bootMode UEFISecureBoot cannot be set through " + a.Scheme + ": choose UEFI or legacy"
	case mac(d.h.Spec.BootMACAddress) == "" && a.NeedsMAC:
		return a, d.noBootMAC() + ": a host with a BMC address of " + a.Scheme + " needs it"
	case mac(d.h.Spec.BootMACAddress) == "" && d.inspectionDisabled():
		return a, d.noBootMAC() + ": a host that is not inspected needs it"
	}
	if other, taken := d.facts.TakenAddresses[mac(d.h.Spec.BootMACAddress)]; taken {
		return a, "the MAC address " + d.h.Spec.BootMACAddress + " of spec.bootMACAddress is that of node " +
			other + " already"
	}
	return a, ""
}

func (d *decision) noBootMAC() string {
	if said := d.h.Spec.BootMACAddress; said != "" {
		return "spec.bootMACAddress " + said + " is no address of a network interface"
	}
	return "spec.bootMACAddress is missing"
}

// prebootNetwork is the network data of the ramdisk. A missing secret does not
// prevent a deletion.
func (d *decision) prebootNetwork() (map[string]any, error) {
	text, err := d.source().PrebootNetworkText()
	if err != nil && d.beingDeleted() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return translate.ParsePrebootNetwork(text)
}

// ensureNodeMatches brings the node to the document, where its state allows.
func (d *decision) ensureNodeMatches(w translate.NodeSpec) (aligned bool) {
	n := d.facts.Node
	if class := n.ProvisionState.Class(); class != node.Stable && class != node.Failed {
		return true
	}
	if a, differs := d.edit(func(n *node.Node) {
		d.source().Configure(n, w)
		d.setGroup(n)
	}); differs {
		d.doKeepingError(a, hostapi.RegistrationError)
		return false
	}
	if p, missing := d.missingPort(); missing {
		d.doKeepingError(CreatePort{p}, hostapi.RegistrationError)
		return false
	}
	return true
}

// Addresses are the MAC addresses of a host's machine, from its document and an earlier inspection, in lower case.
func Addresses(h hostapi.Host, hardware *hostapi.Hardware) (macs []string) {
	said := []string{h.Spec.BootMACAddress}
	if hardware != nil {
		for _, nic := range hardware.NIC {
			said = append(said, nic.MAC)
		}
	}
	for _, s := range said {
		if m := mac(s); m != "" && !slices.Contains(macs, m) {
			macs = append(macs, m)
		}
	}
	return macs
}

// mac is an address in lower case; "" for a placeholder, which documents have where there is no address.
func mac(s string) string { return placeholder.MAC(s) }

// matchHardwareProfile settles the profile, and with it the hints.
func (d *decision) matchHardwareProfile() error {
	name, err := d.source().HardwareProfile()
	if err != nil {
		return err
	}
	d.h.Status.HardwareProfile = name
	d.h.Status.Provisioning.RootDeviceHints = d.source().HintsWanted()
	return nil
}

// missingPort is a port the node ought to have. An address of an inspection that
// is another node's is left to that.
func (d *decision) missingPort() (p node.Port, missing bool) {
	boot := mac(d.h.Spec.BootMACAddress)
	for _, address := range Addresses(d.h, d.facts.Hardware) {
		known := slices.ContainsFunc(d.facts.Ports, func(p node.Port) bool { return p.Address == address })
		if _, taken := d.facts.TakenAddresses[address]; !known && !taken {
			return node.Port{NodeUUID: d.facts.Node.UUID, Address: address, PXEEnabled: address == boot ||
				d.hasPXECard(address)}, true
		}
	}
	return p, false
}

func (d *decision) hasPXECard(address string) bool {
	return d.facts.Hardware != nil &&
		slices.ContainsFunc(d.facts.Hardware.NIC, func(n hostapi.NIC) bool { return mac(n.MAC) == address && n.PXE })
}

// ensureVerified reports whether the BMC accepted these credentials, or the earlier ones.
func (d *decision) ensureVerified() bool {
	n, fresh := d.facts.Node, !sameCredentials(d.h.Status.TriedCredentials, d.credentialsNow())
	d.recordTriedCredentials()
	switch n.ProvisionState {
	case node.Enroll:
		if n.LastError != "" && !fresh && !d.failOrRetry(hostapi.RegistrationError, n.LastError) {
			return false
		}
		d.do(verb(node.Manage), hostapi.RegistrationError)
		return false
	case node.Verifying:
		d.waitForNode()
		return false
	default:
		return true
	}
}

// completeRegistration records a complete registration.
func (d *decision) completeRegistration() bool {
	p := &d.h.Status.Provisioning
	if p.ID != d.facts.Node.UUID {
		d.clearAttachedImage()
		if d.state() == hostapi.StatePreparing {
			d.clearSettings()
		}
	}
	p.ID = d.facts.Node.UUID
	if err := d.matchHardwareProfile(); err != nil {
		d.failUntilChanged(hostapi.RegistrationError, "%v", err)
		return false
	}
	d.h.Status.GoodCredentials = d.credentialsNow()
	if d.h.Status.ErrorType == hostapi.RegistrationError {
		d.succeeded()
	}
	if d.state() != hostapi.StateRegistering {
		d.recordStateEnd(hostapi.StateRegistering)
	}
	return true
}

func (d *decision) credentialsAccepted() bool {
	return sameCredentials(d.h.Status.GoodCredentials, d.credentialsNow())
}

// recordTriedCredentials records the credentials that are tried now.
func (d *decision) recordTriedCredentials() {
	if now := d.credentialsNow(); !sameCredentials(d.h.Status.TriedCredentials, now) {
		d.h.Status.TriedCredentials = now
	}
}

// Claims are the properties that only one host may have: its BMC address with the machine, and its boot MAC. They are
// worded for people.
func Claims(h hostapi.Host) (all []string) {
	if a, err := translate.AccessOf(h.Spec.BMC); err == nil {
		all = append(all, "the BMC address "+a.Identity)
	}
	if m := mac(h.Spec.BootMACAddress); m != "" {
		all = append(all, "the MAC address "+m)
	}
	return all
}
