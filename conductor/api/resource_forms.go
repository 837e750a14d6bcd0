package api

import (
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The forms of what is not made of a table of fields.

func traitsForm() schema {
	return schema{"type": "object", "required": []string{"traits"}, "additionalProperties": false, "properties": schema{
		"traits": schema{"type": "array", "maxItems": node.MaxTraits, "items": schema{"type": "string", "maxLength": maxText}},
	}}
}

func bootDeviceForm() schema {
	return schema{"type": "object", "required": []string{"boot_device"}, "additionalProperties": false, "properties": schema{
		"boot_device": textForm(maxText), "persistent": flagForm(),
	}}
}

func inventoryForm() schema {
	return schema{"type": "object", "required": []string{"inventory", "plugin_data"}, "additionalProperties": false, "properties": schema{
		"inventory": objectForm(), "plugin_data": objectForm(),
	}}
}

func historyForm() schema {
	text := schema{"type": []string{"string", "null"}}
	newer := schema{"type": []string{"string", "null"}, "x-since": nodeapi.Version(115)}
	return schema{named: "history_entry", "type": "object", "required": []string{"uuid", "created_at", "severity", "event"}, "properties": schema{
		"uuid": schema{"type": "string", "format": "uuid"}, "created_at": timeForm(), "severity": text, "event": text, "event_type": text,
		"conductor": text, "user": text, "state": newer, "target_provision_state": newer, "links": linksForm(),
		"project":          schema{"type": []string{"string", "null"}, "x-since": nodeapi.Version(113)},
		"duration_seconds": schema{"type": []string{"number", "null"}, "x-since": nodeapi.Version(115)},
	}, "additionalProperties": false}
}

// driverForm has default_x_interface and enabled_x_interfaces besides.
func driverForm() schema {
	return schema{named: "driver", "type": "object", "required": []string{"name", "hosts", "links"}, "properties": schema{
		"name": schema{"type": "string"}, "hosts": formOf([]string{}), "links": linksForm(), "properties": linksForm(), "type": wordForm("dynamic", "classic"),
	}}
}

func conductorForm() schema {
	return schema{named: "conductor", "type": "object", "additionalProperties": false, "properties": schema{
		"hostname": schema{"type": "string"}, "conductor_group": schema{"type": "string"}, "alive": schema{"type": "boolean"}, "links": linksForm(),
		"drivers": formOf([]string{}), "created_at": timeForm(), "updated_at": timeForm(),
	}}
}

// eventsForm is what takeEvents checks.
func eventsForm() schema {
	properties, required := schema{}, []string{}
	for _, k := range eventKeys() {
		properties[k.name] = schema{"type": []string{"string", "null"}}
		if k.required {
			properties[k.name] = schema{"type": "string"}
			required = append(required, k.name)
		}
	}
	properties["event"] = schema{"enum": eventTypes()}
	event := schema{"type": "object", "required": required, "additionalProperties": false, "properties": properties}
	return schema{"type": "object", "required": []string{"events"}, "additionalProperties": false, "properties": schema{
		"events": schema{"type": "array", "minItems": 1, "items": event},
	}}
}

// powerForm is what setPower takes.
func powerForm() schema {
	targets := make([]node.PowerState, 0, len(powerTargets()))
	for target := range powerTargets() {
		targets = append(targets, target)
	}
	return schema{"type": "object", "required": []string{"target"}, "additionalProperties": false, "properties": schema{
		"target": wordForm(targets...), "timeout": schema{"type": []string{"integer", "null"}, "minimum": 1, "x-since": nodeapi.Version(27)},
	}}
}

// provisionForm is what provision takes.
func provisionForm() schema {
	targets := []schema{}
	for _, target := range sortedKeys(verbs()) {
		targets = append(targets, schema{"const": target, "x-since": nodeapi.Version(verbs()[target].since)})
	}
	steps := func(since int) schema {
		return schema{"type": []string{"array", "null"}, "items": schema{"type": "object"}, "x-since": nodeapi.Version(since)}
	}
	return schema{"type": "object", "required": []string{"target"}, "additionalProperties": false, "properties": schema{
		"target": schema{"oneOf": targets}, "configdrive": schema{"type": []string{"string", "object", "null"}},
		"clean_steps": steps(15), "deploy_steps": steps(69), "service_steps": steps(87),
		"rescue_password": schema{"type": "string", "x-since": nodeapi.Version(38)},
		"disable_ramdisk": schema{"type": []string{"boolean", "null"}, "x-since": nodeapi.Version(70)},
		"runbook":         schema{"type": []string{"string", "null"}, "x-since": nodeapi.Version(92)},
	}}
}
