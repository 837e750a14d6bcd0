package api

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Fields of a node that are not plain values.

// interfaceField is <kind>_interface. null means the default, which the
// conductor fills in.
func interfaceField(kind string, since int) field[node.Node] {
	f := field[node.Node]{name: kind + "_interface", since: since, use: both | sortable, form: textForm(maxText)}
	f.show = func(dst []byte, v *view[node.Node]) []byte { return appendText(dst, v.of.Interfaces[kind]) }
	f.get = func(n *node.Node) any { return nullable(n.Interfaces[kind]) }
	f.set = func(n *node.Node, value any) error {
		name, err := asText(value, maxText)
		if err != nil {
			return err
		}
		if name == "" {
			delete(n.Interfaces, kind)
			return nil
		}
		if n.Interfaces == nil {
			n.Interfaces = map[string]string{}
		}
		n.Interfaces[kind] = name
		return nil
	}
	return f
}

func driverField() field[node.Node] {
	f := text("driver", 1, both, func(n *node.Node) *string { return &n.Driver })
	set := f.set
	f.set = func(n *node.Node, value any) error {
		if value == nil || value == "" {
			return &schemaError{"'driver' is a required property"}
		}
		return set(n, value)
	}
	return f
}

// conductorGroupField: a conductor is in the group without a name; nobody
// would look after a node of another.
func conductorGroupField() field[node.Node] {
	f := text("conductor_group", 46, both, func(n *node.Node) *string { return &n.ConductorGroup })
	f.show = func(dst []byte, v *view[node.Node]) []byte { return appendString(dst, v.of.ConductorGroup) }
	f.set = func(n *node.Node, value any) error {
		group, err := asText(value, maxText)
		if err == nil && group != "" {
			err = badRequest(`No valid host was found. Reason: No conductor service registered which supports driver %s for conductor group "%s".`, n.Driver, group)
		}
		return err
	}
	return f
}

func nameField() field[node.Node] {
	f := text("name", 5, both, func(n *node.Node) *string { return &n.Name })
	set := f.set
	f.set = func(n *node.Node, value any) error {
		if name, ok := value.(string); ok {
			if err := checkName(name); err != nil {
				return err
			}
		}
		return set(n, value)
	}
	return f
}

// instanceNameField: a name has at least one character, null is none.
func instanceNameField() field[node.Node] {
	f := text("instance_name", 104, both, func(n *node.Node) *string { return &n.InstanceName })
	set := f.set
	f.set = func(n *node.Node, value any) error {
		if value == "" {
			return &schemaError{"'' is too short"}
		}
		return set(n, value)
	}
	return f
}

// reservedNames cannot be names: they stand where a name could in a path.
func reservedNames() []string {
	return []string{"maintenance", "management", "states", "vendor_passthru", "detail", "validate"}
}

func checkName(name string) error {
	if slices.Contains(reservedNames(), name) {
		return nodeapi.NewFault(http.StatusBadRequest, `The word %q is reserved and can not be used as a node name. Reserved words are: %s.`, name, strings.Join(reservedNames(), ", "))
	}
	if !node.ValidName(name) {
		return nodeapi.NewFault(http.StatusBadRequest, "Cannot create node with invalid name '%s'", name)
	}
	return nil
}

// propertiesField checks the three sizes schedulers do arithmetic with.
func propertiesField() field[node.Node] {
	f := object("properties", 1, both, nil, func(n *node.Node) *map[string]any { return &n.Properties })
	set := f.set
	f.set = func(n *node.Node, value any) error {
		m, _ := value.(map[string]any)
		var wrong []string
		for _, key := range []string{"cpus", "local_gb", "memory_mb"} {
			if v, ok := m[key]; ok && v != nil && !natural(v) {
				wrong = append(wrong, fmt.Sprintf("%s=%s", key, strings.Trim(python(v), "'")))
			}
		}
		if wrong != nil {
			return nodeapi.NewFault(http.StatusBadRequest, "The following properties for node %s should be non-negative integers, but provided values are: %s", n.UUID, strings.Join(wrong, ", "))
		}
		return set(n, value)
	}
	return f
}

// natural: a number >= 0 without fraction, as a number or as text.
func natural(v any) bool {
	switch v := v.(type) {
	case float64:
		return v >= 0 && v == float64(int64(v))
	case int:
		return v >= 0
	case string:
		_, err := strconv.ParseUint(v, 10, 63)
		return err == nil
	}
	return false
}

// showProvisionState translates states that are newer than the microversion:
// "available" was null before 1.2, "inspect wait" was "inspecting" before 1.39.
func showProvisionState(dst []byte, v *view[node.Node]) []byte {
	s := v.of.ProvisionState
	switch {
	case s == node.Available && v.minor < 2:
		return append(dst, "null"...)
	case s == node.InspectWait && v.minor < 39:
		s = node.Inspecting
	}
	return appendText(dst, string(s))
}

// stepField is the step an activity is at: {} when another runs, or none.
func stepField(name string, since int, activity string) field[node.Node] {
	return shown(name, since, 0, func(dst []byte, v *view[node.Node]) []byte {
		if r := v.of.Run; r != nil && r.Activity == activity && r.Current() != nil {
			return appendObject(dst, stepObject(*r.Current()))
		}
		return append(dst, "{}"...)
	})
}

func stepObject(s node.Step) map[string]any {
	o := map[string]any{
		"interface": s.Interface, "step": s.Step, "priority": s.Priority,
		"abortable": s.Abortable, "reboot_requested": s.Reboot, "args": nil, "requires_ramdisk": s.InBand,
	}
	if s.Args != nil {
		o["args"] = nodeapi.Mask(s.Args)
	}
	return o
}

// showInternalInfo puts together what Ironic keeps in one bag: the bag itself,
// the agent, the steps of the activity under way.
func showInternalInfo(dst []byte, v *view[node.Node]) []byte {
	n := v.of
	if n.Run == nil && n.Agent == (node.Agent{Since: n.Agent.Since}) && v.status == nil {
		return appendObject(dst, nodeapi.Mask(n.DriverInternalInfo))
	}
	info := make(map[string]any, len(n.DriverInternalInfo)+6)
	for k, value := range nodeapi.Mask(n.DriverInternalInfo) {
		info[k] = value
	}
	for k, value := range map[string]string{"agent_url": n.Agent.URL, "agent_version": n.Agent.Version} {
		if value != "" {
			info[k] = value
		}
	}
	if n.Agent.Token != "" {
		info["agent_secret_token"] = nodeapi.Masked
	}
	if v.status != nil {
		info["ferrite_status"] = why(*v.status)
	}
	if r := n.Run; r != nil && slices.Contains([]string{"clean", "deploy", "service"}, r.Activity) {
		steps := make([]any, len(r.Steps))
		for i, s := range r.Steps {
			steps[i] = stepObject(s)
		}
		info[r.Activity+"_steps"], info[r.Activity+"_step_index"] = steps, r.Index
	}
	return appendObject(dst, info)
}

// why is what a node that is not at rest waits for, and what to do about it;
// "ferrite node status" tells more.
func why(s nodeapi.Status) map[string]any {
	m := map[string]any{}
	for key, value := range map[string]string{
		"step": s.Step, "waiting_for": s.WaitingFor, "since": stamp(s.Since), "waiting_since": stamp(s.WaitingSince), "until": stamp(s.Until), "last_error": s.LastError, "try": s.Try,
	} {
		if value != "" {
			m[key] = value
		}
	}
	if k := len(s.BootStages); k > 0 {
		m["last_boot_stage"] = s.BootStages[k-1].Name
	}
	if s.Progress != nil {
		m["progress"] = map[string]any{"done": s.Progress.Done, "total": s.Progress.Total, "rate": s.Progress.Rate}
	}
	return m
}

// stamp writes a time as Ironic does; "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
