package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// secretPart is a part of a record that may hold secrets. One of bag, text and whole is
// set.
type secretPart struct {
	at    string          // its JSON pointer in the document
	bag   *map[string]any // free-form: of it, the values that the API masks
	text  *string         // a secret text
	whole *any            // free-form, and secret as a whole
}

// secretParts is the one list of a record's secret parts, by the type of record; nil for records without secrets.
// Effects are sealed in effects.go, Secrets in package objects.
func secretParts(record any) (parts []secretPart) {
	switch v := record.(type) {
	case *node.Node:
		for i := range node.Fields { // instance_info: with the config drive and the hash of the rescue password
			if f := &node.Fields[i]; f.Mask != nil {
				bag := f.At(v).(*map[string]any) //nolint:forcetypeassert // an ObjectField: TestFields
				parts = append(parts, secretPart{at: "/" + f.Name, bag: bag})
			}
		}
		parts = append(parts, secretPart{at: "/agent/token", text: &v.Agent.Token})
		if v.Run != nil {
			parts = stepArgs(parts, "/run/steps/", v.Run.Steps)
			parts = stepArgs(parts, "/run/listed/", v.Run.Listed)
		}
	case *node.DeployTemplate:
		parts = stepArgs(nil, "/steps/", v.Steps)
	case *node.Runbook:
		for i := range v.Steps {
			parts = append(parts, secretPart{at: "/steps/" + strconv.Itoa(i) + "/args", bag: &v.Steps[i].Args})
		}
	case *node.VolumeTarget:
		parts = []secretPart{{at: "/properties", bag: &v.Properties}}
	case *node.InspectionRule: // its arguments can set any field, a password too
		parts = append(clauseArgs("/conditions/", v.Conditions), clauseArgs("/actions/", v.Actions)...)
	}
	return parts
}

func stepArgs(parts []secretPart, at string, steps []node.Step) []secretPart {
	for i := range steps {
		parts = append(parts, secretPart{at: at + strconv.Itoa(i) + "/args", bag: &steps[i].Args})
	}
	return parts
}

func clauseArgs(at string, clauses []node.Clause) (parts []secretPart) {
	for i := range clauses {
		n := at + strconv.Itoa(i)
		parts = append(parts, secretPart{at: n + "/args", whole: &clauses[i].Args},
			secretPart{at: n + "/loop", whole: &clauses[i].Loop})
	}
	return parts
}

// detached copies a record as far as needed to replace its secret parts while others read the record. Records without
// secrets are returned as they are.
func detached(record any) any {
	switch v := record.(type) {
	case *node.Node:
		c := *v
		if v.Run != nil {
			run := *v.Run
			run.Steps, run.Listed = slices.Clone(run.Steps), slices.Clone(run.Listed)
			c.Run = &run
		}
		return &c
	case *node.DeployTemplate:
		c := *v
		c.Steps = slices.Clone(v.Steps)
		return &c
	case *node.Runbook:
		c := *v
		c.Steps = slices.Clone(v.Steps)
		return &c
	case *node.VolumeTarget:
		c := *v
		return &c
	case *node.InspectionRule:
		c := *v
		c.Conditions, c.Actions = slices.Clone(v.Conditions), slices.Clone(v.Actions)
		return &c
	}
	return record
}

// take removes the secrets of a part, and adds them to leaves by their JSON pointers.
func (p secretPart) take(leaves map[string]any) {
	switch {
	case p.bag != nil:
		*p.bag = nodeapi.TakeSecrets(*p.bag, p.at, func(pointer string, value any) { leaves[pointer] = value })
	case p.text != nil && *p.text != "":
		leaves[p.at], *p.text = *p.text, ""
	case p.whole != nil && *p.whole != nil:
		leaves[p.at], *p.whole = *p.whole, nil
	}
}

// holds reports whether a JSON pointer leads into the part.
func (p secretPart) holds(pointer string) bool {
	rest, ok := strings.CutPrefix(pointer, p.at)
	return ok && (rest == "" || rest[0] == '/')
}

// put is the reverse of take, for one secret.
func (p secretPart) put(pointer string, value any) error {
	rest := strings.TrimPrefix(pointer, p.at)
	text, isText := value.(string)
	switch {
	case p.bag != nil && rest != "":
		if *p.bag == nil {
			*p.bag = map[string]any{}
		}
		return putLeaf(*p.bag, strings.Split(rest[1:], "/"), value)
	case p.text != nil && rest == "" && isText:
		*p.text = text
	case p.whole != nil && rest == "":
		*p.whole = value
	default:
		return fmt.Errorf("the document has no place for the sealed value of %s", pointer)
	}
	return nil
}

// unescape reverses the escapes of RFC 6901 in a key.
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// putLeaf sets a value in a tree of JSON. Objects that are missing on the way, since
// nothing else was in them, are made.
func putLeaf(tree any, way []string, value any) error {
	for i, token := range way {
		last := i == len(way)-1
		switch at := tree.(type) {
		case map[string]any:
			if strings.IndexByte(token, '~') >= 0 {
				token = unescape.Replace(token)
			}
			if last {
				at[token] = value
			} else if at[token] == nil {
				at[token] = map[string]any{}
			}
			tree = at[token]
		case []any:
			n, err := strconv.Atoi(token)
			if err != nil || n < 0 || n >= len(at) {
				return fmt.Errorf("the document has no place for the sealed value of %s: its list has %d items",
					strings.Join(way, "/"), len(at))
			}
			if last {
				at[n] = value
			}
			tree = at[n]
		default:
			return fmt.Errorf("the document has no place for the sealed value of %s", strings.Join(way, "/"))
		}
	}
	return nil
}
