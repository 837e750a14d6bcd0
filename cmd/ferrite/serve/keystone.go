//go:build !noopenstack

package serve

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/keystone"
	"github.com/ferrite-metal/ferrite/conductor/server/reload"
)

// keystoneConfig is the OpenStack cloud that the conductor is a part of.
type keystoneConfig struct {
	keystone.Options // without Password and Transport

	PasswordFile  string
	CA            string
	AdminProjects []string
	TellNova      bool
}

func (c *keystoneConfig) settings(s *settings) {
	s.StringVar(&c.URL, "keystone-url", "", "`URL` of Keystone, as in https://keystone:5000/v3, for --auth keystone")
	s.StringVar(&c.User, "keystone-user", "ironic", "`user` of Keystone by which the conductor checks tokens")
	s.StringVar(&c.PasswordFile, "keystone-password-file", "", "`file` with the password of --keystone-user, read at each login")
	s.StringVar(&c.Project, "keystone-project", "service", "`project` of --keystone-user; a user with the role service in it is an admin")
	s.StringVar(&c.Domain, "keystone-domain", "Default", "`domain` of --keystone-user and --keystone-project, by name")
	s.StringVar(&c.Region, "keystone-region", "", "`region` of the catalogue whose Glance, Neutron and Nova the conductor asks "+
		"(default: the first in the catalogue)")
	s.StringVar(&c.CA, "keystone-ca-file", "", "PEM `file` of the authorities of Keystone's certificate (default: the system's)")
	s.StringSliceVar(&c.AdminProjects, "keystone-admin-projects", []string{"admin"},
		"`projects` of --keystone-domain whose admins are admins of all nodes; other admins only of their project's")
	s.BoolVar(&c.TellNova, "nova-power-notifications", true,
		"with --auth keystone: notify Nova when the power of a machine with an instance changes (power-update)")
	s.durationVar(&c.Lasts, "keystone-cache", time.Minute,
		"how long an answer of Keystone is cached, and so how long a revoked token is still accepted; at most 10m",
		within(0, maxKeystoneCache, ": expected 0s to "+maxKeystoneCache.String()))
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
	o := k.Options
	o.Password, o.Transport = k.password, transport
	c, err := keystone.New(o)
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
