package serve

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/neutron"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// neutronConfig is the Neutron that knows the machines' switches.
type neutronConfig struct {
	Networks []string `koanf:"neutron-networks"`
	URL      string   `koanf:"neutron-url"`
}

// openstackFlags are the settings of the cloud that the conductor is a part of.
func openstackFlags(f *pflag.FlagSet) {
	keystoneFlags(f)
	neutronFlags(f)
}

func neutronFlags(f *pflag.FlagSet) {
	f.StringSlice("neutron-networks", nil, "`networks` of OpenStack's Neutron for ramdisks, as "+
		"provisioning=NAME,cleaning=NAME; also rescuing and servicing (default: that of provisioning) and inspection "+
		"(default: none); nodes may then have network_interface neutron")
	f.String("neutron-url", "", "`URL` of a Neutron that asks for no token; without it, that of Keystone's catalogue, "+
		"asked as --keystone-user")
}

// networks are the networks of ramdisks by what they are for; nil for none.
func (c *neutronConfig) networks() (map[string]string, error) {
	if len(c.Networks) == 0 {
		return nil, nil
	}
	known, named := plan.RamdiskNetworks(), map[string]string{}
	for _, one := range c.Networks {
		purpose, name, ok := strings.Cut(one, "=")
		if !ok || name == "" || !slices.Contains(known, purpose) {
			return nil, fmt.Errorf("--neutron-networks %q: expected PURPOSE=NAME, with one of %s", one,
				strings.Join(known, ", "))
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

// inspects reports whether there is a network for inspections.
func (c *neutronConfig) inspects() bool {
	return slices.ContainsFunc(c.Networks, func(one string) bool { return strings.HasPrefix(one, "inspection=") })
}

// checkNeutron refuses settings by which no network could be changed.
func (c *Config) checkNeutron() error {
	networks, err := c.Neutron.networks()
	switch {
	case err != nil:
		return err
	case networks == nil && c.Neutron.URL != "":
		return errors.New("--neutron-url is of no use without --neutron-networks")
	case networks != nil && c.Neutron.URL == "" && !slices.Contains(c.Auth, "keystone"):
		return errors.New("--neutron-networks needs --auth keystone, whose service user asks Neutron, or --neutron-url")
	}
	_, err = c.neutron()
	return err
}

// attaching has Neutron change the networks of machines; nil without one. The settings were checked.
func (c *Config) attaching() engine.Networks {
	is, err := c.neutron()
	if is == nil || err != nil {
		return nil // no client in an interface would not be nil
	}
	return is
}

// neutron is the client of Neutron; nil without one.
func (c *Config) neutron() (*neutron.Client, error) {
	networks, err := c.Neutron.networks()
	if err != nil || networks == nil {
		return nil, err
	}
	if c.Neutron.URL != "" {
		service, err := neutron.At(c.Neutron.URL, http.DefaultTransport)
		if err != nil {
			return nil, fmt.Errorf("--neutron-url: %w", err)
		}
		return neutron.New(neutron.Config{Service: service, Networks: networks}), nil
	}
	keystone, err := c.Keystone.client()
	if err != nil {
		return nil, err
	}
	return neutron.New(neutron.Config{Networks: networks, Service: neutron.By(keystone.Service)}), nil
}
