package oslopolicy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
	"github.com/ferrite-metal/ferrite/proto/onedocument"
)

// Bounds of a file.
const (
	// MaxSize is in bytes. A file with all rules of Ironic and their descriptions has 120 KiB.
	MaxSize   = 1 << 20
	maxRules  = 2000  // Ironic has 133
	maxName   = 100   // bytes of a rule's name
	maxFaults = 20    // that are listed
	maxCost   = 10000 // checks behind one rule, with the rules that it refers to
)

// Language is the part of the language that a program adds.
type Language struct {
	// Known refuses a name that is no rule of the program; nil for a known one. A name without a colon may be defined by
	// the file, if another rule refers to it.
	Known func(name string) error
	// Names are suggested in place of unknown names.
	Names []string
	// Default is the program's own rule, for rules that refer to it; nil for none.
	Default func(name string) Check
	// Constants are keys with one value for all requests, such as config.service_project_name.
	Constants map[string]string
}

// Rules are the rules of a file by name.
type Rules map[string]Check

// rule is one rule of a file, while it is read.
type rule struct {
	name   string
	line   int
	is     Check
	refers []*reference
	cost   int

	referred bool // by another rule
	open     bool // on the way from another rule
}

// reader reads one file.
type reader struct {
	Language
	rules  map[string]*rule
	order  []*rule
	faults []error
}

// Parse reads a file of rules, in YAML or JSON. Each fault names its line.
func Parse(raw []byte, l Language) (Rules, error) {
	if len(raw) > MaxSize {
		return nil, fmt.Errorf("expected at most %d bytes, found %d", MaxSize, len(raw))
	}
	r := &reader{Language: l, rules: map[string]*rule{}}
	root, err := document(raw)
	if err != nil || root == nil {
		return Rules{}, err
	}
	if n := len(root.Content) / 2; n > maxRules {
		return nil, fmt.Errorf("expected at most %d rules, found %d", maxRules, n)
	}
	for i := 0; i+1 < len(root.Content) && !r.full(); i += 2 {
		r.define(root.Content[i], root.Content[i+1])
	}
	for _, look := range []func(*rule){r.resolve, r.checkName, func(one *rule) { r.walk(one, nil) }} {
		for _, one := range r.order {
			if !r.full() { // a suggestion for each name of a large file takes long
				look(one)
			}
		}
	}
	if r.full() {
		r.faults = append(r.faults, errors.New("there may be more faults"))
	}
	if err := errors.Join(r.faults...); err != nil {
		return nil, err
	}
	out := Rules{}
	for name, one := range r.rules {
		out[name] = one.is
	}
	return out, nil
}

// document is the map that a file has; nil for an empty file.
func document(raw []byte) (*yaml.Node, error) {
	if err := onedocument.Check(raw); err != nil {
		return nil, err
	}
	if json.Valid(raw) { // YAML does not indent by tabs, and no string of JSON contains one
		raw = bytes.ReplaceAll(raw, []byte("\t"), []byte(" "))
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, err
	}
	if doc.Kind == 0 {
		return nil, nil
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: expected a map of rules to checks, found %s", root.Line, kindOf(root))
	}
	return root, nil
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.AliasNode:
		return "an alias (*" + n.Value + "): write the rule out, or refer to it by rule:NAME"
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode, yaml.DocumentNode:
	}
	return fmt.Sprintf("%q", n.Value)
}

// full reports whether there are enough faults.
func (r *reader) full() bool { return len(r.faults) >= maxFaults }

// fault notes that a rule is wrong.
func (r *reader) fault(line int, name string, err error) {
	r.faults = append(r.faults, fmt.Errorf("line %d: rule %s: %w", line, name, err))
}

// define reads one rule.
func (r *reader) define(key, value *yaml.Node) {
	name := key.Value
	switch before := r.rules[name]; {
	case key.Kind != yaml.ScalarNode || key.Tag != "!!str" || name == "":
		r.faults = append(r.faults, fmt.Errorf("line %d: expected the name of a rule, found %s", key.Line, kindOf(key)))
		return
	case len(name) > maxName:
		r.fault(key.Line, fmt.Sprintf("%.30q...", name), fmt.Errorf("expected a name of at most %d bytes", maxName))
		return
	case before != nil:
		r.fault(key.Line, name, fmt.Errorf("expected each rule once, found it in line %d, too", before.line))
		return
	}
	one := &rule{name: name, line: value.Line}
	r.rules[name] = one
	r.order = append(r.order, one)
	p := &parser{fixed: r.Constants, refer: func(name string) (Check, error) {
		to := &reference{name: name, line: one.line}
		one.refers = append(one.refers, to)
		return to, nil
	}}
	var err error
	if one.is, err = p.rule(value); err != nil {
		r.fault(one.line, name, err)
	}
	one.cost = p.checks
}

// rule reads the value of a rule: a text, or a list of checks and of lists of checks.
func (p *parser) rule(value *yaml.Node) (Check, error) {
	if value.Kind != yaml.SequenceNode {
		text, err := textOf(value)
		if err != nil {
			return nil, err
		}
		return p.text(text)
	}
	var items [][]string
	for _, item := range value.Content {
		parts := []*yaml.Node{item}
		if item.Kind == yaml.SequenceNode {
			parts = item.Content
		}
		words := make([]string, len(parts))
		for i, part := range parts {
			var err error
			if words[i], err = textOf(part); err != nil {
				return nil, err
			}
		}
		items = append(items, words)
	}
	return p.list(items)
}

// textOf is a text of a rule. true and false are refused: oslo.policy does not know them, and denies.
func textOf(n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		return "", fmt.Errorf("expected a check in quotes, or a list of checks, found %s (@ is always, ! is never)",
			kindOf(n))
	}
	return n.Value, nil
}

// resolve finds the rules that a rule refers to: of the file, or else of the program, or the usual helpers.
func (r *reader) resolve(one *rule) {
	for _, to := range one.refers {
		if in := r.rules[to.name]; in != nil {
			to.of, in.referred = in.is, true
			continue
		}
		if r.Default != nil {
			if to.of = r.Default(to.name); to.of != nil {
				continue
			}
		}
		text, is := helpers[to.name]
		if !is {
			r.fault(to.line, one.name, unknownRule(to.name, slices.Concat(slices.Collect(maps.Keys(r.rules)), r.Names)))
			continue
		}
		r.define(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: to.name, Line: to.line},
			&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Line: to.line})
		in := r.rules[to.name]
		r.resolve(in) // the file may have another rule in place of a helper that this one refers to
		to.of, in.referred = in.is, true
	}
}

// helpers are the rules of Ironic that only other rules refer to.
var helpers = map[string]string{
	"admin_api":           "role:admin or role:administrator",
	"is_admin":            "rule:admin_api",
	"is_node_owner":       "project_id:%(node.owner)s",
	"is_node_lessee":      "project_id:%(node.lessee)s",
	"is_allocation_owner": "project_id:%(allocation.owner)s",
	"service_role":        "role:service and project_name:%(config.service_project_name)s",
}

func unknownRule(name string, names []string) error {
	slices.Sort(names)
	return fmt.Errorf("expected a rule of the file or of the conductor, found rule:%s%s", name,
		nodeapi.DidYouMean(name, names))
}

// checkName refuses a name that is no rule, and a helper that no rule refers to.
func (r *reader) checkName(one *rule) {
	if _, usual := helpers[one.name]; usual || one.referred && !strings.Contains(one.name, ":") {
		return
	}
	if err := r.Known(one.name); err != nil {
		r.fault(one.line, one.name, err)
	}
}

// walk refuses rules that refer to each other in a circle, and sums up the checks behind a rule. Rules
// that refer to the next rule twice each make 2^n checks of n lines.
func (r *reader) walk(one *rule, way []string) {
	way = append(way, one.name)
	one.open = true
	defer func() { one.open = false }()
	for _, to := range one.refers {
		next := r.rules[to.name]
		if next == nil { // the conductor's
			continue
		}
		if next.open {
			from := slices.Index(way, next.name)
			r.fault(one.line, one.name, fmt.Errorf("expected rules that do not lead back to themselves, found %s",
				strings.Join(append(way[from:len(way):len(way)], next.name), " -> ")))
			continue
		}
		r.walk(next, way)
		one.cost += next.cost
	}
	if one.cost > maxCost {
		r.fault(one.line, one.name, fmt.Errorf("expected at most %d checks with the rules that it refers to", maxCost))
		one.cost = maxCost
	}
	one.refers = nil // it is walked
}
