//go:build !noopenstack

package serve

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/keystone"
	"github.com/ferrite-metal/ferrite/conductor/server/reload"
)

// keystoneConfig is the OpenStack cloud that the conductor is a part of.
type keystoneConfig struct {
	URL           string        `koanf:"keystone-url"`
	User          string        `koanf:"keystone-user"`
	PasswordFile  string        `koanf:"keystone-password-file"`
	Project       string        `koanf:"keystone-project"`
	Domain        string        `koanf:"keystone-domain"`
	Region        string        `koanf:"keystone-region"`
	CA            string        `koanf:"keystone-ca-file"`
	AdminProjects []string      `koanf:"keystone-admin-projects"`
	Cache         time.Duration `koanf:"keystone-cache"`
	TellNova      bool          `koanf:"nova-power-notifications"`
}

func keystoneFlags(f *pflag.FlagSet) {
	f.String("keystone-url", "", "`URL` of Keystone, as in https://keystone:5000/v3, for --auth keystone")
	f.String("keystone-user", "ironic", "`user` of Keystone by which the conductor checks tokens")
	f.String("keystone-password-file", "", "`file` with the password of --keystone-user, read at each login")
	f.String("keystone-project", "service", "`project` of --keystone-user; a user with the role service in it is an admin")
	f.String("keystone-domain", "Default", "`domain` of --keystone-user and --keystone-project, by name")
	f.String("keystone-region", "", "`region` of the catalogue whose Glance, Neutron and Nova the conductor asks "+
		"(default: the first in the catalogue)")
	f.String("keystone-ca-file", "", "PEM `file` of the authorities of Keystone's certificate (default: the system's)")
	f.StringSlice("keystone-admin-projects", []string{"admin"},
		"`projects` of --keystone-domain whose admins are admins of all nodes; other admins only of their project's")
	f.Bool("nova-power-notifications", true,
		"with --auth keystone: notify Nova when the power of a machine with an instance changes (power-update)")
	f.Duration("keystone-cache", time.Minute,
		"how long an answer of Keystone is cached, and so how long a revoked token is still accepted; at most 10m")
}

// maxKeystoneCache bounds how long a revoked token is taken.
const maxKeystoneCache = 10 * time.Minute

// checkKeystone refuses settings with which no token could be checked.
func (o *openstack) checkKeystone(c *Config) error {
	k := &o.Keystone
	switch used := c.inCloud(); {
	case !used && k.URL != "":
		return errors.New("--keystone-url is of no use without --auth keystone")
	case !used:
		return nil
	case k.URL == "" || k.PasswordFile == "":
		return errors.New("--auth keystone needs --keystone-url, and --keystone-password-file with the password of " +
			"--keystone-user")
	case k.Cache < 0 || k.Cache > maxKeystoneCache:
		return fmt.Errorf("--keystone-cache %s: expected 0s to %s", k.Cache, maxKeystoneCache)
	}
	if _, err := k.password(); err != nil {
		return err
	}
	_, err := k.client(nil)
	return err
}

// client asks Keystone, and the services that it names. Nothing is sent unless check allows it at that moment; nil
// always does.
func (k *keystoneConfig) client(check func() error) (*keystone.Client, error) {
	transport, err := transportTo("keystone-ca-file", k.CA)
	if err != nil {
		return nil, err
	}
	transport.DialContext = checkedDial(check)
	c, err := keystone.New(keystone.Options{
		URL: k.URL, User: k.User, Project: k.Project, Domain: k.Domain, Region: k.Region, Password: k.password,
		Lasts: k.Cache, Transport: transport,
	})
	if err != nil {
		return nil, fmt.Errorf("--auth keystone: %w", err)
	}
	return c, nil
}

// password is the service user's current password.
func (k *keystoneConfig) password() (string, error) {
	text, err := reload.Read(k.PasswordFile)
	if err != nil {
		return "", fmt.Errorf("--keystone-password-file: %w", err)
	}
	password := strings.TrimRight(string(text), "\r\n")
	if password == "" {
		return "", fmt.Errorf("--keystone-password-file %s is empty: write the password of --keystone-user into it",
			k.PasswordFile)
	}
	return password, nil
}
