package serve

import (
	"fmt"
	"os"

	"github.com/ferrite-metal/ferrite/conductor/bmc/driverinfo"
	"github.com/ferrite-metal/ferrite/conductor/cacert"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// checkCAFolder refuses a --ca-folder that nodes could find nothing in.
func (c *Config) checkCAFolder() error {
	if c.CAFolder == "" {
		return nil
	}
	if i, err := os.Stat(c.CAFolder); err != nil || !i.IsDir() {
		return fmt.Errorf("--ca-folder %q is no folder: make it and put the CA certificates in it, or leave the flag out",
			c.CAFolder)
	}
	return nil
}

// closedAuthorities are the settings of a node that name certificates which are not open to nodes, as releases before
// --ca-folder allowed. Only the next call to its BMC is refused.
func (c *Config) closedAuthorities(n node.Node, seen map[string]bool) (keys []string) {
	for _, key := range driverinfo.AuthorityKeys() {
		if !believed(cacert.Folder(c.CAFolder), n, key, seen) {
			keys = append(keys, key)
		}
	}
	return keys
}

// believed reports whether a setting can be used.
func believed(folder cacert.Folder, n node.Node, key string, seen map[string]bool) bool {
	setting, err := driverinfo.Authorities(n, key)
	if err != nil || setting == "true" || setting == "false" {
		return err == nil
	}
	ok, known := seen[setting]
	if !known {
		_, err = folder.Pool(setting)
		ok, seen[setting] = err == nil, err == nil
	}
	return ok
}
