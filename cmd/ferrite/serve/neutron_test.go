//go:build !noopenstack

package serve

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// TestNeutronSettings: settings without a network, or without a Neutron, are refused at the start.
func TestNeutronSettings(t *testing.T) {
	const url = "http://neutron:9696"
	none := &Config{Auth: []string{"none"}}
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
		o := &openstack{Neutron: neutronConfig{Networks: tc.networks, URL: tc.url}}
		err := o.checkNeutron(none)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, expected %q", name, err, tc.want)
		}
	}
	for says, n := range map[string]neutronConfig{
		"of no use without --neutron-networks": {NodeNetworks: both[:1]},
		"--neutron-security-groups are of no":  {SecurityGroups: []string{"cleaning=a"}},
		`--neutron-security-groups "x=a"`:      {Networks: both, URL: url, SecurityGroups: []string{"x=a"}},
	} {
		err := (&openstack{Neutron: n}).checkNeutron(none)
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

// TestEndlessNeutron: the client ends an endless answer of Neutron after some MiB, for any status.
func TestEndlessNeutron(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusConflict} {
		var sent int64
		ended := make(chan struct{})
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			defer close(ended)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"port": {"id": "`) // the pieces show whether the client has gone
			for piece := strings.Repeat("a", 1<<20); sent < 64<<20; {
				n, err := io.WriteString(w, piece)
				if sent += int64(n); err != nil {
					return
				}
			}
		}))
		o := &openstack{Neutron: neutronConfig{URL: s.URL,
			Networks: []string{"provisioning=a", "cleaning=b"}}}
		networks, err := o.networks(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err = networks.VIF(t.Context(), "11111111-2222-4333-8444-555555555555"); err == nil {
			t.Errorf("%d: an answer without an end was taken", status)
		}
		<-ended
		s.Close()
		if sent > 32<<20 {
			t.Errorf("%d: %d MiB of an answer were read", status, sent>>20)
		}
	}
}
