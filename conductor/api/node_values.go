package api

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Fields of a node that are not plain values.

// setter takes a decoded JSON value for a field of a node.
type setter = func(*node.Node, any) error

// nodeChecks are the checks of fields beyond the checks of their kind.
func nodeChecks(leaders Leaders) map[string]func(setter) setter {
	return map[string]func(setter) setter{
		"conductor_group": func(set setter) setter { return groupSetter(leaders, set) },
		"driver": refusing(func(_ *node.Node, value any) error {
			if value == nil || value == "" {
				return &rest.SchemaError{Text: "'driver' is a required property"}
			}
			return nil
		}),
		// A name has at least one character, null is none.
		"instance_name": refusing(func(_ *node.Node, value any) error {
			if value == "" {
				return &rest.SchemaError{Text: "'' is too short"}
			}
			return nil
		}),
		"name": refusing(func(_ *node.Node, value any) error {
			if name, ok := value.(string); ok {
				return checkName(name)
			}
			return nil
		}),
		"network_data": refusing(checkNetworkData),
		"properties":   refusing(checkProperties),
	}
}

// refusing checks a value before it is set.
func refusing(check setter) func(setter) setter {
	return func(set setter) setter {
		return func(n *node.Node, value any) error {
			if err := check(n, value); err != nil {
				return err
			}
			return set(n, value)
		}
	}
}

// groupSetter refuses a group without a conductor: its nodes would be left alone.
func groupSetter(leaders Leaders, set setter) setter {
	return func(n *node.Node, value any) error {
		if err := set(n, value); err != nil {
			return err
		}
		n.ConductorGroup = strings.ToLower(n.ConductorGroup) // as Ironic does
		if group := n.ConductorGroup; !leaders.Known(group) {
			return rest.BadRequest("No valid host was found. Reason: No conductor service registered for "+
				`conductor group "%s".`, group)
		}
		return nil
	}
}

// interfaceField is <kind>_interface. null means the default, which the
// conductor fills in.
func interfaceField(name, kind string, since int, use rest.Use) rest.Field[node.Node] {
	f := rest.Field[node.Node]{Name: name, Since: since, Use: use | rest.Sortable, Form: rest.TextForm(rest.MaxText)}
	f.Show = func(dst []byte, v *rest.View[node.Node]) []byte { return rest.AppendText(dst, v.Of.Interfaces[kind]) }
	f.Get = func(n *node.Node) any { return rest.Nullable(n.Interfaces[kind]) }
	f.Set = func(n *node.Node, value any) error {
		name, err := rest.ReadText(value, rest.MaxText)
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

// reservedNames cannot be names: they stand where a name could in a path.
func reservedNames() []string {
	return []string{"maintenance", "management", "states", "vendor_passthru", "detail", "validate"}
}

func checkName(name string) error {
	if slices.Contains(reservedNames(), name) {
		return nodeapi.NewFault(http.StatusBadRequest,
			`The word %q is reserved and can not be used as a node name. Reserved words are: %s.`, name,
			strings.Join(reservedNames(), ", "))
	}
	if !node.ValidName(name) {
		return nodeapi.NewFault(http.StatusBadRequest, "Cannot create node with invalid name '%s'", name)
	}
	return nil
}

// checkProperties checks the three sizes schedulers do arithmetic with.
func checkProperties(n *node.Node, value any) error {
	m, _ := value.(map[string]any)
	var wrong []string
	for _, key := range []string{"cpus", "local_gb", "memory_mb"} {
		if v, ok := m[key]; ok && v != nil && !natural(v) {
			wrong = append(wrong, fmt.Sprintf("%s=%s", key, strings.Trim(rest.Python(v), "'")))
		}
	}
	if wrong != nil {
		return nodeapi.NewFault(http.StatusBadRequest,
			"The following properties for node %s should be non-negative integers, but provided values are: %s", n.UUID,
			strings.Join(wrong, ", "))
	}
	return nil
}

// natural reports whether a value is a number >= 0 without fraction, as a number or as text.
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
func showProvisionState(dst []byte, v *rest.View[node.Node]) []byte {
	s := v.Of.ProvisionState
	switch {
	case s == node.Available && v.Minor < 2:
		return append(dst, "null"...)
	case s == node.InspectWait && v.Minor < 39:
		s = node.Inspecting
	}
	return rest.AppendText(dst, string(s))
}

// showStep is the step an activity is at: {} when another runs, or none.
func showStep(activity string) func(dst []byte, v *rest.View[node.Node]) []byte {
	return func(dst []byte, v *rest.View[node.Node]) []byte {
		if r := v.Of.Run; r != nil && r.Activity == activity && r.Current() != nil {
			return rest.AppendObject(dst, stepObject(*r.Current()))
		}
		return append(dst, "{}"...)
	}
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

// showInternalInfo joins the values that Ironic keeps in one dictionary: the dictionary itself, the agent, the steps of
// the activity under way.
func showInternalInfo(dst []byte, v *rest.View[node.Node]) []byte {
	n := v.Of
	if n.Run == nil && n.Agent == (node.Agent{Since: n.Agent.Since}) && v.Status == nil {
		return rest.AppendObject(dst, nodeapi.Mask(n.DriverInternalInfo))
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
	if v.Status != nil {
		info["ferrite_status"] = why(*v.Status)
	}
	if r := n.Run; r != nil && slices.Contains([]string{"clean", "deploy", "service"}, r.Activity) {
		steps := make([]any, len(r.Steps))
		for i, s := range r.Steps {
			steps[i] = stepObject(s)
		}
		info[r.Activity+"_steps"], info[r.Activity+"_step_index"] = steps, r.Index
	}
	return rest.AppendObject(dst, info)
}

// why explains why a node is not at rest: its step, the event it waits for, and the last error. "ferrite node status"
// shows more.
func why(s nodeapi.Status) map[string]any {
	m := map[string]any{}
	for key, value := range map[string]string{
		"step": s.Step, "waiting_for": s.WaitingFor, "since": stamp(s.Since), "waiting_since": stamp(s.WaitingSince),
		"until": stamp(s.Until), "last_error": s.LastError, "try": s.Try,
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
