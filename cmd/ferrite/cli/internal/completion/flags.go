package completion

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
	"github.com/ferrite-metal/ferrite/proto/rootdevice"
)

// flagSource lists the possible values of a flag; nil for free text and numbers.
func flagSource(cmd *cobra.Command, flag string) source {
	switch path := cmd.CommandPath(); {
	case cmd.Name() == "unset":
		return keys(flag)
	case path == "ferrite node indicator set" && flag == "state":
		return func(request) ([]string, error) { return []string{"on", "off", "blinking"}, nil }
	case path == "ferrite allocation list" && flag == "owner":
		return values("allocations", "owner")
	}
	if kind, ok := strings.CutSuffix(flag, "-interface"); ok {
		return interfaces(kind)
	}
	if list, ok := fixed()[flag]; ok {
		return func(request) ([]string, error) { return list, nil }
	}
	for _, f := range nodeapi.NodeFields() { // values that other nodes have
		if f.List != "" && f.FlagName() == flag && flag != "driver" {
			return values("nodes", f.Name)
		}
	}
	return map[string]source{
		"abandon":          nodes,
		"address":          addresses,
		"candidate-node":   nodes,
		"chassis":          uuids("chassis", "description"),
		"conductor":        conductors,
		"driver":           drivers,
		"driver-info":      driverInfo,
		"driver-info-file": driverInfo,
		"fields":           fields(""),
		"image":            images,
		"instance":         values("nodes", "instance_uuid"),
		"mac":              addresses,
		"namespace":        namespaces,
		"node":             nodes,
		"output":           outputs,
		"parent-node":      uuids("nodes", "name"),
		"portgroup":        uuids("portgroups", "name"),
		"portgroup-uuid":   uuids("portgroups", "name"),
		"root-device":      hints,
		"runbook":          records("runbooks", "description"),
		"sort":             fields(":desc"),
		"subnet":           subnets,
		"trait":            traitsInUse,
	}[flag]
}

// fixed holds the flags with values that are known without a conductor.
func fixed() map[string][]string {
	return map[string][]string{
		"device":                {"cdrom", "disk", "floppy"},
		"download":              {"http", "local", "swift"},
		"http-method":           {"DELETE", "GET", "PATCH", "POST", "PUT"},
		"image-format":          {"raw", "qcow2"},
		"local-link-connection": {"switch_id=", "port_id=", "switch_info="},
		"mode": {"active-backup", "802.3ad", "balance-rr", "balance-xor", "broadcast", "balance-tlb",
			"balance-alb"},
		"os-system-scope": {"all"},
		"phase":           {"main"},
		"property":        {"cpu_arch=", "memory_mb=", "local_gb=", "capabilities=", "root_device="},
		"provision-state": nodeapi.ProvisionStates(),
		"replace": {"driver:", "boot:", "deploy:", "inspect:", "network:", "power:", "conductor_group:", "owner:",
			"lessee:"},
		"select": {"name=", "owner=", "conductor_group=", "provision_state=", "resource_class=", "driver="},
		"state":  {"allocating", "active", "error"},
		"type":   {"iqn", "ip", "mac", "wwnn", "wwpn", "port", "portgroup"},
		"types": {"node", "node.created", "node.state", "node.power", "node.maintenance", "node.updated", "node.deleted",
			"node.ports", "boot.stage", "step.progress"},
		"validate":    {"strict", "warn", "ignore"},
		"volume-type": {"iscsi", "fibre_channel"},
	}
}

// outputs are the forms that a command prints in.
func outputs(r request) ([]string, error) { return client.Outputs(r.cmd), nil }

// hints are the keys that root device hints can have.
func hints(request) ([]string, error) {
	var keys []string
	for _, key := range rootdevice.Keys() {
		keys = append(keys, key+"=")
	}
	return keys, nil
}

// namespaces are the namespaces of hosts.
func namespaces(r request) ([]string, error) {
	k, _ := hostapi.KindOf(hostapi.KindHost)
	var list struct {
		Items []struct {
			Metadata hostapi.ObjectMeta `json:"metadata"`
		} `json:"items"`
	}
	err := r.session.Client.Do(r.ctx, "GET", "/apis/"+k.APIVersion()+"/"+k.Plural, nil, &list)
	names := []string{hostapi.DefaultNamespace}
	for _, d := range list.Items {
		names = append(names, d.Metadata.Namespace)
	}
	return names, err
}
