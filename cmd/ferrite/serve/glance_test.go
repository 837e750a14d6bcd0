//go:build !noopenstack

package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/keystone"
)

// TestGlanceSettings: settings by which no image could be found are refused; a conductor in no cloud knows no Glance.
func TestGlanceSettings(t *testing.T) {
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in := keystoneConfig{Options: keystone.Options{URL: "http://keystone:5000/v3", User: "ironic", Project: "service",
		Domain: "Default", Lasts: time.Minute}, PasswordFile: password}
	none, cloud := []string{"none"}, []string{"keystone"}
	for name, tc := range map[string]struct {
		auth  []string
		o     openstack
		knows bool
		want  string // "" where it is taken
	}{
		"no cloud":    {none, openstack{}, false, ""},
		"by the flag": {none, openstack{Glance: glanceConfig{URL: "http://glance:9292"}}, true, ""},
		"by Keystone": {cloud, openstack{Keystone: in}, true, ""},
		"by both":     {cloud, openstack{Keystone: in, Glance: glanceConfig{URL: "http://g"}}, true, ""},
		"another URL": {none, openstack{Glance: glanceConfig{URL: "glance:9292"}}, false, "expected http(s)://HOST"},
		"no authorities": {none, openstack{Glance: glanceConfig{URL: "https://g", CA: password}}, false,
			"--glance-ca-file"},
		"for nothing": {none, openstack{Glance: glanceConfig{CA: password}}, false, "of no use without"},
		"authorities too": {cloud, openstack{Keystone: in, Glance: glanceConfig{CA: password + "x"}}, false,
			"no such file"},
	} {
		c := &Config{Auth: tc.auth}
		err := tc.o.checkGlance(c)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, expected %q", name, err, tc.want)
		}
		if found, _ := tc.o.glance(c, nil); (found != nil) != tc.knows && tc.want != "of no use without" {
			t.Errorf("%s: knows Glance %t", name, found != nil)
		}
	}
}
