package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// attribute is one attribute of a node or a port that rules know of.
type attribute[T any] struct {
	get func(*T) any        // as JSON
	set func(*T, any) error // nil: only to be read. null is back to the default
}

// nodeAttributes are the fields that rules know, by Ironic's names. Rules read all of them in
// replacement fields. They cannot change the fields that the conductor works with: states,
// the driver, the instance.
var nodeAttributes = func() map[string]attribute[node.Node] {
	all := map[string]attribute[node.Node]{}
	for i := range node.Fields {
		f := &node.Fields[i]
		if !f.Is(node.RulesRead) {
			continue
		}
		a := nodeAttribute(f)
		if !f.Is(node.RulesSet) {
			a.set = nil
		}
		all[f.Name] = a
	}
	return all
}()

// nodeAttribute is a field by its kind.
func nodeAttribute(f *node.Field) (a attribute[node.Node]) {
	switch f.Kind {
	case node.TextField, node.UUIDField:
		if _, plain := f.At(&node.Node{}).(*string); plain {
			a = text(f.MaxLength(), at[string](f))
		}
		a.get = func(n *node.Node) any { return f.Text(n) }
	case node.FlagField:
		a = flag(at[bool](f))
	case node.OptionalField:
		a = maybe(at[*bool](f))
	case node.ObjectField:
		a = object(at[map[string]any](f))
	case node.ListField:
		list := at[[]string](f)
		a.get = func(n *node.Node) any { return listOf(*list(n)) }
	case node.InterfaceField:
		a = interfaceAttribute(f.InterfaceKind())
	case node.ComputedField, node.TimeField:
		panic("rules cannot read " + f.Name) // in tests: it is the same in every run
	}
	if f.Name == "name" {
		a = nameAttribute(a)
	}
	return a
}

// at is where a node keeps the value of a field.
func at[T any](f *node.Field) func(*node.Node) *T {
	return func(n *node.Node) *T { return f.At(n).(*T) } //nolint:forcetypeassert // TestFields: its kind is its type
}

// portAttributes are the attributes of a port that rules may change. Addresses are not among them: they belong to the
// machine.
var portAttributes = map[string]attribute[node.Port]{
	"name":                  text(nodeapi.MaxText, func(p *node.Port) *string { return &p.Name }),
	"description":           text(nodeapi.MaxText, func(p *node.Port) *string { return &p.Description }),
	"category":              text(nodeapi.MaxText, func(p *node.Port) *string { return &p.Category }),
	"vendor":                text(nodeapi.MaxText, func(p *node.Port) *string { return &p.Vendor }),
	"physical_network":      text(64, func(p *node.Port) *string { return &p.PhysicalNetwork }),
	"pxe_enabled":           flag(func(p *node.Port) *bool { return &p.PXEEnabled }),
	"is_smartnic":           flag(func(p *node.Port) *bool { return &p.IsSmartNIC }),
	"local_link_connection": object(func(p *node.Port) *map[string]any { return &p.LocalLinkConnection }),
	"extra":                 object(func(p *node.Port) *map[string]any { return &p.Extra }),
}

func listOf(texts []string) []any {
	list := make([]any, len(texts))
	for i, s := range texts {
		list[i] = s
	}
	return list
}

// text is text of at most limit characters; numbers become text.
func text[T any](limit int, at func(*T) *string) attribute[T] {
	return attribute[T]{
		get: func(of *T) any { return *at(of) },
		set: func(of *T, v any) error {
			s := ""
			if v != nil {
				var err error
				if s, err = (args{"value": v}).text("value"); err != nil {
					return err
				}
			}
			if n := utf8.RuneCountInString(s); n > limit {
				return fmt.Errorf("value has %d characters, the limit is %d", n, limit)
			}
			*at(of) = s
			return nil
		},
	}
}

// nameAttribute is the name, which stands in URLs.
func nameAttribute(f attribute[node.Node]) attribute[node.Node] {
	set := f.set
	f.set = func(n *node.Node, v any) error {
		if s, ok := v.(string); ok && s != "" && !node.ValidName(s) {
			return fmt.Errorf("%q is not a valid node name: it is made of letters, digits and -._~, and is no UUID", safe(s))
		}
		return set(n, v)
	}
	return f
}

func flag[T any](at func(*T) *bool) attribute[T] {
	return attribute[T]{
		get: func(of *T) any { return *at(of) },
		set: func(of *T, v any) (err error) {
			*at(of), err = args{"value": v}.truth("value")
			return err
		},
	}
}

// maybe is a flag that may be unset.
func maybe[T any](at func(*T) **bool) attribute[T] {
	return attribute[T]{
		get: func(of *T) any {
			if b := *at(of); b != nil {
				return *b
			}
			return nil
		},
		set: func(of *T, v any) error {
			if v == nil {
				*at(of) = nil
				return nil
			}
			b, err := args{"value": v}.truth("value")
			*at(of) = &b
			return err
		},
	}
}

// object is free-form JSON.
func object[T any](at func(*T) *map[string]any) attribute[T] {
	return attribute[T]{
		get: func(of *T) any {
			if *at(of) == nil {
				*at(of) = map[string]any{}
			}
			return *at(of)
		},
		set: func(of *T, v any) error {
			m, ok := v.(map[string]any)
			if !ok && v != nil {
				return fmt.Errorf("value must be an object, not %s", nodeapi.JSONKind(v))
			}
			*at(of) = copyObject(m)
			return nil
		},
	}
}

// interfaceAttribute is an interface that the hardware type must support.
func interfaceAttribute(kind string) attribute[node.Node] {
	return attribute[node.Node]{
		get: func(n *node.Node) any { return n.Interfaces[kind] },
		set: func(n *node.Node, v any) error {
			hw, ok := node.HardwareTypeByName(n.Driver)
			if !ok {
				return fmt.Errorf("hardware type %s is unknown", n.Driver)
			}
			if v == nil {
				n.Interfaces[kind] = "" // the caller of Apply sets the default
				return nil
			}
			name, ok := v.(string)
			if !ok || !hw.Supports(kind, name) {
				return fmt.Errorf("%s is no %s interface of %s, which has %v", safe(v), kind, n.Driver, hw.Interfaces[kind])
			}
			n.Interfaces[kind] = name // of a copy: Apply has cloned the node
			return nil
		},
	}
}

// pathOperation is the operation at the end of a path.
type pathOperation struct {
	makes  bool                                                             // objects that are missing on the way are made
	whole  func(set func(any) error, a args) error                          // to a whole attribute
	inside func(r *evaluation, at map[string]any, key string, a args) error // to a part of one
}

var set = pathOperation{
	makes: true,
	whole: func(set func(any) error, a args) error { return set(a["value"]) },
	inside: func(_ *evaluation, at map[string]any, key string, a args) error {
		at[key] = copyValue(a["value"])
		return nil
	},
}

// extend appends to a list, and makes a missing one. With unique it does not append a value that the list has.
var extend = pathOperation{
	makes: true,
	whole: func(func(any) error, args) error { return fmt.Errorf("it is not a list") },
	inside: func(r *evaluation, at map[string]any, key string, a args) error {
		unique, err := a.truth("unique")
		if err != nil {
			return err
		}
		list, ok := at[key].([]any)
		if !ok && at[key] != nil {
			return fmt.Errorf("it is %s, not a list", nodeapi.JSONKind(at[key]))
		}
		if err := r.spend(valuePrice * len(list)); err != nil {
			return err
		}
		if !unique || !slices.ContainsFunc(list, func(v any) bool { return equal(v, a["value"]) }) {
			at[key] = append(list, copyValue(a["value"]))
		}
		return nil
	},
}

// del removes a value; a missing one is no error.
var del = pathOperation{
	whole: func(set func(any) error, _ args) error { return set(nil) },
	inside: func(_ *evaluation, at map[string]any, key string, _ args) error {
		delete(at, key)
		return nil
	},
}

// at does a verb inside of an object.
func (do pathOperation) at(r *evaluation, top map[string]any, path []string, a args) error {
	in, err := holder(top, path, do.makes)
	if err != nil || in == nil {
		return err
	}
	if err := do.inside(r, in, path[len(path)-1], a); err != nil {
		return fmt.Errorf("%s: %w", safe(strings.Join(path, "/")), err)
	}
	return nil
}

// change does a verb to an attribute, or to a part of one.
func change[T any](r *evaluation, of *T, table map[string]attribute[T], what string, path []string, do pathOperation,
	a args) error {
	at, ok := table[path[0]]
	if !ok || at.set == nil {
		return fmt.Errorf("rules cannot change %q of a %s", safe(path[0]), what)
	}
	var err error
	if len(path) == 1 {
		err = do.whole(func(v any) error { return at.set(of, v) }, a)
	} else if top, ok := at.get(of).(map[string]any); ok {
		err = do.at(r, top, path[1:], a)
	} else {
		err = fmt.Errorf("it has no parts")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path[0], err)
	}
	return nil
}
