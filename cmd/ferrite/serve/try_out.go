package serve

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/bmc"
)

// tryOut is `ferrite serve --check`: everything that a start reads before it opens ports and database. Other
// faults of a configuration read has found.
func (c *Config) tryOut(out io.Writer) error {
	log := slog.New(slog.DiscardHandler)
	if _, _, err := c.access(nil, log); err != nil {
		return err
	}
	if _, err := c.dialling(nil, log); err != nil {
		return err
	}
	o, err := c.bmcOptions(log)
	if err != nil {
		return err
	}
	drivers, err := bmc.New(c.HardwareTypes, o)
	if err != nil {
		return err
	}
	if err := errors.Join(c.checkPriorities(drivers), drivers.Close()); err != nil {
		return err
	}
	if c.Boot {
		if _, _, err := c.subnets(); err != nil {
			return err
		}
	}
	if err := c.tryDataFolder(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "configuration: ok, API at %s%s, boot service %s, data in %s\n", c.scheme(), c.APIAddress,
		map[bool]string{true: "on " + c.BootInterface, false: "off"}[c.Boot], c.DataDir)
	return err
}

// CheckFile is `ferrite serve --check --config PATH`. It returns the line that the command prints.
func CheckFile(path string) (string, error) {
	conf, err := parsed("--config", path)
	if err != nil {
		return "", err
	}
	var said strings.Builder
	err = conf.tryOut(&said)
	return strings.TrimSpace(said.String()), err
}

// tryDataFolder refuses a folder that is a file. A missing folder passes, since the first start makes it.
func (c *Config) tryDataFolder() error {
	i, err := os.Stat(c.DataDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("--data-dir: %w", err)
	case !i.IsDir():
		return fmt.Errorf("--data-dir %s: expected a folder, found a file: name the folder of the database", c.DataDir)
	}
	return nil
}
