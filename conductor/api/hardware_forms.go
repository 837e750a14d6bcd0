package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The forms of requests and answers about a node's hardware.

// objectWith is an object with these properties alone, of which some are required.
func objectWith(properties rest.Schema, required ...string) rest.Schema {
	s := rest.Schema{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// truthForm is yes or no, which may be spelt out.
func truthForm() rest.Schema { return rest.Schema{"type": []string{"boolean", "string"}} }

func consoleForm() rest.Schema {
	return objectWith(rest.Schema{"console_enabled": rest.Schema{"type": "boolean"}, "console_info": rest.ObjectForm()},
		"console_enabled", "console_info")
}

func indicatorStateForm() rest.Schema {
	return objectWith(rest.Schema{"state": rest.WordForm(indicatorStates()...)}, "state")
}

func indicatorsForm() rest.Schema {
	text := rest.Schema{"type": "string"}
	one := objectWith(rest.Schema{"name": text, "component": text, "readonly": rest.Schema{"type": "boolean"},
		"states": rest.FormOf([]string{}), "links": rest.LinksForm()},
		"name", "component", "readonly", "states", "links")
	return objectWith(rest.Schema{"indicators": rest.Schema{"type": "array", "items": one}}, "indicators")
}

// mediumForm is the body that mediumOf reads.
func mediumForm() rest.Schema {
	return objectWith(rest.Schema{
		"device_type": rest.WordForm(node.MediaDevices()...), "image_url": rest.Schema{"type": "string", "format": "uri"},
		"image_download_source": rest.WordForm("http", "local"),
	}, "device_type", "image_url")
}

func vifsForm() rest.Schema {
	one := objectWith(rest.Schema{"id": rest.Schema{"type": "string"}}, "id")
	return objectWith(rest.Schema{"vifs": rest.Schema{"type": "array", "items": one}}, "vifs")
}

// vifForm is the body that attachVIF reads; further fields are for a network service.
func vifForm() rest.Schema {
	id := rest.Schema{"type": []string{"string", "null"}, "format": "uuid"}
	return rest.Schema{
		"type": "object", "required": []string{"id"},
		"properties": rest.Schema{"id": rest.Schema{"type": "string"}, "port_uuid": id, "portgroup_uuid": id},
	}
}

// raidForm is the configuration that checkRAID accepts; an empty object is no configuration.
func raidForm() rest.Schema {
	properties, required := rest.Schema{}, []string{}
	for _, p := range diskProperties() {
		if properties[p.name] = (rest.Schema{"description": p.meaning}); p.required {
			required = append(required, p.name)
		}
	}
	form := objectWith(
		rest.Schema{"logical_disks": rest.Schema{"type": "array", "items": objectWith(properties, required...)}})
	form["type"] = []string{"object", "null"}
	return form
}

func vendorMethodsForm() rest.Schema {
	flag := rest.Schema{"type": "boolean"}
	one := objectWith(rest.Schema{
		"http_methods": rest.FormOf([]string{}), "async": flag, "description": rest.Schema{"type": "string"}, "attach": flag,
		"require_exclusive_lock": flag,
	}, "http_methods", "async", "description", "attach", "require_exclusive_lock")
	return rest.Schema{"type": "object", "additionalProperties": one}
}

// rowForm is one row of a BMC's report, rowList the rows of a node.
func rowForm[T any](t *rest.Table[T], name string) rest.Schema {
	return t.Part(name, rest.SortedKeys(t.ByName)...)
}

func rowList(key string, row rest.Schema, columns rowColumns) rest.Wire {
	return rest.Wire{
		Status: http.StatusOK,
		Query:  []rest.Argument{{Name: "detail", Since: columns.since}, {Name: "fields", Since: columns.since}},
		Gives:  objectWith(rest.Schema{key: rest.Schema{"type": "array", "items": row}}, key),
	}
}

func volumeForm() rest.Schema {
	return objectWith(rest.Schema{"links": rest.LinksForm(), "connectors": rest.LinksForm(), "targets": rest.LinksForm()},
		"links", "connectors", "targets")
}

func childrenForm() rest.Schema {
	return objectWith(rest.Schema{
		"children": rest.Schema{"type": "array", "items": rest.Schema{"type": "string", "format": "uuid"}},
		"links":    rest.FormOf(nodeapi.Link{}),
	}, "children", "links")
}

// rootForm is the answer of GET /v1. It has links to each resource.
func rootForm() rest.Schema {
	form := objectWith(rest.Schema{
		"id": rest.Schema{"type": "string"}, "links": rest.LinksForm(), "media_types": rest.FormOf(map[string]string{}),
		"version": rest.FormOf(nodeapi.VersionInfo{}),
	}, "id", "links", "media_types", "version")
	form["additionalProperties"] = rest.LinksForm()
	return form
}
