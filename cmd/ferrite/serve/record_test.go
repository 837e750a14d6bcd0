package serve

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/agents/bootlog"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

var record = flag.String("record", "", "record the data folder of this build as testdata/datafolders/`name`.tar.gz")

// TestRecord records the data folder of a conductor of this build, for the
// migrations of later ones: go test ./cmd/ferrite/serve -run 'TestRecord$' -record v1.2
func TestRecord(t *testing.T) {
	if *record == "" {
		dir := t.TempDir() // that it can be recorded is tested without keeping the record
		recordFolder(t, dir)
		return
	}
	dir := t.TempDir()
	recordFolder(t, dir)
	if err := packFolder(dir, filepath.Join(recordings, *record+".tar.gz")); err != nil {
		t.Fatal(err)
	}
}

// recordFolder makes a data folder in which there is something of everything.
func recordFolder(t *testing.T, dir string) {
	t.Helper()
	writeKeys(t, dir)
	c := start(t, dir, "--init") // with these keys
	recordFake(t, c)
	recordHosts(t, c)
	for _, state := range slices.Sorted(maps.Keys(node.States)) {
		recordRedfish(t, c, state)
	}
	c.End(t)
	rest := stableStates(t, dir)
	c = start(t, dir)
	for state, verb := range rest {
		c.Call(t, "PUT", "/v1/nodes/"+nodeIn(state)+"/states/provision", verb, http.StatusAccepted)
	}
	c.End(t)
	recordRest(t, dir)
}

// nodeIn is the name of the recorded Redfish node that is in a state.
func nodeIn(state node.State) string {
	name := []byte("in-" + state)
	for i, b := range name {
		if b == ' ' {
			name[i] = '-'
		}
	}
	return string(name)
}

// recordFake takes nodes of fake hardware through their lives, and makes the records that operators keep beside them.
func recordFake(t *testing.T, c *conductor) {
	t.Helper()
	step := map[string]any{"interface": "deploy", "step": "erase_devices", "args": map[string]any{}}
	post := func(path string, body map[string]any) string {
		return fmt.Sprint(c.Call(t, "POST", path, body, http.StatusCreated)["uuid"])
	}
	chassis := post("/v1/chassis", map[string]any{"description": "rack 1"})
	id := post("/v1/nodes", map[string]any{
		"driver": "fake-hardware", "name": "lived", "chassis_uuid": chassis, "resource_class": "large", "owner": "p1",
		"lessee": "p2", "shard": "s1",
		"conductor_group": "", "description": "Has lived", "extra": map[string]any{"rack": "r1"},
		"properties": map[string]any{"capabilities": "boot_mode:uefi"},
	})
	c.Call(t, "PUT", "/v1/nodes/lived/traits", map[string]any{"traits": []string{"CUSTOM_GPU"}}, http.StatusNoContent)
	group := post("/v1/portgroups", map[string]any{"node_uuid": id, "name": "bond0", "address": "52:54:00:00:01:00",
		"mode": "802.3ad"})
	post("/v1/ports", map[string]any{"node_uuid": id, "address": "52:54:00:00:01:01", "name": "eth0",
		"portgroup_uuid": group, "description": "Left"})
	post("/v1/volume/connectors",
		map[string]any{"node_uuid": id, "type": "iqn", "connector_id": "iqn.2026-11.example:lived"})
	post("/v1/volume/targets", map[string]any{
		"node_uuid": id, "volume_type": "iscsi", "volume_id": "v1", "boot_index": 0,
		"properties": map[string]any{"auth_password": recordedPassword},
	})
	post("/v1/deploy_templates",
		map[string]any{
			"name": "CUSTOM_GPU",
			"steps": []any{
				map[string]any{"interface": "bios", "step": "apply_configuration", "args": map[string]any{"settings": []any{}},
					"priority": 150},
			},
		})
	step["order"] = 1
	post("/v1/runbooks", map[string]any{"name": "CUSTOM_WIPE", "steps": []any{step}})
	post("/v1/inspection_rules",
		map[string]any{
			"description": "rack", "actions": []any{map[string]any{"op": "set-attribute", "args": []any{"/extra/rack", "r1"}}},
		})
	lives := [][2]string{{"manage", "manageable"}, {"inspect", "manageable"}, {"provide", "available"},
		{"active", "active"}, {"rescue", "rescue"}, {"unrescue", "active"}}
	for _, verb := range lives {
		body := map[string]any{"target": verb[0]}
		if verb[0] == "active" {
			body["configdrive"] = map[string]any{"user_data": "#cloud-config\n" + recordedPassword,
				"meta_data": map[string]any{"rack": "r1"}}
		}
		if verb[0] == "rescue" {
			body["rescue_password"] = recordedPassword
		}
		c.Call(t, "PUT", "/v1/nodes/lived/states/provision", body, http.StatusAccepted)
		c.Until(t, "lived", verb[1])
	}
	post("/v1/nodes", map[string]any{"driver": "fake-hardware", "name": "allocated", "resource_class": "small"})
	for _, verb := range lives[:3] {
		c.Call(t, "PUT", "/v1/nodes/allocated/states/provision", map[string]any{"target": verb[0]}, http.StatusAccepted)
		c.Until(t, "allocated", verb[1])
	}
	c.Call(t, "PUT", "/v1/nodes/allocated/states/power", map[string]any{"target": "power on"}, http.StatusAccepted)
	recordUntil(t, "power", func() bool {
		return c.Call(t, "GET", "/v1/nodes/allocated", nil, 200)["power_state"] == "power on"
	})
	post("/v1/allocations", map[string]any{"name": "given", "resource_class": "small"})
	post("/v1/allocations", map[string]any{"name": "in-vain", "resource_class": "none-such"})
	for name, state := range map[string]string{"given": "active", "in-vain": "error"} {
		recordUntil(t, name, func() bool { return c.Call(t, "GET", "/v1/allocations/"+name, nil, 200)["state"] == state })
	}
}

func recordUntil(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(servetest.Patience); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not become what is recorded", what)
		}
	}
}

// recordHosts makes a document of each kind.
func recordHosts(t *testing.T, c *conductor) {
	t.Helper()
	post := func(path string, body map[string]any) { c.Call(t, "POST", path, body, http.StatusCreated) }
	meta := func(name string) map[string]any { return map[string]any{"name": name} }
	post("/api/v1/namespaces", map[string]any{"kind": "Namespace", "apiVersion": "v1", "metadata": meta("metal3")})
	post(servetest.SecretsPath, map[string]any{
		"metadata": meta("bmc"), "stringData": map[string]any{"username": "admin", "password": recordedPassword},
	})
	post(servetest.SecretsPath,
		map[string]any{"metadata": meta("config"), "stringData": map[string]any{"userData": "#cloud-config\n"}})
	bmc := func(n string) map[string]any {
		return map[string]any{"address": "fake://" + n, "credentialsName": "bmc"}
	}
	post(servetest.HostsPath, map[string]any{
		"metadata": meta("available"),
		"spec":     map[string]any{"online": true, "bootMACAddress": "52:54:00:00:02:01", "bmc": bmc("available")},
	})
	post(servetest.HostsPath, map[string]any{"metadata": meta("provisioned"), "spec": map[string]any{
		"online": true, "bootMACAddress": "52:54:00:00:02:02", "bmc": bmc("provisioned"),
		"userData": servetest.SecretNamed("config"),
		"image": map[string]any{"url": "http://images/a", "checksum": fmt.Sprintf("%064d", 0), "checksumType": "sha256",
			"format": "raw"},
	}})
	for name, state := range map[string]hostapi.State{"available": hostapi.StateAvailable,
		"provisioned": hostapi.StateProvisioned} {
		recordUntil(t, "host "+name, func() bool {
			_, answer, err := c.Send("GET", servetest.HostsPath+"/"+name, nil)
			var h hostapi.Host
			return err == nil && json.Unmarshal(answer, &h) == nil && servetest.IsDone(h, state)
		})
	}
	for path, spec := range map[string]map[string]any{
		"dataimages":             {"url": "http://images/a.iso"},
		"hostfirmwaresettings":   {"settings": map[string]any{"LogicalProc": "Enabled"}},
		"hostfirmwarecomponents": {"updates": []any{}},
		"hostupdatepolicies":     {"firmwareSettings": "onReboot"},
		"firmwareschemas":        {"schema": map[string]any{}},
	} {
		where := "/apis/metal3.io/v1alpha1/namespaces/metal3/" + path
		status, answer, err := c.Send("POST", where, map[string]any{"metadata": meta("available"), "spec": spec})
		if err != nil || status != http.StatusCreated && status != http.StatusConflict { // the conductor may have made it
			t.Fatalf("%s: %v, %d: %s", path, err, status, answer)
		}
	}
}

// recordRedfish makes the node for a state. Its BMC's address has no listener, so its pending effects stay pending.
func recordRedfish(t *testing.T, c *conductor, state node.State) {
	t.Helper()
	n := c.Call(t, "POST", "/v1/nodes", map[string]any{
		"driver": "redfish", "name": nodeIn(state), "rescue_interface": "agent", "automated_clean": true,
		"driver_info": map[string]any{
			"redfish_address": "https://127.0.0.1:9", "redfish_system_id": "/redfish/v1/Systems/" + nodeIn(state),
			"redfish_username": "admin",
			"redfish_password": recordedPassword,
			"deploy_kernel":    "http://127.0.0.1:9/kernel", "deploy_ramdisk": "http://127.0.0.1:9/initrd",
			"rescue_kernel": "http://127.0.0.1:9/kernel", "rescue_ramdisk": "http://127.0.0.1:9/initrd",
		},
		"instance_info": map[string]any{"image_source": "http://127.0.0.1:9/image.raw", "image_disk_format": "raw",
			"image_checksum": fmt.Sprintf("%064d", 0)},
	}, http.StatusCreated)
	i := slices.Index(slices.Sorted(maps.Keys(node.States)), state)
	c.Call(t, "POST", "/v1/ports",
		map[string]any{"node_uuid": n["uuid"], "address": fmt.Sprintf("52:54:00:00:00:%02x", i)}, http.StatusCreated)
}

// asked is the verb that brings a node on its way, and the state it is asked in.
type asked struct {
	from node.State
	body map[string]any
}

func waysInto() map[node.State]asked {
	target := func(verb string) map[string]any { return map[string]any{"target": verb} }
	steps := func(verb, kind, step string) map[string]any {
		return map[string]any{"target": verb, kind: []any{map[string]any{"interface": "deploy", "step": step}}}
	}
	rescue := map[string]any{"target": "rescue", "rescue_password": recordedPassword}
	return map[node.State]asked{
		node.Verifying:  {node.Enroll, target("manage")},
		node.Inspecting: {node.Manageable, target("inspect")}, node.InspectWait: {node.Manageable, target("inspect")},
		node.InspectFailed: {node.Manageable, target("inspect")},
		node.Adopting:      {node.Manageable, target("adopt")}, node.AdoptFailed: {node.Manageable, target("adopt")},
		node.Cleaning: {node.Manageable, target("provide")}, node.CleanWait: {node.Manageable, target("provide")},
		node.CleanHold:   {node.Manageable, steps("clean", "clean_steps", "erase_devices_metadata")},
		node.CleanFailed: {node.Manageable, target("provide")},
		node.Deploying:   {node.Available, target("active")}, node.DeployWait: {node.Available, target("active")},
		node.DeployHold: {node.Available, target("active")}, node.DeployFailed: {node.Available, target("active")},
		node.Servicing:     {node.Active, steps("service", "service_steps", "write_image")},
		node.ServiceWait:   {node.Active, steps("service", "service_steps", "write_image")},
		node.ServiceHold:   {node.Active, steps("service", "service_steps", "write_image")},
		node.ServiceFailed: {node.Active, steps("service", "service_steps", "write_image")},
		node.Rescuing:      {node.Active, rescue}, node.RescueWait: {node.Active, rescue},
		node.RescueFailed: {node.Active, rescue},
		node.Unrescuing:   {node.Rescue, target("unrescue")}, node.UnrescueFailed: {node.Rescue, target("unrescue")},
		node.Deleting: {node.Active, target("deleted")},
	}
}

// inStore does something to a data folder that no conductor serves.
func inStore(t *testing.T, dir string, do func(ctx context.Context, s *store.Database)) {
	t.Helper()
	keys, err := Keys(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), filepath.Join(dir, "ferrite.db"), store.Options{Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	do(t.Context(), s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func change(t *testing.T, s *store.Database, c node.Change) node.Node {
	t.Helper()
	n, err := s.Commit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// stableStates puts each Redfish node into the stable state that its way begins
// in, and returns the verbs.
func stableStates(t *testing.T, dir string) map[node.State]map[string]any {
	t.Helper()
	verbs, ways := map[node.State]map[string]any{}, waysInto()
	inStore(t, dir, func(ctx context.Context, s *store.Database) {
		for state := range node.States {
			n, err := s.Node(ctx, nodeIn(state))
			if err != nil {
				t.Fatal(err)
			}
			n.ProvisionState = state
			if way, ok := ways[state]; ok {
				n.ProvisionState, verbs[state] = way.from, way.body
			}
			if state == node.Error {
				n.LastError = "the instance could not be torn down"
			}
			n.PowerState = node.PowerOff
			change(t, s, node.Change{Save: &n})
		}
	})
	return verbs
}

// recordRest makes the short-lived records by the store's own writes, and leaves the newest of them in the WAL.
func recordRest(t *testing.T, dir string) {
	t.Helper()
	snapshot := t.TempDir()
	inStore(t, dir, func(ctx context.Context, s *store.Database) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		for state, info := range node.States {
			n, err := s.Node(ctx, nodeIn(state))
			if err != nil {
				t.Fatal(err)
			}
			if n.ProvisionState == state {
				continue
			}
			c := node.Change{Save: &n, History: []node.HistoryEntry{{
				UUID: uuid.NewString(), NodeUUID: n.UUID, CreatedAt: now, Severity: "INFO", EventType: "recorded",
				Event: string(state), State: state,
			}}}
			if c.Finish, err = s.PendingEffect(ctx, n.UUID); err != nil {
				t.Fatal(err)
			}
			n.ProvisionState, n.TargetProvisionState, n.Chore = state, info.Target, ""
			switch info.Class { //nolint:exhaustive // the others need no more than their state
			case node.Waiting:
				n.Deadline = now.Add(time.Hour)
				n.Agent = node.Agent{URL: "https://127.0.0.1:9", Version: "11.0.0", Token: recordedPassword, TokenSent: true}
			case node.Failed:
				n.Run, n.LastError = nil, "failed when it was recorded"
			}
			change(t, s, c)
		}
		lived, err := s.Node(ctx, "lived")
		if err != nil {
			t.Fatal(err)
		}
		recordLived(ctx, t, s, lived, now)
		recordLogs(t, dir, lived.UUID)
		if err := os.CopyFS(snapshot, os.DirFS(dir)); err != nil { // without writers the files are as after a kill
			t.Fatal(err)
		}
	})
	for _, name := range []string{"ferrite.db", "ferrite.db-wal"} {
		text, err := os.ReadFile(filepath.Join(snapshot, name))
		if err != nil || len(text) == 0 {
			t.Fatalf("%s: %d bytes, %v", name, len(text), err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func recordLived(ctx context.Context, t *testing.T, s *store.Database, lived node.Node, now time.Time) {
	t.Helper()
	value := "Enabled"
	statement := nodeapi.EraseStatement{UUID: uuid.NewString(), NodeUUID: lived.UUID, NodeName: lived.Name, SignedAt: now,
		Report: json.RawMessage(`{"disks":[]}`)}
	signed, err := statement.Sign(recordedEraseKey())
	if err != nil {
		t.Fatal(err)
	}
	report := &node.EraseReport{Record: node.Record{UUID: statement.UUID, CreatedAt: now}, NodeUUID: lived.UUID,
		NodeName: lived.Name}
	if report.Payload, report.Signature, err = signed.Signed(); err != nil {
		t.Fatal(err)
	}
	change(t, s, node.Change{
		Save: &lived, PutEraseReport: report,
		Inspected: &node.Inspected{Inventory: json.RawMessage(`{"memory":{"physical_mb":1024}}`),
			PluginData: json.RawMessage(`{}`)},
		HardwareReport: &node.HardwareReport{BIOS: []node.BIOSSetting{{Name: "LogicalProc", Value: &value, CreatedAt: now}}},
	})
	change(t, s, node.Change{PutAllocation: &node.Allocation{
		Record: node.Record{UUID: uuid.NewString(), CreatedAt: now}, Name: "waiting", State: node.Allocating,
		ResourceClass: "large",
	}})
	for _, l := range []node.Lease{{MAC: "52:54:00:00:00:01", IP: "192.0.2.10", Static: true},
		{MAC: "52:54:00:00:00:02", IP: "192.0.2.11", Expires: now.Add(time.Hour)}} {
		if err := s.SaveLease(ctx, l); err != nil {
			t.Fatal(err)
		}
	}
}

func recordLogs(t *testing.T, dir, id string) {
	t.Helper()
	logs, err := bootlog.Open(filepath.Join(dir, "logs"), bootlog.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if err := logs.Append(id, "0123456789abcdef", 1, []string{"the agent starts", "the agent ends"}); err != nil {
		t.Fatal(err)
	}
}
