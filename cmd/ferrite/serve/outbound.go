package serve

import (
	"errors"
	"log/slog"

	"github.com/ferrite-metal/ferrite/conductor/agents"
	"github.com/ferrite-metal/ferrite/conductor/bmc"
	"github.com/ferrite-metal/ferrite/conductor/bmc/driverinfo"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound"
	"github.com/ferrite-metal/ferrite/conductor/outbound/cacert"
	"github.com/ferrite-metal/ferrite/conductor/outbound/dial"
)

// calls are the policies for the connections that a node or a ramdisk makes the conductor open.
type calls struct {
	bmcs, registries, agents, rules *outbound.Policy
	toBMCs                          dial.Dialer
	toAgents                        agents.ClientOptions
}

func (c *Config) outbound() (calls, error) {
	bmcs, err := outbound.New("bmc-allow", c.BMCAllow)
	registries, rerr := outbound.New("registry-allow", c.RegistryAllow)
	agents, aerr := outbound.New("agent-allow", c.AgentAllow)
	rules, uerr := outbound.New("rules-allow", c.RulesAllow)
	if err = errors.Join(err, rerr, aerr, uerr); err == nil {
		err = registries.Only("image-allow", c.ImageAllow)
	}
	return calls{bmcs: bmcs, registries: registries, agents: agents, rules: rules}, err
}

// checkOutbound refuses exceptions that are no networks.
func (c *Config) checkOutbound() error {
	_, err := c.outbound()
	return err
}

// dialling returns the addresses that the conductor may dial, and the options for calls to agents. check refuses to
// send anything to BMCs and agents; it may be nil.
func (c *Config) dialling(check func() error, log *slog.Logger) (calls, error) {
	dialled, err := c.outbound()
	if err != nil {
		return calls{}, err
	}
	roots, err := c.agentRoots()
	if !c.AgentRequireTLS {
		log.Warn("agents may be called by http, since --agent-require-tls is false: their tokens, config drives and " +
			"all other data for them travel in clear")
	}
	var toAgents dial.Dialer = dialled.agents.Dialer()
	if dialled.toBMCs = dialled.bmcs.Dialer(); check != nil {
		dialled.toBMCs, toAgents = dial.Checked(dialled.toBMCs, check), dial.Checked(toAgents, check)
	}
	policy, terr := c.AgentsTLS.policy()
	dialled.toAgents = agents.ClientOptions{
		TLS:    policy,
		Dialer: toAgents, CAs: cacert.Folder(c.CAFolder), Roots: roots, PlainHTTP: !c.AgentRequireTLS,
		VerifyCA: func(n node.Node) (string, error) { return driverinfo.Authorities(n, "agent_verify_ca") },
	}
	return dialled, errors.Join(err, terr)
}

// bmcOptions are the options of the drivers of BMCs that the settings decide.
func (c *Config) bmcOptions(log *slog.Logger) (bmc.Options, error) {
	policy, err := c.BMCTLS.policy()
	return bmc.Options{Log: log, CAs: cacert.Folder(c.CAFolder), Patience: c.BMC, TLS: policy, SendRaw: c.IPMISendRaw,
		VerifyClock: c.VerifyClock}, err
}
