package completion

import (
	"encoding/json"
	"fmt"
	"net/url"
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
	raw, err := r.session.Client.Pages(r.ctx, kind, q, most)
	all := make([]object, 0, len(raw))
	for _, text := range raw {
		var o object
		if json.Unmarshal(text, &o) == nil {
			all = append(all, o)
		}
	}
	return all, err
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

// leases are the MAC addresses that have a lease or a reservation.
func leases(r request) (words []string, err error) {
	var reply struct {
		Leases []struct{ MAC, IP string }
	}
	err = r.session.Client.Do(r.ctx, "GET", nodeapi.FerriteRoot+"/leases", nil, &reply)
	for _, l := range reply.Leases {
		words = append(words, described(l.MAC, l.IP))
	}
	return words, err
}

// conductors are the conductors, with their groups.
func conductors(r request) (words []string, err error) {
	var reply nodeapi.Conductors
	err = r.session.Client.Do(r.ctx, "GET", nodeapi.ConductorsPath, nil, &reply)
	for _, c := range reply.Conductors {
		words = append(words, described(c.Name, c.Group))
	}
	return words, err
}

// images are the named images, with their formats.
func images(r request) (words []string, err error) {
	var reply nodeapi.Images
	err = r.session.Client.Do(r.ctx, "GET", nodeapi.ImagesPath, nil, &reply)
	for _, i := range reply.Images {
		words = append(words, described(i.Name, i.Format))
	}
	return words, err
}

// subnets are the named subnets that have leases or reservations.
func subnets(r request) (words []string, err error) {
	var reply struct {
		Leases []struct{ Subnet string }
	}
	err = r.session.Client.Do(r.ctx, "GET", nodeapi.FerriteRoot+"/leases", nil, &reply)
	for _, l := range reply.Leases {
		words = append(words, l.Subnet)
	}
	return words, err
}

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
	return func(r request) (words []string, err error) {
		var reply map[string][]object
		err = r.session.Client.Do(r.ctx, "GET", client.NodePath(r.args[0], part), nil, &reply)
		for _, o := range reply[key] {
			words = append(words, o.text(field))
		}
		return words, err
	}
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
