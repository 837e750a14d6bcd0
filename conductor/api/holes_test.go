package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestShardsOfOthers: a list by shard shows a project no more than a list without (Ironic's did until 2026).
func TestShardsOfOthers(t *testing.T) {
	g := newGuardedConductor(t)
	e := g.estate()
	if _, err := g.Engine.UpdateNode(t.Context(), e.node, func(n *node.Node) error {
		n.Shard = "s"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/v1/nodes?shard=s", "/v1/nodes?sharded=true", "/v1/nodes?fields=uuid,shard&shard=s,t",
		"/v1/ports?shard=s", "/v1/ports?detail=true&shard=s", "/v1/portgroups?shard=s"} {
		for who, sees := range map[string]bool{"reader ": true, "reader " + owner: true, "reader " + other: false,
			"admin " + other: false} {
			r := g.as(who, http.MethodGet, path, "")
			found := strings.Contains(r.body, e.node) || strings.Contains(r.body, e.port) || strings.Contains(r.body, e.mac) ||
				strings.Contains(path, "portgroups") && strings.Contains(r.body, `"uuid"`)
			if r.status != http.StatusOK || found != sees {
				t.Errorf("%s of %s: %d, %s", path, who, r.status, r.body)
			}
		}
	}
	if r := g.as("admin "+other, http.MethodGet, "/v1/shards", ""); r.status == http.StatusOK && strings.Contains(r.body, `"s"`) {
		t.Errorf("shards of other projects: %s", r.body)
	}
}

// TestSecretsOfTargets: no answer has the credentials of a volume, not even the answer to a change of another field.
func TestSecretsOfTargets(t *testing.T) {
	g := newGuardedConductor(t)
	e := g.estate()
	if _, err := g.Engine.UpdateNode(t.Context(), e.node, func(n *node.Node) error {
		n.PowerState = node.PowerOff
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	keys := []string{"auth_password", "discovery_auth_password", "chap_secret", "CHAPSecret", "mutual_chap_password"}
	var properties []string
	for _, k := range keys {
		properties = append(properties, fmt.Sprintf(`%q:"pa55"`, k))
	}
	body := `{"node_uuid":"` + e.node + `","volume_type":"iscsi","boot_index":5,"volume_id":"w","properties":{` +
		strings.Join(properties, ",") + `}}`
	for _, who := range []string{"admin ", "admin " + owner} {
		made := g.as(who, http.MethodPost, "/v1/volume/targets", body)
		if made.status != http.StatusCreated {
			t.Fatalf("%s: %d %s", who, made.status, made.body)
		}
		at := fmt.Sprint("/v1/volume/targets/", made.doc(t)["uuid"])
		for what, r := range map[string]reply{
			"POST":  made,
			"PATCH": g.as(who, http.MethodPatch, at, `[{"op":"replace","path":"/volume_id","value":"x"}]`),
			"PATCH of a property": g.as(who, http.MethodPatch, at,
				`[{"op":"replace","path":"/properties/auth_password","value":"pa55word"}]`),
			"GET": g.as(who, http.MethodGet, at, ""),
		} {
			if r.status >= 300 || strings.Contains(r.body, "pa55") {
				t.Errorf("%s by %s: %d %s", what, who, r.status, r.body)
			}
		}
		if r := g.as(who, http.MethodDelete, at, ""); r.status != http.StatusNoContent {
			t.Fatal(r.body)
		}
	}
}
