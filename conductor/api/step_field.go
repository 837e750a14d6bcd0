package api

import (
	"math"
	"slices"
	"strconv"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// ranked is a step that is kept, and the number it is ordered by.
type ranked struct {
	node.Step
	rank int
}

// stepRules is how the steps of a kind of resource are written.
type stepRules struct {
	rank     string   // the name of the number
	required []string // the required properties of a step
}

// keptInterfaces are the interfaces that steps of templates and runbooks may name, in Ironic's order.
func keptInterfaces() []any {
	return []any{"vendor", "power", "management", "firmware", "deploy", "bios", "raid"}
}

// stepsField is the list of steps of a template or runbook: read returns them,
// write takes the new ones.
func stepsField[T any](rules stepRules, read func(*T) []ranked, write func(*T, []ranked)) rest.Field[T] {
	list := func(of *T, mask func(map[string]any) map[string]any) []any {
		steps := []any{}
		for _, s := range read(of) {
			args := mask(s.Args)
			if args == nil {
				args = map[string]any{}
			}
			steps = append(steps,
				map[string]any{"interface": s.Interface, "step": s.Step.Step, "args": args, rules.rank: s.rank})
		}
		return steps
	}
	f := rest.Field[T]{Name: "steps", Since: 1, Use: both, Form: rules.form()}
	f.Show = func(dst []byte, v *rest.View[T]) []byte { return rest.AppendAny(dst, list(v.Of, nodeapi.Mask)) }
	f.Get = func(of *T) any { return list(of, func(clear map[string]any) map[string]any { return clear }) }
	f.Set = func(of *T, value any) error {
		items, ok := value.([]any)
		switch {
		case !ok:
			return rest.WrongType(value, "array")
		case len(items) == 0:
			return &rest.SchemaError{Text: "[] is too short"}
		}
		steps := make([]ranked, len(items))
		for i, item := range items {
			var err error
			if steps[i], err = rules.read(item); err != nil {
				return err
			}
		}
		write(of, steps)
		return nil
	}
	return f
}

// form is the schema of such a list.
func (r stepRules) form() rest.Schema {
	step := rest.Schema{"type": "object", "additionalProperties": false, "required": r.required, "properties": rest.Schema{
		"interface": rest.Schema{"enum": keptInterfaces()}, "step": rest.Schema{"type": "string", "minLength": 1},
		"args": rest.Schema{"type": "object"}, r.rank: rest.Schema{"type": []string{"integer", "string"}, "minimum": 0},
	}}
	return rest.Schema{"type": "array", "minItems": 1, "items": step}
}

// read checks one step as an operator wrote it.
func (r stepRules) read(item any) (ranked, error) {
	var s ranked
	m, ok := item.(map[string]any)
	if !ok {
		return s, rest.WrongType(item, "object")
	}
	for _, key := range r.required {
		if _, ok := m[key]; !ok {
			return s, &rest.SchemaError{Text: "'" + key + "' is a required property"}
		}
	}
	for _, key := range rest.SortedKeys(m) {
		var err error
		switch key {
		case "interface":
			if s.Interface, _ = m[key].(string); !slices.Contains(keptInterfaces(), any(s.Interface)) {
				err = &rest.SchemaError{Text: rest.Python(m[key]) + " is not one of " + rest.Python(keptInterfaces())}
			}
		case "step":
			s.Step.Step, err = someText(m[key])
		case "args":
			if s.Args, ok = m[key].(map[string]any); !ok {
				err = rest.WrongType(m[key], "object")
			}
		case r.rank:
			s.rank, err = asRank(m[key])
		default:
			err = &rest.SchemaError{Text: rest.Additional(key)}
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// someText is text that is not empty.
func someText(value any) (string, error) {
	s, ok := value.(string)
	switch {
	case !ok:
		return "", rest.WrongType(value, "string")
	case s == "":
		return "", &rest.SchemaError{Text: "'' is too short"}
	}
	return s, nil
}

// asRank takes a whole number from 0, or its digits as text.
func asRank(value any) (int, error) {
	number, ok := value.(float64)
	if digits, text := value.(string); text {
		n, err := strconv.ParseUint(digits, 10, 31)
		number, ok = float64(n), err == nil
	}
	if !ok || number < 0 || number > math.MaxInt32 || number != math.Trunc(number) {
		return 0, &rest.SchemaError{
			Text: rest.Python(value) + " is not valid under any of the given schemas. Possible root cause: it is not a whole " +
				"number from 0 to 2147483647",
		}
	}
	return int(number), nil
}
