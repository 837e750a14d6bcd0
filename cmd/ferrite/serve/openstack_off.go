//go:build noopenstack

package serve

import (
	"errors"

	"github.com/ferrite-metal/ferrite/conductor/api"
)

// noOpenStack refuses settings of the core that name OpenStack.
type noOpenStack struct{ plain }

func newOpenStack() extra { return &noOpenStack{} }

func (noOpenStack) check(c *Config) error {
	if c.inCloud() || c.DefaultInterfaces["network"] == "neutron" {
		return errors.New("--auth keystone, --default-network-interface neutron: " + api.NotBuilt("OpenStack", "noopenstack"))
	}
	return nil
}
