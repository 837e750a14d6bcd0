package serve

import (
	"fmt"
	"os"
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
