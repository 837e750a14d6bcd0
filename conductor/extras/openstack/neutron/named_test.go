package neutron_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/neutron"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestNamesOfOthers: a network or a security group that another project gives the name of ours stops nothing.
func TestNamesOfOthers(t *testing.T) {
	s := newServer(t)
	c := cloud{t, s.URL}
	ours := map[string]string{}
	for _, project := range []string{"blue", "service", "red"} {
		for kind, single := range map[string]string{"networks": "network", "security-groups": "security_group"} {
			is := c.do(http.MethodPost, kind, object{single: object{"name": "cleaning", "project_id": project}})
			if project == "service" {
				ours[kind] = is[single].(object)["id"].(string)
			}
		}
	}
	ports := []node.Port{{UUID: "p1", Address: mac, PXEEnabled: true, LocalLinkConnection: object{"port_id": "e1"}}}
	attach := func(project string) error {
		var token tokens.CreateResult
		token.Header = http.Header{"X-Subject-Token": {"t"}}
		token.Body = object{"token": object{"project": object{"id": project}}}
		p := &gophercloud.ProviderClient{}
		if err := p.SetTokenAndAuthResult(token); err != nil {
			t.Fatal(err)
		}
		service := &gophercloud.ServiceClient{ProviderClient: p, Endpoint: s.URL + "/", Type: "network"}
		is := neutron.New(neutron.Config{Networks: map[string]string{"cleaning": "cleaning"},
			SecurityGroups: map[string][]string{"cleaning": {"cleaning"}},
			Service:        func(context.Context) (*gophercloud.ServiceClient, error) { return service, nil }})
		_, err := is.Attach(t.Context(), node.Node{UUID: nodeUUID}, "cleaning", ports, nil)
		return err
	}
	if err := attach("service"); err != nil {
		t.Fatal(err)
	}
	made := c.in(ours["networks"])
	if len(made) != 1 || made[0]["security_groups"].([]any)[0] != ours["security-groups"] {
		t.Errorf("made are %v, in other networks than %v", made, ours)
	}
	if err := attach("green"); err == nil || !strings.Contains(err.Error(), `3 networks with the name "cleaning"`) {
		t.Errorf("none of them is ours: %v", err)
	}
}
