package api

import (
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

const both = rest.Creatable | rest.Patchable

// nodeTable is every field of a node as the API reads and shows it. Where the policy has a rule for reading a field,
// only callers that it allows see the field.
func nodeTable(rules auth.Rules, leaders Leaders) *rest.Table[node.Node] {
	fields := make([]rest.Field[node.Node], len(node.Fields))
	checks := nodeChecks(leaders)
	for i := range node.Fields {
		f := &node.Fields[i]
		fields[i] = nodeField(f)
		if check := checks[f.Name]; check != nil {
			fields[i].Set = check(fields[i].Set)
		}
		if rules[auth.Key(http.MethodGet, "/v1/nodes/:node", f.Name)] != nil {
			fields[i] = guarded(rules, fields[i], f.Kind == node.ObjectField)
		}
	}
	return rest.NewTable("node", fields)
}

// nodeField is a field by its kind.
func nodeField(f *node.Field) (row rest.Field[node.Node]) {
	var use rest.Use
	if f.Is(node.OnCreate) {
		use |= rest.Creatable
	}
	if f.Is(node.OnPatch) {
		use |= rest.Patchable
	}
	switch f.Kind {
	case node.TextField:
		row = textField(f, use)
	case node.UUIDField:
		row = rest.UUID(f.Name, f.Since, use, at[string](f))
	case node.FlagField:
		row = rest.Flag(f.Name, f.Since, use, false, at[bool](f))
	case node.OptionalField:
		row = rest.OptionalFlag(f.Name, f.Since, use, at[*bool](f))
	case node.ObjectField:
		row = rest.Object(f.Name, f.Since, use, f.Mask, at[map[string]any](f))
	case node.TimeField:
		row = rest.Time(f.Name, f.Since, timeAt(f))
	case node.InterfaceField:
		row = interfaceField(f.Name, f.InterfaceKind(), f.Since, use)
	case node.ListField, node.ComputedField:
		row = rest.Computed[node.Node](f.Name, f.Since, use, nil)
	}
	if shown, own := nodeShows()[f.Name]; own {
		row.Show = shown
	}
	if row.Show == nil { // a list below the node
		row.Use |= rest.FullOnly
		row.Show = func(dst []byte, v *rest.View[node.Node]) []byte {
			return rest.AppendLinks(dst, v.Base, "nodes/", v.Of.UUID, "/", f.Name)
		}
	}
	return row
}

// at is where a node keeps the value of a field.
func at[T any](f *node.Field) func(*node.Node) *T {
	return func(n *node.Node) *T { return f.At(n).(*T) } //nolint:forcetypeassert // TestFields: its kind is its type
}

func textField(f *node.Field, use rest.Use) rest.Field[node.Node] {
	switch f.At(&node.Node{}).(type) {
	case *node.State:
		return rest.Text(f.Name, f.Since, use, at[node.State](f))
	case *node.PowerState:
		return rest.Text(f.Name, f.Since, use, at[node.PowerState](f))
	}
	return rest.Sized(f.Name, f.Since, use, f.MaxLength(), at[string](f))
}

// timeAt is a time that a node has, or a time that it may have.
func timeAt(f *node.Field) func(*node.Node) *time.Time {
	if _, always := f.At(&node.Node{}).(*time.Time); always {
		return at[time.Time](f)
	}
	set := at[*time.Time](f)
	return func(n *node.Node) *time.Time { return *set(n) }
}

// nodeShows are the fields that are not shown as the record has them.
func nodeShows() map[string]func(dst []byte, v *rest.View[node.Node]) []byte {
	type view = *rest.View[node.Node]
	return map[string]func(dst []byte, v view) []byte{
		"clean_step":           showStep("clean"),
		"conductor":            func(dst []byte, v view) []byte { return rest.AppendText(dst, v.Host) },
		"conductor_group":      func(dst []byte, v view) []byte { return rest.AppendString(dst, v.Of.ConductorGroup) },
		"deploy_step":          showStep("deploy"),
		"driver_internal_info": showInternalInfo,
		"links":                func(dst []byte, v view) []byte { return rest.AppendLinks(dst, v.Base, "nodes/", v.Of.UUID) },
		"provision_state":      showProvisionState,
		"reservation":          func(dst []byte, v view) []byte { return rest.AppendText(dst, v.Reserved) },
		"service_step":         showStep("service"),
		"traits":               func(dst []byte, v view) []byte { return rest.AppendTexts(dst, v.Of.Traits) },
	}
}

// defaultNodeFields are the fields that a list shows by default.
func defaultNodeFields() []string {
	return []string{"instance_uuid", "maintenance", "power_state", "provision_state", "uuid", "name", "links"}
}

// stateFields are the fields of GET /v1/nodes/{node}/states.
func stateFields() []string {
	return []string{
		"console_enabled", "last_error", "power_state", "provision_state", "target_power_state", "target_provision_state",
		"provision_updated_at", "raid_config", "target_raid_config", "boot_mode", "secure_boot",
	}
}
