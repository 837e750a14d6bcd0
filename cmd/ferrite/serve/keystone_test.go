//go:build !noopenstack

package serve

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/keystone"
)

// TestKeystoneSettings: settings with which no token could be checked are refused before anything starts.
func TestKeystoneSettings(t *testing.T) {
	password, empty := filepath.Join(t.TempDir(), "password"), filepath.Join(t.TempDir(), "empty")
	for file, text := range map[string]string{password: "secret\n", empty: "\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		change func(*Config, *keystoneConfig)
		want   string // "" where it is taken
	}{
		"all is there": {func(*Config, *keystoneConfig) {}, ""},
		"besides tokens": {func(c *Config, _ *keystoneConfig) { c.Auth, c.Users = []string{"keystone", "token"}, password },
			""},
		"no URL": {func(_ *Config, k *keystoneConfig) { k.URL = "" }, "--auth keystone needs --keystone-url"},
		"no login": {func(c *Config, _ *keystoneConfig) { c.Auth = []string{"token"}; c.Users = password },
			"--keystone-url is of no use without --auth keystone"},
		"none besides": {func(c *Config, _ *keystoneConfig) { c.Auth = []string{"none", "keystone"} },
			"expected none, or some of"},
		"another URL": {func(_ *Config, k *keystoneConfig) { k.URL = "keystone:5000" }, "expected http(s)://HOST"},
		"no password": {func(_ *Config, k *keystoneConfig) { k.PasswordFile = empty + "x" },
			"--keystone-password-file: stat"},
		"empty password": {func(_ *Config, k *keystoneConfig) { k.PasswordFile = empty }, "is empty"},
		"no authorities": {func(_ *Config, k *keystoneConfig) { k.CA = password }, "holds no certificate"},
		"no user": {func(_ *Config, k *keystoneConfig) { k.User = "" },
			"its name, password, project or domain is missing"},
	} {
		o := &openstack{Keystone: keystoneConfig{Options: keystone.Options{URL: "http://keystone:5000/v3", User: "ironic",
			Project: "service", Domain: "Default", Lasts: time.Minute}, PasswordFile: password}}
		c := &Config{APIAddress: "127.0.0.1:0", Auth: []string{"keystone"}}
		tc.change(c, &o.Keystone)
		err := errors.Join(c.checkAuth(), o.checkKeystone(c))
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, expected %q", name, err, tc.want)
		}
	}
}
