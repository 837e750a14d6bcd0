package serve

import (
	"crypto/x509"
	"fmt"
	"os"
)

// agentRoots returns this host's authorities and the authorities of --agent-ca; nil without that flag.
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
