package serve

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
)

// checkAgentAPI refuses an address for agents that is the API's, and a trust in agents that has no effect.
func (c *Config) checkAgentAPI() error {
	switch {
	case c.AgentAPI != "" && c.AgentAPI == c.APIAddress && !strings.HasSuffix(c.AgentAPI, ":0"):
		return fmt.Errorf("--agent-api-address %s is --api-address, too: leave it out to serve agents there", c.AgentAPI)
	case c.AgentAPI != "" && c.AgentAPI == c.Metrics && !strings.HasSuffix(c.AgentAPI, ":0"):
		return fmt.Errorf("--agent-api-address %s is --metrics-address, too: choose another port", c.AgentAPI)
	case c.advertisesAPI():
		return fmt.Errorf("--advertise-url %s leads ramdisks to --api-address, which refuses agents with "+
			"--agent-api-address %s: leave it out, or name that port", c.AdvertiseURL, c.AgentAPI)
	case c.LookupAtRest && c.Boot:
		return errors.New("--lookup-at-rest any is for machines that another server boots, but with --boot this conductor " +
			"gives each boot its one-time token: leave it out")
	case c.LookupAtRest && !c.FastTrack:
		return errors.New("--lookup-at-rest any has no effect with --fast-track=false: no agent at rest is kept")
	}
	return nil
}

// advertisesAPI reports whether --advertise-url names the address of the API, where agents have another.
func (c *Config) advertisesAPI() bool {
	u, err := url.Parse(c.AdvertiseURL)
	main, mainPort, err2 := net.SplitHostPort(c.APIAddress)
	own, ownPort, err3 := net.SplitHostPort(c.AgentAPI)
	return err == nil && err2 == nil && err3 == nil && u.Port() == mainPort && mainPort != ownPort &&
		(u.Hostname() == main || u.Hostname() == own)
}

// listenAgents opens the address of the agents' endpoints; nil without --agent-api-address.
func (c Config) listenAgents(log *slog.Logger) (net.Listener, error) {
	if c.AgentAPI == "" {
		return nil, nil
	}
	l, err := connlimit.Listen(c.AgentAPI, maxConnections, maxEach, c.proxies, log)
	if err != nil {
		return nil, fmt.Errorf("--agent-api-address: %w", err)
	}
	return l, nil
}

// agentsAt is the address at which agents call: their own, or the API's.
func agentsAt(main, agents net.Listener) net.Addr {
	if agents == nil {
		return main.Addr()
	}
	return agents.Addr()
}

// ramdiskURL is the URL by which ramdisks call this conductor: --advertise-url, or else the address at which it listens
// for agents, with --boot-address in place of a host that is not one.
func (c *Config) ramdiskURL(at net.Addr, boot netip.Addr) (string, error) {
	if c.AdvertiseURL != "" {
		return c.AdvertiseURL, nil
	}
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return "", err
	}
	if ip, err := netip.ParseAddr(host); c.AgentAPI == "" || err != nil || ip.IsUnspecified() {
		host = boot.String()
	}
	return c.scheme() + net.JoinHostPort(host, port), nil
}

// apart has the API's address refuse agents that have an address of their own.
func (c *Config) apart(h http.Handler) http.Handler {
	if c.AgentAPI == "" {
		return h
	}
	return api.WithoutAgents(h)
}
