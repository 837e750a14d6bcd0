package serve

import (
	"fmt"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/outbound"
)

// checkProxies takes --trusted-proxies. It refuses networks that are too large to contain only proxies: each host in
// them may speak for any client.
func (c *Config) checkProxies() (err error) {
	if c.proxies, err = outbound.Networks("trusted-proxies", c.TrustedProxies); err != nil {
		return err
	}
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
