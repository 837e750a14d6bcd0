package network

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxServers is how many name servers resolvers look at.
const maxServers = 3

// resolvConf is the text of resolv.conf for these configurations: the first
// three servers, each once, and the domains.
func resolvConf(configs []Config) string {
	var out strings.Builder
	var domains, servers []string
	for _, c := range configs {
		if c.Domain != "" && !slices.Contains(domains, c.Domain) {
			domains = append(domains, c.Domain)
		}
		for _, d := range c.DNS {
			if s := d.String(); !slices.Contains(servers, s) && len(servers) < maxServers {
				servers = append(servers, s)
			}
		}
	}
	if len(domains) > 0 {
		fmt.Fprintf(&out, "search %s\n", strings.Join(domains, " "))
	}
	for _, s := range servers {
		fmt.Fprintf(&out, "nameserver %s\n", s)
	}
	return out.String()
}

// WriteResolvConf writes the file in one piece: it is read at any time.
func WriteResolvConf(path string, configs []Config) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("name servers: %w", err)
	}
	part := path + ".part"
	if err := os.WriteFile(part, []byte(resolvConf(configs)), 0o644); err != nil {
		return fmt.Errorf("name servers: %w", err)
	}
	if err := os.Rename(part, path); err != nil {
		return fmt.Errorf("name servers: %w", err)
	}
	return nil
}
