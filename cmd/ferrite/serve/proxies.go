package serve

import (
	"fmt"
	"slices"
)

// checkProxies refuses networks that are too large to contain only proxies: each host in
// them may speak for any client.
func (c *Config) checkProxies() error {
	for _, p := range c.proxies {
		if least := map[bool]int{true: 8, false: 32}[p.Addr().Is4()]; p.Bits() < least {
			return fmt.Errorf("--trusted-proxies %s: every host of it could claim to be any client; name the addresses of the "+
				"proxies, or a network of /%d or smaller", p, least)
		}
	}
	if len(c.proxies) > 0 && slices.Contains(c.Auth, "none") && !c.AllowAnybody {
		return fmt.Errorf("--trusted-proxies with --auth none: whoever reaches the proxy could command the machines; have " +
			"operators say who they are, as --auth basic does, or set --allow-anybody on a network without other users")
	}
	return nil
}
