//go:build !noopenstack

package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/keystone"
	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/neutron"
	"github.com/ferrite-metal/ferrite/conductor/outbound/dial"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// neutronConfig is the Neutron that knows the machines' switches.
type neutronConfig struct {
	Networks       []string
	NodeNetworks   []string
	SecurityGroups []string
	URL            string
}

func (c *neutronConfig) settings(s *settings) {
	s.StringSliceVar(&c.Networks, "neutron-networks", nil, "`networks` of OpenStack's Neutron for ramdisks, each as "+
		"PURPOSE=NAME: provisioning and cleaning, and if they are others rescuing, servicing (default: as "+
		"provisioning) and inspection (default: none); nodes may then have network_interface neutron")
	s.StringSliceVar(&c.NodeNetworks, "neutron-node-networks", nil, "`networks` of OpenStack's Neutron, by name or UUID, that a node may "+
		"name for its ramdisk instead of those, as in driver_info/cleaning_network")
	s.StringSliceVar(&c.SecurityGroups, "neutron-security-groups", nil, "`groups` of OpenStack's Neutron for the ports of ramdisks, each as "+
		"PURPOSE=NAME with the purposes of --neutron-networks; several may have the same purpose (default: Neutron's own)")
	s.StringVar(&c.URL, "neutron-url", "", "`URL` of a Neutron that asks for no token; without it, from Keystone's catalogue, "+
		"asked as --keystone-user")
}

// networks maps the purposes of ramdisks to their networks; nil for none.
func (c *neutronConfig) networks() (map[string]string, error) {
	if len(c.Networks) == 0 {
		return nil, nil
	}
	named := map[string]string{}
	for _, one := range c.Networks {
		purpose, name, err := ofPurpose("networks", one)
		if err != nil {
			return nil, err
		}
		named[purpose] = name
	}
	if named["provisioning"] == "" || named["cleaning"] == "" {
		return nil, errors.New("--neutron-networks needs provisioning=NAME and cleaning=NAME: the ramdisk is in them")
	}
	for _, purpose := range []string{"rescuing", "servicing"} {
		if named[purpose] == "" {
			named[purpose] = named["provisioning"]
		}
	}
	return named, nil
}

// ofPurpose reads PURPOSE=NAME.
func ofPurpose(flag, one string) (purpose, name string, err error) {
	purpose, name, ok := strings.Cut(one, "=")
	if known := plan.RamdiskNetworks(); !ok || name == "" || !slices.Contains(known, purpose) {
		return "", "", fmt.Errorf("--neutron-%s %q: expected PURPOSE=NAME, with one of %s", flag, one,
			strings.Join(known, ", "))
	}
	return purpose, name, nil
}

// groups maps the purposes of ramdisks to their security groups. An activity in the network for provisioning has its
// groups.
func (c *neutronConfig) groups() (map[string][]string, error) {
	named := map[string][]string{}
	for _, one := range c.SecurityGroups {
		purpose, name, err := ofPurpose("security-groups", one)
		if err != nil {
			return nil, err
		}
		named[purpose] = append(named[purpose], name)
	}
	for _, purpose := range []string{"rescuing", "servicing"} {
		own := func(one string) bool { return strings.HasPrefix(one, purpose+"=") }
		if named[purpose] == nil && !slices.ContainsFunc(c.Networks, own) {
			named[purpose] = named["provisioning"]
		}
	}
	return named, nil
}

// inspects reports whether there is a network for inspections.
func (c *neutronConfig) inspects() bool {
	return slices.ContainsFunc(c.Networks, func(one string) bool { return strings.HasPrefix(one, "inspection=") })
}

// checkNeutron refuses settings by which no network could be changed.
func (o *openstack) checkNeutron(c *Config) error {
	networks, err := o.Neutron.networks()
	switch {
	case err != nil:
		return err
	case networks == nil && (o.Neutron.URL != "" || len(o.Neutron.NodeNetworks)+len(o.Neutron.SecurityGroups) > 0):
		return errors.New("--neutron-url, --neutron-node-networks and --neutron-security-groups are of no use without " +
			"--neutron-networks")
	case networks != nil && o.Neutron.URL == "" && !c.inCloud():
		return errors.New("--neutron-networks needs --auth keystone, whose service user asks Neutron, or --neutron-url")
	}
	if networks == nil && c.DefaultInterfaces["network"] == "neutron" {
		return errors.New("--default-network-interface neutron needs --neutron-networks")
	}
	_, err = o.networks(nil)
	return err
}

// networks changes the networks of machines by Neutron; nil without one. Nothing is sent unless check allows it at that
// moment; nil always does.
func (o *openstack) networks(check func() error) (engine.Networks, error) {
	networks, err := o.Neutron.networks()
	if err != nil || networks == nil {
		return nil, err
	}
	groups, err := o.Neutron.groups()
	if err != nil {
		return nil, err
	}
	conf := neutron.Config{Networks: networks, NodeNetworks: o.Neutron.NodeNetworks, SecurityGroups: groups}
	if o.Neutron.URL == "" {
		cloud, err := o.Keystone.client(check)
		if err != nil {
			return nil, err
		}
		conf.Service = neutron.By(cloud.Service)
		return neutron.New(conf), nil
	}
	transport, _ := http.DefaultTransport.(*http.Transport)
	transport = transport.Clone()
	transport.DialContext = checkedDial(check)
	if conf.Service, err = neutron.At(o.Neutron.URL, keystone.Bounded{RoundTripper: transport}); err != nil {
		return nil, fmt.Errorf("--neutron-url: %w", err)
	}
	return neutron.New(conf), nil
}

// dialTime bounds a connection to a service of OpenStack.
const dialTime = 30 * time.Second

// checkedDial makes connections over which nothing is sent unless check allows it; nil always does.
func checkedDial(check func() error) func(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{Timeout: dialTime}
	if check == nil {
		return d.DialContext
	}
	return dial.Checked(d, check).DialContext
}
