package inventory

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
)

// recordKind is a kind of record that a file can have. The format is ironicclient's (create_resources).
type recordKind struct {
	name, list string   // list is the key in files, and the path of the API
	needs      string   // a field that every record has
	unique     string   // a field that no two records share
	fills      string   // the field of the records inside it that holds its UUID
	below      []string // lists of records inside it, in the order of their creation
}

// recordKinds are all kinds, by their lists.
var recordKinds = map[string]recordKind{
	"chassis":    {name: "chassis", list: "chassis", fills: "chassis_uuid", below: []string{"nodes"}},
	"nodes":      {"node", "nodes", "driver", "name", "node_uuid", []string{"portgroups", "ports"}},
	"portgroups": {"portgroup", "portgroups", "", "address", "portgroup_uuid", []string{"ports"}},
	"ports":      {name: "port", list: "ports", needs: "address", unique: "address"},
}

// giving are the fields for the records inside a record of this kind. A port in a portgroup is of its node, too.
func (k recordKind) giving(given map[string]any, uuid string) map[string]any {
	out := map[string]any{k.fills: uuid}
	if k.name == "portgroup" {
		maps.Copy(out, given)
	}
	return out
}

// record is a record of a file.
type record struct {
	kind   recordKind
	place  string // in the file
	body   map[string]any
	traits any
	below  []*record
}

func (r *record) label() string {
	for _, field := range []string{"name", "address", "uuid", "description"} {
		if text, _ := r.body[field].(string); text != "" {
			return r.kind.name + " " + text
		}
	}
	return r.kind.name
}

// inside is the number of records inside a record.
func (r *record) inside() (count int) {
	for _, below := range r.below {
		count += 1 + below.inside()
	}
	return count
}

// maxRecords is the largest file, in bytes.
const maxRecords = 64 << 20

// readRecords reads files, and refuses them as a whole with all that is wrong.
func readRecords(files []string, stdin io.Reader) (records []*record, err error) {
	var wrong []error
	for _, file := range files {
		object, err := readObject(file, stdin)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", file, err))
			continue
		}
		for _, key := range output.Sorted(object) {
			if key != "chassis" && key != "nodes" {
				wrong = append(wrong, fmt.Errorf("%s: %s: expected chassis and nodes; portgroups and ports stand in their "+
					"node", file, key))
			}
		}
		for _, key := range []string{"chassis", "nodes"} {
			found, faults := parseRecords(recordKinds[key], file+": "+key, object[key], nil)
			records, wrong = append(records, found...), append(wrong, faults...)
		}
	}
	wrong = append(wrong, shared(records, map[string]string{})...)
	if len(records) == 0 && len(wrong) == 0 {
		wrong = append(wrong, errors.New(strings.Join(files, ", ")+": there is no record: expected a list of chassis "+
			"or nodes"))
	}
	return records, errors.Join(wrong...)
}

func readObject(file string, stdin io.Reader) (object map[string]any, err error) {
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		stdin = f
	}
	text, err := io.ReadAll(io.LimitReader(stdin, maxRecords+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxRecords:
		return nil, fmt.Errorf("it is larger than the limit of %d bytes", maxRecords)
	}
	if err := yaml.UnmarshalStrict(text, &object); err != nil {
		return nil, fmt.Errorf("expected an object with lists of chassis and nodes, in YAML or JSON: %w", err)
	}
	return object, nil
}

// parseRecords reads a list of records, and the lists inside them. of is the record that they are inside.
func parseRecords(kind recordKind, place string, value any, of *record) (all []*record, wrong []error) {
	list, ok := value.([]any)
	if !ok && value != nil {
		return nil, []error{fmt.Errorf("%s: expected a list of objects", place)}
	}
	for i, item := range list {
		r := &record{kind: kind, place: fmt.Sprintf("%s[%d]", place, i)}
		if r.body, ok = item.(map[string]any); !ok {
			wrong = append(wrong, fmt.Errorf("%s: expected an object", r.place))
			continue
		}
		if kind.name == "node" {
			r.traits = r.body["traits"]
			delete(r.body, "traits")
		}
		lists := map[string]any{}
		for _, key := range kind.below {
			lists[key] = r.body[key]
			delete(r.body, key)
		}
		if err := r.check(of); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", r.place, err))
		}
		for _, key := range kind.below {
			below, faults := parseRecords(recordKinds[key], r.place+"."+key, lists[key], r)
			r.below, wrong = append(r.below, below...), append(wrong, faults...)
		}
		all = append(all, r)
	}
	return all, wrong
}

// check refuses a record that every conductor would refuse.
func (r *record) check(of *record) error {
	if field := r.kind.needs; field != "" && r.body[field] == nil {
		return fmt.Errorf("%s needs the field %s", r.label(), field)
	}
	if mac, has := r.body["address"]; has && mac != nil && r.kind.name != "node" {
		if _, err := net.ParseMAC(fmt.Sprint(mac)); err != nil {
			return fmt.Errorf("address is %v: expected a MAC address like 52:54:00:12:34:56", mac)
		}
	}
	if of == nil {
		return nil
	}
	if named := r.body[of.kind.fills]; named != nil && named != of.body["uuid"] {
		return fmt.Errorf("%s has %s %v, but stands in %s: leave %s out", r.label(), of.kind.fills, named, of.label(),
			of.kind.fills)
	}
	return nil
}

// shared finds records with one name or one MAC. seen has the place of each.
func shared(records []*record, seen map[string]string) (wrong []error) {
	for _, r := range records {
		text, _ := r.body[cmp.Or(r.kind.unique, "uuid")].(string)
		if key := r.kind.name + " " + strings.ToLower(text); text != "" {
			if seen[key] != "" {
				wrong = append(wrong, fmt.Errorf("%s: %s is there already: %s", r.place, key, seen[key]))
			}
			seen[key] = r.place
		}
		wrong = append(wrong, shared(r.below, seen)...)
	}
	return wrong
}
