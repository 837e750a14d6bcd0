package serve

import (
	"errors"

	"github.com/ferrite-metal/ferrite/conductor/outbound"
)

// calls are what the conductor dials because a node names it.
type calls struct {
	bmcs, registries *outbound.Policy
}

func (c *Config) outbound() (calls, error) {
	bmcs, err := outbound.New("bmc-allow", c.BMCAllow)
	registries, rerr := outbound.New("registry-allow", c.RegistryAllow)
	return calls{bmcs, registries}, errors.Join(err, rerr)
}

// checkOutbound refuses exceptions that are no networks.
func (c *Config) checkOutbound() error {
	_, err := c.outbound()
	return err
}
