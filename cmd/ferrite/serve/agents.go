package serve

import (
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/ferrite-metal/ferrite/conductor/agents"
	"github.com/ferrite-metal/ferrite/conductor/bmc/driverinfo"
	"github.com/ferrite-metal/ferrite/conductor/cacert"
	"github.com/ferrite-metal/ferrite/conductor/dial"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// agentRoots are the authorities of this host and those of --agent-ca; nil without
// that flag.
func (c *Config) agentRoots() (*x509.CertPool, error) {
	if c.AgentCA == "" {
		return nil, nil
	}
	text, err := os.ReadFile(c.AgentCA)
	if err != nil {
		return nil, fmt.Errorf("--agent-ca: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("--agent-ca: read this host's authorities: %w", err)
	}
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--agent-ca %q holds no PEM certificate (-----BEGIN CERTIFICATE-----): name a file of those "+
			"who sign agents' certificates", c.AgentCA)
	}
	return roots, nil
}

// checkAgentCA refuses a file of authorities that has none.
func (c *Config) checkAgentCA() error {
	_, err := c.agentRoots()
	return err
}

// dialling is what the conductor may dial, and how agents are called. check refuses to send anything to BMCs and
// agents; it may be nil.
func (c *Config) dialling(check func() error, log *slog.Logger) (calls, agents.ClientOptions, error) {
	dialled, err := c.outbound()
	if err != nil {
		return calls{}, agents.ClientOptions{}, err
	}
	networks, nerr := c.networks(check)
	dialled.networks = networks
	roots, err := c.agentRoots()
	if !c.AgentTLS {
		log.Warn("agents may be called by http, since --agent-require-tls is false: their tokens, config drives and " +
			"whatever else they are sent travel in clear")
	}
	var toAgents dial.Dialer = dialled.agents.Dialer()
	if dialled.toBMCs = dialled.bmcs.Dialer(); check != nil {
		dialled.toBMCs, toAgents = dial.Checked(dialled.toBMCs, check), dial.Checked(toAgents, check)
	}
	return dialled, agents.ClientOptions{
		Dialer: toAgents, CAs: cacert.Folder(c.CAFolder), Roots: roots, PlainHTTP: !c.AgentTLS,
		VerifyCA: func(n node.Node) (string, error) { return driverinfo.Authorities(n, "agent_verify_ca") },
	}, errors.Join(err, nerr)
}
