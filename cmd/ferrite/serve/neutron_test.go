package serve

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestNeutronSettings: what names no network, or nobody to ask, is refused at the start.
func TestNeutronSettings(t *testing.T) {
	const url = "http://neutron:9696"
	both := []string{"provisioning=a", "cleaning=b"}
	for name, tc := range map[string]struct {
		networks []string
		url      string
		want     string // "" where it is taken
	}{
		"none":             {nil, "", ""},
		"both":             {both, url, ""},
		"all":              {append([]string{"rescuing=c", "servicing=d", "inspection=e"}, both...), url, ""},
		"nobody to ask":    {both, "", "needs --auth keystone"},
		"a URL alone":      {nil, url, "of no use without --neutron-networks"},
		"one alone":        {both[:1], url, "needs provisioning=NAME and cleaning=NAME"},
		"an unknown one":   {append([]string{"tenant=x"}, both...), url, `"tenant=x"`},
		"no name":          {append([]string{"rescuing="}, both...), url, `"rescuing="`},
		"no purpose":       {[]string{"a"}, url, `"a"`},
		"a URL of nothing": {both, "neutron:9696", "--neutron-url"},
	} {
		c := &Config{Auth: []string{"none"}, Neutron: neutronConfig{Networks: tc.networks, URL: tc.url}}
		err := c.checkNeutron()
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, expected %q", name, err, tc.want)
		}
	}
	for says, n := range map[string]neutronConfig{
		"of no use without --neutron-networks": {NodeNetworks: both[:1]},
		"--neutron-security-groups are of no":  {SecurityGroups: []string{"cleaning=a"}},
		`--neutron-security-groups "x=a"`:      {Networks: both, URL: url, SecurityGroups: []string{"x=a"}},
	} {
		err := (&Config{Auth: []string{"none"}, Neutron: n}).checkNeutron()
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, expected %q", n, err, says)
		}
	}
	grouped := neutronConfig{Networks: append([]string{"servicing=c"}, both...),
		SecurityGroups: []string{"provisioning=a", "provisioning=b", "cleaning=c"}}
	want := map[string][]string{"provisioning": {"a", "b"}, "cleaning": {"c"}, "rescuing": {"a", "b"}}
	if got, err := grouped.groups(); err != nil || !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("the groups are %v, %v", got, err)
	}
	c := neutronConfig{Networks: both}
	if named, err := c.networks(); err != nil || named["rescuing"] != "a" || named["servicing"] != "a" ||
		named["inspection"] != "" || c.inspects() {
		t.Errorf("%v, %v", named, err)
	}
}
