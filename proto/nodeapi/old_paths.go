package nodeapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// oldPath is a path of Ironic's first releases. It names the node or driver after the question, or in the query:
// /v1/nodes/states/power/NODE. Ironic has kept them, and reserves their first words, so that no node has such a name.
type oldPath struct {
	resource string // nodes or drivers
	words    string
	argument string // of the query
	tail     bool   // more words may follow the name
}

// oldPaths lists all such paths; a longer one comes before its own beginning.
func oldPaths() []oldPath {
	var all []oldPath
	for _, words := range []string{
		"states/console", "states/power", "states/provision", "states/raid", "states/boot_mode",
		"states/secure_boot", "states",
		"management/boot_device/supported", "management/boot_device", "management/inject_nmi", "management/indicators",
		"maintenance", "vendor_passthru/methods", "vendor_passthru",
	} {
		all = append(all,
			oldPath{"nodes", words, "node_ident", words == "management/indicators" || words == "vendor_passthru"})
	}
	for _, words := range []string{"properties", "raid/logical_disk_properties", "vendor_passthru/methods",
		"vendor_passthru"} {
		all = append(all, oldPath{"drivers", words, "driver_name", false})
	}
	return all
}

// ModernURL changes an old path into the one in use, and takes the name out of
// the query; any other stays as it is.
func ModernURL(method string, u *url.URL) {
	if method == http.MethodPatch || method == http.MethodDelete {
		if argument := recordArgument(u.Path); argument != "" {
			if name := takeArgument(u, argument); name != "" {
				u.Path += "/" + name
			}
			return
		}
	}
	if !beginsOld(u.Path) {
		return
	}
	for _, old := range oldPaths() {
		rest, ok := strings.CutPrefix(u.Path, "/v1/"+old.resource+"/"+old.words)
		switch {
		case !ok || rest != "" && rest[0] != '/':
			continue
		case rest == "":
			if name := takeArgument(u, old.argument); name != "" {
				u.Path = "/v1/" + old.resource + "/" + name + "/" + old.words
			}
			return
		case old.argument != "node_ident":
			return
		}
		if name, tail, more := strings.Cut(rest[1:], "/"); !more || old.tail {
			u.Path = strings.TrimSuffix("/v1/"+old.resource+"/"+name+"/"+old.words+"/"+tail, "/")
		}
		return
	}
}

// recordArgument is the argument in which Ironic takes the name of a record to change or delete, for paths of a whole
// collection.
func recordArgument(path string) string {
	switch path {
	case "/v1/nodes":
		return "node_ident"
	case "/v1/ports":
		return "port_ident"
	case "/v1/portgroups":
		return "portgroup_ident"
	case "/v1/chassis":
		return "chassis_uuid"
	case "/v1/volume/connectors":
		return "connector_uuid"
	case "/v1/volume/targets":
		return "target_uuid"
	case "/v1/allocations":
		return "allocation_ident"
	case "/v1/deploy_templates":
		return "template_ident"
	case "/v1/runbooks":
		return "runbook_ident"
	}
	return ""
}

// beginsOld picks the few paths that may be old from the many that are not.
func beginsOld(path string) bool {
	path, ok := strings.CutPrefix(path, "/v1/")
	if !ok {
		return false
	}
	resource, rest, _ := strings.Cut(path, "/")
	word, _, _ := strings.Cut(rest, "/")
	switch resource {
	case "nodes":
		return word == "states" || word == "management" || word == "maintenance" || word == "vendor_passthru"
	case "drivers":
		return word == "properties" || word == "raid" || word == "vendor_passthru"
	}
	return false
}

// takeArgument takes a name out of the query; "" when there is none that could
// stand in a path.
func takeArgument(u *url.URL, key string) string {
	if u.RawQuery == "" {
		return ""
	}
	query := u.Query()
	names := query[key]
	if len(names) != 1 || slices.Contains([]string{"", ".", ".."}, names[0]) || strings.Contains(names[0], "/") {
		return ""
	}
	query.Del(key)
	u.RawQuery = query.Encode()
	return names[0]
}
