package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const (
	importedUUID = "11111111-2222-4333-8444-000000000001"
	instanceUUID = "99999999-2222-4333-8444-000000000001"
)

// aBundle is a node in use with one of everything; each change makes it another.
func aBundle(changes ...func(*nodeapi.Import)) *nodeapi.Import {
	b := &nodeapi.Import{
		Source: "http://ironic.example:6385",
		Node: map[string]any{
			"uuid": importedUUID, "name": "metal-1", "driver": "ipmi", "provision_state": "active", "power_state": "power on",
			"driver_info": map[string]any{"ipmi_address": "192.0.2.7", "ipmi_password": "calvin"},
			"properties":  map[string]any{"cpus": 4}, "extra": map[string]any{"rack": "r1"},
			"instance_uuid": instanceUUID, "instance_info": map[string]any{"image_source": "http://192.0.2.1/a.qcow2"},
			"owner": "o", "lessee": "l", "protected": true, "protected_reason": "in use", "maintenance": true,
			"maintenance_reason": "a fan is broken", "retired": true, "retired_reason": "old", "traits": []string{"CUSTOM_B",
				"CUSTOM_A"}, "created_at": "2023-01-02T03:04:05+00:00", "resource_class": "baremetal",
			"network_interface": "flat", "raid_config": map[string]any{"logical_disks": []any{}},
		},
		Ports: []map[string]any{{"uuid": "22222222-2222-4333-8444-000000000001", "address": "52:54:00:00:00:01",
			"pxe_enabled": false, "portgroup_uuid": "33333333-2222-4333-8444-000000000001",
			"internal_info": map[string]any{"tenant_vif_port_id": "vif-1"}}},
		Portgroups: []map[string]any{{"uuid": "33333333-2222-4333-8444-000000000001", "name": "bond-1", "mode": "802.3ad"}},
		Connectors: []map[string]any{{"uuid": "44444444-2222-4333-8444-000000000001", "type": "iqn",
			"connector_id": "iqn.a"}},
		Targets: []map[string]any{{"uuid": "55555555-2222-4333-8444-000000000001", "boot_index": 0, "volume_id": "v",
			"volume_type": "iscsi", "properties": map[string]any{"auth_password": "words"}}},
		Allocation: map[string]any{"uuid": instanceUUID, "name": "a-1", "resource_class": "baremetal"},
		Inventory: &nodeapi.ImportInventory{Inventory: json.RawMessage(`{"cpu":{"count":4}}`),
			PluginData: json.RawMessage(`{}`)},
	}
	for _, change := range changes {
		change(b)
	}
	return b
}

// imports posts a bundle.
func (c *conductor) imports(b *nodeapi.Import) (nodeapi.Imported, reply) {
	c.t.Helper()
	body, err := json.Marshal(b)
	if err != nil {
		c.t.Fatal(err)
	}
	r := c.do(115, "POST", nodeapi.ImportPath, string(body))
	var done nodeapi.Imported
	if r.status == http.StatusOK {
		if err := json.Unmarshal([]byte(r.body), &done); err != nil {
			c.t.Fatal(err)
		}
	}
	return done, r
}

// wants imports a bundle and checks the outcome.
func (c *conductor) wants(outcome string, b *nodeapi.Import) nodeapi.Imported {
	c.t.Helper()
	done, r := c.imports(b)
	if r.status != http.StatusOK || done.Outcome != outcome {
		c.t.Fatalf("an import is answered %d %q: %s; want %q", r.status, done.Outcome, r.body, outcome)
	}
	return done
}

func (c *conductor) stored(ref string) node.Node {
	c.t.Helper()
	n, err := c.Engine.Node(c.t.Context(), ref)
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// TestImportNode: a node in use comes with everything, and nothing is done to its machine.
func TestImportNode(t *testing.T) {
	c := newConductor(t)
	dry := aBundle(func(b *nodeapi.Import) { b.DryRun = true })
	c.wants("created", dry)
	c.must(http.StatusNotFound, 115, "GET", "/v1/nodes/"+importedUUID, "")
	c.wants("created", aBundle())
	n := c.must(http.StatusOK, 115, "GET", "/v1/nodes/metal-1", "").doc(t)
	for key, want := range map[string]any{
		"provision_state": "active", "power_state": "power on", "target_provision_state": nil, "instance_uuid": instanceUUID,
		"allocation_uuid": instanceUUID, "owner": "o", "lessee": "l", "protected": true, "retired": true,
		"maintenance_reason": "a fan is broken", "created_at": "2023-01-02T03:04:05.000000+00:00", "uuid": importedUUID,
		"deploy_interface": "direct", "reservation": nil,
	} {
		if n[key] != want {
			t.Errorf("%s is %v, want %v", key, n[key], want)
		}
	}
	stored := c.stored("metal-1")
	if stored.DriverInfo["ipmi_password"] != "calvin" || strings.Join(stored.Traits, " ") != "CUSTOM_A CUSTOM_B" ||
		!stored.FollowsPower() || stored.Run != nil {
		t.Errorf("stored as %+v", stored)
	}
	for path, want := range map[string]string{
		"/v1/ports?node=metal-1&detail=True": `"portgroup_uuid":"33333333-2222-4333-8444-000000000001"`,
		"/v1/nodes/metal-1/vifs":             `"vif-1"`,
		"/v1/volume/targets?node=metal-1":    `"volume_id":"v"`,
		"/v1/volume/connectors?node=metal-1": `"iqn.a"`,
		"/v1/nodes/metal-1/allocation":       `"a-1"`,
		"/v1/nodes/metal-1/inventory":        `"count":4`,
		"/v1/nodes/metal-1/history":          "imported from http://ironic.example:6385",
	} {
		if r := c.must(http.StatusOK, 115, "GET", path, ""); !strings.Contains(r.body, want) {
			t.Errorf("%s: %s lacks %s", path, r.body, want)
		}
	}
	c.wants("unchanged", aBundle())
	if again := c.stored("metal-1"); again.Revision != stored.Revision {
		t.Errorf("the same import again has written: revision %d, was %d", again.Revision, stored.Revision)
	}
}

// TestImportAgain: a change at the source alone is taken, a change here alone stays, and a contradiction is refused as
// a whole.
func TestImportAgain(t *testing.T) {
	c := newConductor(t)
	c.wants("created", aBundle())
	rack := func(b *nodeapi.Import) { b.Node["extra"] = map[string]any{"rack": "r2"} }
	noPort := func(b *nodeapi.Import) { b.Ports = nil }
	done := c.wants("changed", aBundle(rack, noPort))
	if len(done.Changes) != 2 || done.Changes[0].Item != "extra" {
		t.Errorf("changes: %+v", done.Changes)
	}
	if r := c.must(http.StatusOK, 115, "GET", "/v1/nodes/metal-1/ports", ""); strings.Contains(r.body, "52:54") {
		t.Errorf("a port that is gone at the source stays: %s", r.body)
	}
	c.must(http.StatusOK, 115, "PATCH", "/v1/nodes/metal-1", `[{"op":"add","path":"/description","value":"mine"}]`)
	done = c.wants("unchanged", aBundle(rack, noPort))
	if len(done.Kept) != 1 || done.Kept[0].Item != "description" {
		t.Errorf("kept: %+v", done.Kept)
	}
	described := func(b *nodeapi.Import) { b.Node["description"] = "theirs" }
	class := func(b *nodeapi.Import) { b.Node["lessee"] = "m" }
	before := c.stored("metal-1")
	done = c.wants("conflict", aBundle(rack, noPort, described, class))
	if len(done.Conflicts) != 1 || done.Conflicts[0].Here != "mine" || done.Conflicts[0].There != "theirs" {
		t.Errorf("conflicts: %+v", done.Conflicts)
	}
	if n := c.stored("metal-1"); n.Revision != before.Revision || n.Lessee != "l" {
		t.Errorf("a conflict has written: %+v", n)
	}
	done = c.wants("changed", aBundle(rack, noPort, described, class, func(b *nodeapi.Import) { b.Overwrite = true }))
	if n := c.stored("metal-1"); n.Description != "theirs" || n.Lessee != "m" || len(done.Changes) != 2 {
		t.Errorf("after an overwrite: %q %q, %+v", n.Description, n.Lessee, done.Changes)
	}
}

// TestImportSecrets: a mask is no secret, but on a node that is here it stands for the stored one; another secret is a
// conflict, and shows neither.
func TestImportSecrets(t *testing.T) {
	c := newConductor(t)
	masked := func(b *nodeapi.Import) {
		b.Node["driver_info"] = map[string]any{"ipmi_address": "192.0.2.7", "ipmi_password": nodeapi.Masked}
		b.Targets[0]["properties"] = map[string]any{"auth_password": nodeapi.Masked}
	}
	if _, r := c.imports(aBundle(masked)); r.status != http.StatusBadRequest ||
		!strings.Contains(r.text(), "driver_info/ipmi_password of node "+importedUUID+" is ******") {
		t.Errorf("a masked password is answered %d: %s", r.status, r.text())
	}
	c.wants("created", aBundle())
	c.wants("unchanged", aBundle(masked))
	other := func(b *nodeapi.Import) {
		b.Node["driver_info"] = map[string]any{"ipmi_address": "192.0.2.7", "ipmi_password": "hobbes"}
	}
	_, r := c.imports(aBundle(other))
	if !strings.Contains(r.body, `"conflict"`) || !strings.Contains(r.body, `"secret":true`) ||
		strings.Contains(r.body, "hobbes") || strings.Contains(r.body, "calvin") {
		t.Errorf("another password is answered %s", r.body)
	}
	for _, digest := range c.stored("metal-1").Import.Base {
		if digest == "" {
			t.Error("an item has no digest")
		}
	}
}

// TestImportRefused: nothing of a node that cannot be imported is written.
func TestImportRefused(t *testing.T) {
	c := newConductor(t)
	c.wants("created", aBundle())
	elsewhere := func(b *nodeapi.Import) {
		b.Node["uuid"], b.Node["name"] = "11111111-2222-4333-8444-000000000002", "metal-2"
		b.Node["driver_info"] = map[string]any{"ipmi_address": "192.0.2.8"}
		b.Node["instance_uuid"], b.Allocation, b.Connectors, b.Targets, b.Portgroups = nil, nil, nil, nil, nil
		b.Ports = []map[string]any{{"uuid": "22222222-2222-4333-8444-000000000002", "address": "52:54:00:00:00:02"}}
	}
	set := func(key string, value any) func(*nodeapi.Import) {
		return func(b *nodeapi.Import) { b.Node[key] = value }
	}
	for _, of := range []struct {
		change func(*nodeapi.Import)
		status int
		says   string
	}{
		{set("provision_state", "wait call-back"), 400, "only nodes at rest can be imported"},
		{set("provision_state", "clean hold"), 400, "only nodes at rest can be imported"},
		{set("provision_state", "sleeping"), 400, "is not a state of Ironic"},
		{set("power_state", "rebooting"), 400, "power_state"},
		{set("driver", "ilo"), 400, "ilo"},
		{set("deploy_interface", "ansible"), 400, "ansible"},
		{set("name", "metal-1"), 409, "already exists"},
		{set("uuid", "metal-2"), 400, "Expected UUID"},
		{set("driver_info", map[string]any{"ipmi_address": "192.0.2.7"}), 409, "192.0.2.7"},
		{set("instance_uuid", instanceUUID), 409, "already associated"},
		{set("chassis_uuid", "66666666-2222-4333-8444-000000000001"), 400, "could not be found"},
		{set("parent_node", "66666666-2222-4333-8444-000000000001"), 400, "create the parent first"},
		{set("conductor_group", "nowhere"), 400, "conductor group"},
		{set("created_at", "yesterday"), 400, "RFC 3339"},
		{set("reservation", "host"), 400, "reservation"},
		{set("console_enabled", true), 400, "console_enabled"},
		{set("driver_internal_info", map[string]any{}), 400, "driver_internal_info"},
		{set("traits", []any{"nope"}), 400, "nope"},
		{func(b *nodeapi.Import) { b.Ports[0]["address"] = "52:54:00:00:00:01" }, 409, "already exists"},
		{func(b *nodeapi.Import) { b.Ports = append(b.Ports, b.Ports[0]) }, 400, "twice"},
		{func(b *nodeapi.Import) { b.Ports[0]["node_uuid"] = importedUUID }, 400, "cannot come with node"},
		{func(b *nodeapi.Import) { b.Ports[0]["portgroup_uuid"] = importedUUID }, 400, "has not"},
		{func(b *nodeapi.Import) { b.Chassis = map[string]any{"uuid": importedUUID} }, 400, "one record at a time"},
		{func(b *nodeapi.Import) { b.Allocation = map[string]any{"uuid": instanceUUID} }, 400, "is not its instance_uuid"},
		{func(b *nodeapi.Import) { b.Source = "" }, 400, "source"},
	} {
		for _, dry := range []bool{true, false} {
			b := aBundle(elsewhere, of.change)
			b.DryRun = dry
			_, r := c.imports(b)
			if dry && (strings.HasPrefix(of.says, "could not be found") || strings.HasPrefix(of.says, "create the parent")) {
				continue // it is imported before the node
			}
			if r.status != of.status || !strings.Contains(r.text(), of.says) {
				t.Errorf("dry %v: answered %d: %s; want %d: %s", dry, r.status, r.text(), of.status, of.says)
			}
		}
		c.must(http.StatusNotFound, 115, "GET", "/v1/nodes/11111111-2222-4333-8444-000000000002", "")
	}
	if r := c.must(http.StatusOK, 115, "GET", "/v1/ports", ""); strings.Count(r.body, "52:54") != 1 {
		t.Errorf("a refused import has left ports: %s", r.body)
	}
	c.wants("created", aBundle(elsewhere))
}

// TestImportsAtOnce: of imports of one node at the same time, one makes it.
func TestImportsAtOnce(t *testing.T) {
	c := newConductor(t)
	body, err := json.Marshal(aBundle())
	if err != nil {
		t.Fatal(err)
	}
	outcomes := make(chan string, 8)
	var all sync.WaitGroup
	for range cap(outcomes) {
		all.Go(func() {
			r := c.do(115, "POST", nodeapi.ImportPath, string(body))
			var done nodeapi.Imported
			_ = json.Unmarshal([]byte(r.body), &done)
			outcomes <- done.Outcome
		})
	}
	all.Wait()
	close(outcomes)
	count := map[string]int{}
	for o := range outcomes {
		count[o]++
	}
	if count["created"] != 1 || count["unchanged"] != 7 {
		t.Errorf("outcomes: %v", count)
	}
}

// TestImportRecords: chassis, templates and runbooks come by themselves, under their UUIDs.
func TestImportRecords(t *testing.T) {
	c := newConductor(t)
	const uuid = "77777777-2222-4333-8444-000000000001"
	step := []any{map[string]any{"interface": "deploy", "step": "erase_devices", "args": map[string]any{}, "priority": 10}}
	book := []any{map[string]any{"interface": "deploy", "step": "erase_devices", "args": map[string]any{}, "order": 1}}
	for path, b := range map[string]*nodeapi.Import{
		"chassis":          {Chassis: map[string]any{"uuid": uuid, "description": "row 1"}},
		"deploy_templates": {DeployTemplate: map[string]any{"uuid": uuid, "name": "CUSTOM_X", "steps": step}},
		"runbooks": {Runbook: map[string]any{"uuid": uuid, "name": "wipe", "steps": book,
			"traits": []any{"CUSTOM_WIPE"}}},
	} {
		b.Source, b.DryRun = "http://ironic", true
		c.wants("created", b)
		c.must(http.StatusNotFound, 115, "GET", "/v1/"+path+"/"+uuid, "")
		b.DryRun = false
		c.wants("created", b)
		c.wants("unchanged", b)
		r := c.must(http.StatusOK, 115, "GET", "/v1/"+path+"/"+uuid, "")
		if path == "runbooks" && !strings.Contains(r.body, "CUSTOM_WIPE") {
			t.Errorf("a runbook has lost its traits: %s", r.body)
		}
		for _, record := range []map[string]any{b.Chassis, b.DeployTemplate, b.Runbook} {
			if record != nil {
				record["extra"] = map[string]any{"k": "v"}
			}
		}
		if done := c.wants("conflict", b); len(done.Conflicts) != 1 {
			t.Errorf("%s: %+v", path, done)
		}
		b.Overwrite = true
		c.wants("changed", b)
		c.wants("unchanged", b)
	}
}
