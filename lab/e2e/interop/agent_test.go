package interop

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// ipaHostname is the hostname in the config drive.
const ipaHostname = "host-of-the-config-drive"

// ipaJournal is the log of the agent's machine.
const ipaJournal = "kernel: Linux version 5.14\nironic-python-agent: image checksum does not match\n"

// chapter is one request, and the expected events on the machine.
type chapter struct {
	name  string
	image map[string]any // instance_info, set before
	body  map[string]any
	how   manner
	state string // in which the node comes to rest
	says  string // part of last_error
	log   string // part of the node's log of this boot; "" where the agent is not asked for any
	diary []string
	keeps map[string]any // of driver_internal_info
}

// booting lists the machine's events in each boot of the ramdisk.
func booting(commands ...string) []string {
	return append([]string{"boots from network", "looks itself up"}, commands...)
}

var (
	ipaClean = []string{
		"execute_clean_step", "  deploy.erase_devices_metadata",
		"execute_clean_step", "  deploy.erase_devices",
	}
	ipaDeploy = map[string]any{
		"target": "active", "configdrive": map[string]any{"meta_data": map[string]any{"hostname": ipaHostname}},
	}
)

// TestInteropAgent takes a node through its life with a foreign agent, on a machine behind a BMC. The conductor has
// passwords, and no ramdisk gives it one.
func TestInteropAgent(t *testing.T) {
	c := servetest.StartGuarded(t, serve.Command(), false, "--erase-devices-priority", "10",
		"--enable-bios-bootloader-install").Conductor
	m := newIPAMachine(t, c)
	enrollIPA(t, c, m)
	var failed agentapi.Results
	recorded(t, "commands-failed", &failed)
	failure := failed.Commands[len(failed.Commands)-1].Error
	for _, ch := range []chapter{
		{name: "manage", state: "manageable"},
		{
			name: "inspect", state: "manageable", how: manner{inspects: true},
			diary: []string{"boots from network", "sends inspection data"},
		},
		{
			name: "provide", state: "available", how: manner{busy: 1, updated: true},
			diary: booting(append([]string{
				"is busy", "get_clean_steps", "execute_clean_step", "  is another than it was", "get_clean_steps",
			}, ipaClean...)...),
		},
		{
			name: "deploy with a wrong checksum", body: ipaDeploy, state: "deploy failed", says: failure.Details,
			how:   manner{fails: map[string]*agentapi.CommandError{"write_image": failure}},
			log:   "==> journal <==\n" + ipaJournal,
			diary: booting("get_deploy_steps", "execute_deploy_step", "  deploy.write_image", "collect_system_logs"),
		},
		{
			name: "deploy", body: ipaDeploy, state: "active", how: manner{slow: true},
			diary: append(booting("get_deploy_steps", "execute_deploy_step", "  deploy.write_image",
				"install_bootloader", "sync", "power_off"), "boots from disk"),
		},
		{
			name: "rescue", body: map[string]any{"target": "rescue", "rescue_password": "let me in"}, state: "rescue",
			diary: booting("finalize_rescue"),
		},
		{name: "unrescue", state: "active", diary: []string{"boots from disk"}},
		{name: "deleted", state: "available", diary: booting(append([]string{"get_clean_steps"}, ipaClean...)...)},
		{
			name: "deploy of a partition", image: ipaPartition, body: ipaDeploy, state: "active",
			diary: append(booting("get_deploy_steps", "execute_deploy_step", "  deploy.write_image",
				"get_partition_uuids", "install_bootloader", "sync", "power_off"), "boots from disk"),
			keeps: map[string]any{"root_uuid_or_disk_id": ipaRoot, "is_whole_disk_image": false},
		},
	} {
		if !t.Run(ch.name, func(t *testing.T) { ch.play(t, c, m) }) {
			return // the later chapters depend on it
		}
	}
}

// enrollIPA makes the node of the machine, and its port.
func enrollIPA(t *testing.T, c *servetest.Conductor, m *ipaMachine) {
	t.Helper()
	sum := strings.Repeat("ab", 32)
	n := c.Call(t, http.MethodPost, "/v1/nodes", map[string]any{
		"name": "metal-1", "driver": "redfish", "inspect_interface": "agent", "rescue_interface": "agent",
		"driver_info": map[string]any{
			"redfish_address": m.bmc.URL, "redfish_username": "admin", "redfish_password": bmcPassword,
			"deploy_kernel": "http://192.0.2.1/kernel", "deploy_ramdisk": "http://192.0.2.1/ramdisk",
		},
		"instance_info": map[string]any{
			"image_source": "http://192.0.2.1/tiny.qcow2", "image_disk_format": "qcow2", "image_os_hash_algo": "sha256",
			"image_os_hash_value": sum,
		},
	}, http.StatusCreated)
	c.Call(t, http.MethodPost, "/v1/ports", map[string]any{"node_uuid": n["uuid"], "address": ipaMAC}, http.StatusCreated)
}

// play makes the request, waits, and compares the events.
func (ch chapter) play(t *testing.T, c *servetest.Conductor, m *ipaMachine) {
	m.will(ch.how)
	if ch.image != nil {
		c.Call(t, http.MethodPatch, "/v1/nodes/metal-1",
			[]any{map[string]any{"op": "add", "path": "/instance_info", "value": ch.image}}, http.StatusOK)
	}
	body := ch.body
	if body == nil {
		body = map[string]any{"target": ch.name}
	}
	c.Call(t, http.MethodPut, "/v1/nodes/metal-1/states/provision", body, http.StatusAccepted)
	n := c.Until(t, "metal-1", ch.state)
	if last, _ := n["last_error"].(string); !strings.Contains(last, ch.says) || ch.says == "" && last != "" {
		t.Errorf("last_error is %q, want %q", last, ch.says)
	}
	internal, _ := n["driver_internal_info"].(map[string]any)
	for key, want := range ch.keeps {
		if internal[key] != want {
			t.Errorf("driver_internal_info/%s is %v, want %v", key, internal[key], want)
		}
	}
	if diff := cmp.Diff(ch.diary, m.read()); diff != "" {
		t.Errorf("what happens on the machine (-want +got):\n%s", diff)
	}
	if ch.log == "" {
		return
	}
	status, log, err := c.Send(http.MethodGet, nodeapi.FerriteRoot+"/nodes/metal-1/logs", nil)
	if err != nil || status != http.StatusOK || !strings.Contains(string(log), ch.log) {
		t.Errorf("the node's log is answered %d, %v: %q", status, err, log)
	}
	_, history, err := c.Send(http.MethodGet, "/v1/nodes/metal-1/history/detail", nil)
	if err != nil ||
		!strings.Contains(string(history),
			"the agent's logs were collected, and are the node's log of this boot: 2 files, 3 lines") {
		t.Errorf("the history does not tell of the logs: %v, %s", err, history)
	}
}
