package api

import (
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The forms of resources without a table of fields.

func traitsForm() rest.Schema {
	return rest.Schema{"type": "object", "required": []string{"traits"}, "additionalProperties": false,
		"properties": rest.Schema{
			"traits": rest.Schema{
				"type": "array", "maxItems": node.MaxTraits, "items": rest.Schema{"type": "string", "maxLength": rest.MaxText},
			},
		}}
}

func bootDeviceForm() rest.Schema {
	return rest.Schema{"type": "object", "required": []string{"boot_device"}, "additionalProperties": false,
		"properties": rest.Schema{
			"boot_device": rest.TextForm(rest.MaxText), "persistent": rest.FlagForm(),
		}}
}

func inventoryForm() rest.Schema {
	return rest.Schema{"type": "object", "required": []string{"inventory", "plugin_data"}, "additionalProperties": false,
		"properties": rest.Schema{
			"inventory": rest.ObjectForm(), "plugin_data": rest.ObjectForm(),
		}}
}

func historyForm() rest.Schema {
	text := rest.Schema{"type": []string{"string", "null"}}
	newer := rest.Schema{"type": []string{"string", "null"}, "x-since": nodeapi.Version(115)}
	return rest.Schema{rest.Named: "history_entry", "type": "object",
		"required": []string{"uuid", "created_at", "severity", "event"}, "properties": rest.Schema{
			"uuid": rest.Schema{"type": "string", "format": "uuid"}, "created_at": rest.TimeForm(), "severity": text,
			"event": text, "event_type": text,
			"conductor": text, "user": text, "state": newer, "target_provision_state": newer, "links": rest.LinksForm(),
			"project":          rest.Schema{"type": []string{"string", "null"}, "x-since": nodeapi.Version(113)},
			"duration_seconds": rest.Schema{"type": []string{"number", "null"}, "x-since": nodeapi.Version(115)},
		}, "additionalProperties": false}
}

// driverForm has default_x_interface and enabled_x_interfaces besides.
func driverForm() rest.Schema {
	return rest.Schema{rest.Named: "driver", "type": "object", "required": []string{"name", "hosts", "links"},
		"properties": rest.Schema{
			"name": rest.Schema{"type": "string"}, "hosts": rest.FormOf([]string{}), "links": rest.LinksForm(),
			"properties": rest.LinksForm(), "type": rest.WordForm("dynamic", "classic"),
		}}
}

func conductorForm() rest.Schema {
	return rest.Schema{rest.Named: "conductor", "type": "object", "additionalProperties": false, "properties": rest.Schema{
		"hostname": rest.Schema{"type": "string"}, "conductor_group": rest.Schema{"type": "string"},
		"alive": rest.Schema{"type": "boolean"}, "links": rest.LinksForm(),
		"drivers": rest.FormOf([]string{}), "created_at": rest.TimeForm(), "updated_at": rest.TimeForm(),
	}}
}

// eventsForm is the body that takeEvents checks.
func eventsForm() rest.Schema {
	properties, required := rest.Schema{}, []string{}
	for _, k := range eventKeys() {
		properties[k.name] = rest.Schema{"type": []string{"string", "null"}}
		if k.required {
			properties[k.name] = rest.Schema{"type": "string"}
			required = append(required, k.name)
		}
	}
	properties["event"] = rest.Schema{"enum": eventTypes()}
	event := rest.Schema{"type": "object", "required": required, "additionalProperties": false, "properties": properties}
	return rest.Schema{"type": "object", "required": []string{"events"}, "additionalProperties": false,
		"properties": rest.Schema{
			"events": rest.Schema{"type": "array", "minItems": 1, "items": event},
		}}
}

// powerForm is the body that setPower reads.
func powerForm() rest.Schema {
	targets := make([]node.PowerState, 0, len(powerTargets()))
	for target := range powerTargets() {
		targets = append(targets, target)
	}
	return rest.Schema{"type": "object", "required": []string{"target"}, "additionalProperties": false,
		"properties": rest.Schema{
			"target":  rest.WordForm(targets...),
			"timeout": rest.Schema{"type": []string{"integer", "null"}, "minimum": 1, "x-since": nodeapi.Version(27)},
		}}
}

// provisionForm is the body that provision reads.
func provisionForm() rest.Schema {
	targets := []rest.Schema{}
	for _, target := range rest.SortedKeys(verbs()) {
		targets = append(targets, rest.Schema{"const": target, "x-since": nodeapi.Version(verbs()[target].since)})
	}
	steps := func(since int) rest.Schema {
		return rest.Schema{"type": []string{"array", "null"}, "items": rest.Schema{"type": "object"},
			"x-since": nodeapi.Version(since)}
	}
	return rest.Schema{"type": "object", "required": []string{"target"}, "additionalProperties": false,
		"properties": rest.Schema{
			"target": rest.Schema{"oneOf": targets}, "configdrive": rest.Schema{"type": []string{"string", "object", "null"}},
			"clean_steps": steps(15), "deploy_steps": steps(69), "service_steps": steps(87),
			"rescue_password": rest.Schema{"type": "string", "x-since": nodeapi.Version(38)},
			"disable_ramdisk": rest.Schema{"type": []string{"boolean", "null"}, "x-since": nodeapi.Version(70)},
			"runbook":         rest.Schema{"type": []string{"string", "null"}, "x-since": nodeapi.Version(92)},
		}}
}
