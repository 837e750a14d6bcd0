package api

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// The place where a port is plugged in (local_link_connection), given in one of several
// ways.

// linkKeys are the keys that can be given, each from its microversion on; until 0 is for
// ever. Ironic took the keys of OVN for a while only.
func linkKeys() map[string]struct{ since, until int } {
	return map[string]struct{ since, until int }{
		"hostname": {1, 0}, "port_id": {1, 0}, "switch_id": {1, 0}, "switch_info": {1, 0},
		"network_type":        {64, 0},
		"vtep-logical-switch": {90, 105}, "vtep-physical-switch": {90, 105},
	}
}

// linkForms lists the required keys of each form: a port of a switch, a smart NIC, an unmanaged network, a switch of
// OVN.
func linkForms() [][]string {
	return [][]string{{"port_id", "switch_id"}, {"port_id", "hostname"}, {"network_type"},
		{"port_id", "vtep-logical-switch", "vtep-physical-switch"}}
}

// linkField is local_link_connection. Where it has OVN's keys and the microversion does not
// have these, it is shown as empty.
func linkField() rest.Field[node.Port] {
	f := rest.Object("local_link_connection", 19, both, nil, func(p *node.Port) *map[string]any {
		return &p.LocalLinkConnection
	})
	set := f.Set
	f.Show = func(dst []byte, v *rest.View[node.Port]) []byte {
		link := v.Of.LocalLinkConnection
		if link["vtep-logical-switch"] != nil && linkTooNew(v.Minor, link) {
			return append(dst, "{}"...)
		}
		return rest.AppendObject(dst, link)
	}
	f.Set = func(p *node.Port, value any) error {
		m, ok := value.(map[string]any)
		if !ok || len(m) == 0 {
			return set(p, value)
		}
		if cause := linkFault(m); cause != "" {
			return rest.BadRequest("Schema error for local_link_connection: %s is not valid under any of the given schemas. "+
				"Possible root cause: %s", rest.Python(m), cause)
		}
		if id, ok := m["switch_id"].(string); ok {
			normal, err := asSwitch(id)
			if err != nil {
				return err
			}
			m = maps.Clone(m)
			m["switch_id"] = normal
		}
		return set(p, m)
	}
	return f
}

// linkFault explains why a link fits none of the forms; "" for a link that fits.
func linkFault(m map[string]any) string {
	known := linkKeys()
	for _, key := range rest.SortedKeys(m) {
		text, isText := m[key].(string)
		_, ok := known[key]
		switch {
		case !ok:
			return rest.Additional(key)
		case !isText:
			return rest.Python(m[key]) + " is not of type 'string'"
		case key == "network_type" && text != "managed" && text != "unmanaged":
			return rest.Python(text) + " is not one of ['managed', 'unmanaged']"
		}
	}
	if (m["vtep-logical-switch"] == nil) != (m["vtep-physical-switch"] == nil) {
		return "'vtep-logical-switch' and 'vtep-physical-switch' depend on each other"
	}
	lacks := func(form []string) string {
		i := slices.IndexFunc(form, func(key string) bool { return m[key] == nil })
		if i < 0 {
			return ""
		}
		return form[i]
	}
	for _, form := range linkForms() {
		unmanaged := slices.Equal(form, []string{"network_type"})
		if lacks(form) == "" && (!unmanaged || m["network_type"] == "unmanaged") {
			return ""
		}
	}
	return "'" + lacks(linkForms()[0]) + "' is a required property"
}

// linkTooNew reports whether a link has keys that the microversion does not have.
func linkTooNew(minor int, m map[string]any) bool {
	known := linkKeys()
	for key := range m {
		if k := known[key]; minor < k.since || k.until > 0 && minor >= k.until {
			return true
		}
	}
	return false
}

// datapath is how OpenFlow names a switch.
var datapath = regexp.MustCompile(`^[0-9a-f]{16}$`)

// asSwitch takes a MAC or an OpenFlow datapath, kept in lower case.
func asSwitch(id string) (string, error) {
	if mac, err := asMAC("switch_id", id); err == nil {
		return mac, nil
	}
	if lower := strings.ToLower(id); datapath.MatchString(lower) {
		return lower, nil
	}
	return "", rest.BadRequest("Expected a MAC address or OpenFlow datapath ID but received %s.", id)
}
