//go:build noopenstack

package serve

import "errors"

// noOpenStack refuses settings of the core that name OpenStack.
type noOpenStack struct{ plain }

func newOpenStack() extra { return &noOpenStack{} }

func (noOpenStack) check(c *Config) error {
	if c.inCloud() || c.DefaultInterfaces["network"] == "neutron" {
		return errors.New("--auth keystone, --default-network-interface neutron: this program was built without OpenStack: " +
			"take the full one, without the build tag noopenstack")
	}
	return nil
}
