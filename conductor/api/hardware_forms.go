package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The forms of what is asked and told of a node's hardware.

// objectWith is an object with these properties alone, of which some are required.
func objectWith(properties schema, required ...string) schema {
	s := schema{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// truthForm is yes or no, which may be spelt out.
func truthForm() schema { return schema{"type": []string{"boolean", "string"}} }

func consoleForm() schema {
	return objectWith(schema{"console_enabled": schema{"type": "boolean"}, "console_info": objectForm()}, "console_enabled", "console_info")
}

func indicatorStateForm() schema {
	return objectWith(schema{"state": wordForm(indicatorStates()...)}, "state")
}

func indicatorsForm() schema {
	text := schema{"type": "string"}
	one := objectWith(schema{"name": text, "component": text, "readonly": schema{"type": "boolean"}, "states": formOf([]string{}), "links": linksForm()},
		"name", "component", "readonly", "states", "links")
	return objectWith(schema{"indicators": schema{"type": "array", "items": one}}, "indicators")
}

// mediumForm is what mediumOf takes.
func mediumForm() schema {
	return objectWith(schema{
		"device_type": wordForm(node.MediaDevices()...), "image_url": schema{"type": "string", "format": "uri"}, "image_download_source": wordForm("http", "local"),
	}, "device_type", "image_url")
}

func vifsForm() schema {
	one := objectWith(schema{"id": schema{"type": "string"}}, "id")
	return objectWith(schema{"vifs": schema{"type": "array", "items": one}}, "vifs")
}

// vifForm is what attachVIF takes; what else it is told is for a network service.
func vifForm() schema {
	id := schema{"type": []string{"string", "null"}, "format": "uuid"}
	return schema{"type": "object", "required": []string{"id"}, "properties": schema{"id": schema{"type": "string"}, "port_uuid": id, "portgroup_uuid": id}}
}

// raidForm is what checkRAID checks; an object with nothing is no configuration.
func raidForm() schema {
	properties, required := schema{}, []string{}
	for _, p := range diskProperties() {
		if properties[p.name] = (schema{"description": p.meaning}); p.required {
			required = append(required, p.name)
		}
	}
	form := objectWith(schema{"logical_disks": schema{"type": "array", "items": objectWith(properties, required...)}})
	form["type"] = []string{"object", "null"}
	return form
}

func vendorMethodsForm() schema {
	flag := schema{"type": "boolean"}
	one := objectWith(schema{
		"http_methods": formOf([]string{}), "async": flag, "description": schema{"type": "string"}, "attach": flag, "require_exclusive_lock": flag,
	}, "http_methods", "async", "description", "attach", "require_exclusive_lock")
	return schema{"type": "object", "additionalProperties": one}
}

// toldForm is one row of what a BMC has told, toldList the rows of a node.
func toldForm[T any](t *table[T], name string) schema { return t.part(name, sortedKeys(t.byName)...) }

func toldList(key string, row schema, columns toldColumns) wire {
	return wire{status: http.StatusOK, query: []argument{{"detail", columns.since}, {"fields", columns.since}}, gives: objectWith(schema{key: schema{"type": "array", "items": row}}, key)}
}

func volumeForm() schema {
	return objectWith(schema{"links": linksForm(), "connectors": linksForm(), "targets": linksForm()}, "links", "connectors", "targets")
}

func childrenForm() schema {
	return objectWith(schema{"children": schema{"type": "array", "items": schema{"type": "string", "format": "uuid"}}, "links": formOf(nodeapi.Link{})}, "children", "links")
}

// rootForm is what GET /v1 answers: of each resource it has links.
func rootForm() schema {
	form := objectWith(schema{
		"id": schema{"type": "string"}, "links": linksForm(), "media_types": formOf(map[string]string{}), "version": formOf(nodeapi.VersionInfo{}),
	}, "id", "links", "media_types", "version")
	form["additionalProperties"] = linksForm()
	return form
}
