package completion

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// most is how many records are read: more than a person chooses from.
const most = 2000

// object is a record of any kind.
type object map[string]any

func (o object) text(field string) string {
	text, _ := o[field].(string)
	return text
}

// described joins a word and its description, which a shell shows beside it.
func described(word, about string) string {
	if about = strings.Join(strings.Fields(about), " "); word == "" || about == "" {
		return word
	}
	return word + "\t" + about
}

// read reads records of a kind.
func read(r request, kind string, q url.Values) ([]object, error) {
	return readAt(r, nodeapi.Root+"/"+kind, path.Base(kind), q)
}

// readAt reads a list; key is its key in the answer.
func readAt(r request, at, key string, q url.Values) ([]object, error) {
	raw, err := r.session.Client.PagesAt(r.ctx, at, key, q, most)
	all := make([]object, 0, len(raw))
	for _, text := range raw {
		var o object
		if json.Unmarshal(text, &o) == nil {
			all = append(all, o)
		}
	}
	return all, err
}

// listed are the values of a field in a list, described by another field.
func listed(at, key, field, about string) source {
	return func(r request) (words []string, err error) {
		all, err := readAt(r, at, key, url.Values{})
		for _, o := range all {
			words = append(words, described(o.text(field), o.text(about)))
		}
		return words, err
	}
}

// nodes are the names of nodes, or UUIDs of those without, with their states.
func nodes(r request) ([]string, error) {
	all, err := read(r, "nodes", url.Values{"fields": {"uuid,name,provision_state"}})
	return labels(all, "provision_state"), err
}

// records are the names of the records of a kind, or the UUIDs of those
// without, described by a field.
func records(kind, about string) source {
	return func(r request) ([]string, error) {
		all, err := read(r, kind, url.Values{"detail": {"True"}})
		return labels(all, about), err
	}
}

func labels(all []object, about string) (words []string) {
	for _, o := range all {
		word := o.text("name")
		if word == "" {
			word = o.text("uuid")
		}
		words = append(words, described(word, o.text(about)))
	}
	return words
}

// uuids are the UUIDs of the records of a kind, where the API takes no name.
func uuids(kind, about string) source {
	return func(r request) (words []string, err error) {
		all, err := read(r, kind, url.Values{"detail": {"True"}})
		for _, o := range all {
			words = append(words, described(o.text("uuid"), o.text(about)))
		}
		return words, err
	}
}

// values are the values of a field among the records of a kind.
func values(kind, field string) source {
	return func(r request) (words []string, err error) {
		all, err := read(r, kind, url.Values{"fields": {"uuid," + field}})
		for _, o := range all {
			words = append(words, o.text(field))
		}
		return words, err
	}
}

// addresses are the MAC addresses of ports.
func addresses(r request) ([]string, error) { return values("ports", "address")(r) }

// The lists that Ironic does not have.
var (
	leases     = listed(nodeapi.FerriteRoot+"/leases", "leases", "mac", "ip")
	subnets    = listed(nodeapi.FerriteRoot+"/leases", "leases", "subnet", "")
	conductors = listed(nodeapi.ConductorsPath, "conductors", "name", "group")
	images     = listed(nodeapi.ImagesPath, "images", "name", "format")
)

// traitsInUse are the traits that nodes have.
func traitsInUse(r request) (words []string, err error) {
	all, err := read(r, "nodes", url.Values{"fields": {"uuid,traits"}})
	for _, o := range all {
		traits, _ := o["traits"].([]any)
		for _, t := range traits {
			words = append(words, fmt.Sprint(t))
		}
	}
	return words, err
}

// traitsOfFirst are the traits of the first argument: a node or a runbook.
func traitsOfFirst(r request) ([]string, error) {
	path := client.NodePath(r.args[0], "traits")
	if strings.HasPrefix(r.cmd.CommandPath(), "ferrite runbook ") {
		path = nodeapi.Root + "/runbooks/" + url.PathEscape(r.args[0]) + "/traits"
	}
	var reply struct{ Traits []string }
	err := r.session.Client.Do(r.ctx, "GET", path, nil, &reply)
	return reply.Traits, err
}

// ofNode are the values of a field in a list of the first argument, a node.
func ofNode(part, key, field string) source {
	return func(r request) ([]string, error) { return listed(client.NodePath(r.args[0], part), key, field, "")(r) }
}

// methods returns the vendor methods of the node in the first argument.
func methods(r request) (words []string, err error) {
	var reply map[string]object
	err = r.session.Client.Do(r.ctx, "GET", client.NodePath(r.args[0], "vendor_passthru", "methods"), nil, &reply)
	for name, o := range reply {
		words = append(words, described(name, o.text("description")))
	}
	return words, err
}

// bootDevices are the boot devices that the node in the first argument supports.
func bootDevices(r request) ([]string, error) {
	var reply struct {
		Devices []string `json:"supported_boot_devices"`
	}
	path := client.NodePath(r.args[0], "management", "boot_device/supported")
	err := r.session.Client.Do(r.ctx, "GET", path, nil, &reply)
	return reply.Devices, err
}
