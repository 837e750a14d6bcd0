package serve

import (
	"errors"

	"github.com/ferrite-metal/ferrite/conductor/dial"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/outbound"
)

// calls are what the conductor dials because a node or a ramdisk names it.
type calls struct {
	bmcs, registries, agents *outbound.Policy
	toBMCs                   dial.Dialer
	networks                 engine.Networks // of machines; nil without Neutron
}

func (c *Config) outbound() (calls, error) {
	bmcs, err := outbound.New("bmc-allow", c.BMCAllow)
	registries, rerr := outbound.New("registry-allow", c.RegistryAllow)
	agents, aerr := outbound.New("agent-allow", c.AgentAllow)
	return calls{bmcs: bmcs, registries: registries, agents: agents}, errors.Join(err, rerr, aerr)
}

// checkOutbound refuses exceptions that are no networks.
func (c *Config) checkOutbound() error {
	_, err := c.outbound()
	return err
}
