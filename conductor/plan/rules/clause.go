package rules

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// signature is the arguments of an operator or action.
type signature struct {
	required []string
	optional []string
	// filled are the arguments in which replacement fields are filled in. In a loop all are.
	filled []string
}

// args are the arguments of a clause by name.
type args map[string]any

// Conditions reads the conditions of a rule from decoded JSON, and refuses conditions that could never be evaluated.
func Conditions(value any) ([]node.Clause, error) {
	return clauses(value, func(c *node.Clause) error {
		op, ok := operators[strings.TrimPrefix(c.Op, "!")]
		if !ok {
			return fmt.Errorf("'%s' is not one of %s, each of which a ! may turn around", c.Op, names(operators))
		}
		return op.check(c)
	})
}

// Actions is Conditions for actions, of which a rule needs one at least.
func Actions(value any) ([]node.Clause, error) {
	list, err := clauses(value, func(c *node.Clause) error {
		act, ok := actions[c.Op]
		if !ok {
			return fmt.Errorf("'%s' is not one of %s", c.Op, names(actions))
		}
		c.Multiple = ""
		return act.check(c)
	})
	if err == nil && len(list) == 0 {
		return nil, fmt.Errorf("[] is too short")
	}
	return list, err
}

func names[V any](table map[string]V) string {
	return "'" + strings.Join(slices.Sorted(maps.Keys(table)), "', '") + "'"
}

// clauses reads a list of them. As in Ironic, unknown keys are dropped: the stored rule
// lacks them.
func clauses(value any, check func(*node.Clause) error) ([]node.Clause, error) {
	items, ok := value.([]any)
	if !ok {
		return nil, fmt.Errorf("%s is not of type 'array'", nodeapi.Python(value))
	}
	list := make([]node.Clause, len(items))
	for i, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s is not of type 'object'", nodeapi.Python(item))
		}
		c, err := clause(m)
		if err != nil {
			return nil, err
		}
		if err := check(&c); err != nil {
			return nil, err
		}
		list[i] = c
	}
	return list, nil
}

func clause(m map[string]any) (node.Clause, error) {
	for _, key := range []string{"op", "args"} {
		if _, ok := m[key]; !ok {
			return node.Clause{}, fmt.Errorf("'%s' is a required property", key)
		}
	}
	c := node.Clause{Args: m["args"]}
	c.Op, _ = m["op"].(string)
	if c.Op == "" {
		return c, fmt.Errorf("%s is not the name of an operation", nodeapi.Python(m["op"]))
	}
	switch loop := m["loop"].(type) {
	case []any:
		if len(loop) > 0 {
			c.Loop = loop
		}
	case map[string]any:
		if len(loop) > 0 {
			c.Loop = loop
		}
	default:
		if _, there := m["loop"]; there {
			return c, fmt.Errorf("%s is not of type 'array', 'object'", nodeapi.Python(loop))
		}
	}
	multiple, there := m["multiple"]
	if !there {
		multiple = "any"
	}
	switch multiple {
	case "any", "all", "first", "last":
	default:
		return c, fmt.Errorf("%s is not one of ['any', 'all', 'first', 'last']", nodeapi.Python(multiple))
	}
	if c.Loop != nil {
		c.Multiple, _ = multiple.(string)
	}
	return c, nil
}

// named returns the arguments of a clause by name. A list has them by position, the required ones first.
func (s signature) named(c *node.Clause) (args, error) {
	known := slices.Concat(s.required, s.optional)
	a := args{}
	switch given := c.Args.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(given)) {
			if !slices.Contains(known, name) {
				//nolint:staticcheck // Ironic's words
				return nil, fmt.Errorf("Invalid parameters for %s: unexpected argument(s): %s", c.Op,
					name)
			}
			a[name] = given[name]
		}
	case []any:
		if len(given) > len(known) {
			//nolint:staticcheck // Ironic's words
			return nil, fmt.Errorf("Invalid parameters for %s: %d arguments, it takes %d: %s", c.Op, len(given), len(known),
				strings.Join(known, ", "))
		}
		for i, v := range given {
			a[known[i]] = v
		}
	default:
		return nil, fmt.Errorf("args must be either a list or dictionary")
	}
	for _, name := range s.required {
		if _, ok := a[name]; !ok {
			//nolint:staticcheck // Ironic's words
			return nil, fmt.Errorf("Invalid parameters for %s: missing required argument(s): %s", c.Op,
				name)
		}
	}
	return a, nil
}

// each calls do with the arguments of a clause, filled in: once, or once for
// every item of its loop. do reports whether it has had enough.
func (r *evaluation) each(s signature, c *node.Clause, do func(args) (enough bool, err error)) error {
	given, err := s.named(c)
	if err != nil {
		return err
	}
	var items []any
	switch loop := c.Loop.(type) {
	case []any:
		items = loop
	case nil:
		items = []any{nil}
	default:
		items = []any{loop}
	}
	for _, item := range items {
		if err := r.spend(clausePrice); err != nil {
			return err
		}
		a, err := r.filled(s, c, given, item)
		if err != nil {
			return err
		}
		if enough, err := do(a); enough || err != nil {
			return err
		}
	}
	return nil
}

// filled fills in replacement fields. Fields of a loop's item are replaced first, so that
// text from a machine is never searched for fields.
func (r *evaluation) filled(s signature, c *node.Clause, given args, item any) (args, error) {
	r.looping, r.item = false, nil
	missing := strings.TrimPrefix(c.Op, "!") == "is-empty"
	looping := c.Loop != nil
	if looping {
		var err error
		if item, err = r.fill(item, missing); err != nil {
			return nil, err
		}
		r.looping, r.item = true, item
	}
	a := args{}
	for name, v := range given {
		if looping || slices.Contains(s.filled, name) {
			var err error
			if v, err = r.fill(v, missing); err != nil {
				return nil, err
			}
		}
		a[name] = v
	}
	return a, nil
}

// text is an argument that must be text; numbers are taken for theirs.
func (a args) text(name string) (string, error) {
	switch v := a[name].(type) {
	case string:
		return v, nil
	case float64:
		return nodeapi.Python(v), nil
	}
	return "", fmt.Errorf("%s must be text, not %s", name, nodeapi.JSONKind(a[name]))
}

// truth is an optional yes or no.
func (a args) truth(name string) (bool, error) {
	if a[name] == nil {
		return false, nil
	}
	b, ok := isTrue(a[name]), isFalse(a[name])
	if b == ok {
		return false, fmt.Errorf("%s must be true or false, not %s", name, nodeapi.JSONKind(a[name]))
	}
	return b, nil
}

// number is an optional number from 0 to limit; a loop makes text of it.
func (a args) number(name string, absent, limit float64) (float64, error) {
	n, ok := a[name].(float64)
	if s, text := a[name].(string); text {
		parsed, err := strconv.ParseFloat(s, 64)
		n, ok = parsed, err == nil
	}
	switch {
	case a[name] == nil:
		return absent, nil
	case !ok:
		return 0, fmt.Errorf("%s must be a number, not %s", name, nodeapi.JSONKind(a[name]))
	case !(n >= 0 && n <= limit): // NaN is neither
		return 0, fmt.Errorf("%s must be from 0 to %v", name, limit)
	}
	return n, nil
}
