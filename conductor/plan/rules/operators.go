package rules

import (
	"fmt"
	"net/netip"
	"reflect"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// operator is one kind of condition.
type operator struct {
	signature
	holds func(r *evaluation, a args) (bool, error)
}

// operators is all of them, by Ironic's names. An argument is text when it came
// out of a replacement field, so numbers are compared with force_strings or not
// at all: "8" is not 8.
var operators = map[string]operator{
	"eq":       {comparison, adjacent(func(x, y any) (bool, error) { return equal(x, y), nil })},
	"lt":       {comparison, adjacent(func(x, y any) (bool, error) { n, err := order(x, y); return n < 0, err })},
	"gt":       {comparison, adjacent(func(x, y any) (bool, error) { n, err := order(x, y); return n > 0, err })},
	"is-empty": {ofValue(), only(isEmpty)},
	"is-none":  {ofValue(), only(func(v any) bool { return v == nil })},
	"is-true":  {ofValue(), only(isTrue)},
	"is-false": {ofValue(), only(func(v any) bool { return v == nil || isFalse(v) })},
	"in-net":   {signature{required: []string{"address", "subnet"}, filled: []string{"address", "subnet"}}, inNet},
	"matches":  {ofValue("regex"), searched("^(?:", ")$")},
	"contains": {ofValue("regex"), searched("", "")},
	"one-of":   {signature{required: []string{"value"}, optional: []string{"values"}, filled: []string{"value"}}, oneOf},
}

var comparison = signature{required: []string{"values"}, optional: []string{"force_strings"},
	filled: []string{"values"}}

// ofValue is the signature of operators on one value.
func ofValue(more ...string) signature {
	return signature{required: append([]string{"value"}, more...), filled: []string{"value"}}
}

// check refuses a condition that could never be looked at.
func (o operator) check(c *node.Clause) error {
	a, err := o.named(c)
	if err != nil {
		return err
	}
	if regex, ok := a["regex"]; ok && c.Loop == nil { // in a loop it is yet to be filled in
		text, ok := regex.(string)
		if !ok {
			return fmt.Errorf("Invalid parameters for %s: regex must be text", c.Op) //nolint:staticcheck // Ironic's words
		}
		_, _, err = compile(text, "", "")
	}
	return err
}

// condition looks at one. With a loop the results of its items are combined as
// the clause says: "first" ends with the first that holds, "last" counts alone.
func (r *evaluation) condition(c *node.Clause) (bool, error) {
	name, inverted := strings.CutPrefix(c.Op, "!")
	op, ok := operators[name]
	if !ok {
		return false, fmt.Errorf("there is no such operator")
	}
	held := false
	err := r.each(op.signature, c, func(a args) (bool, error) {
		holds, err := op.holds(r, a)
		if err != nil {
			return true, err
		}
		held = holds != inverted
		switch c.Multiple {
		case "all":
			return !held, nil
		case "last":
			return false, nil
		}
		return held, nil
	})
	return held, err
}

// adjacent compares each value with the one after it.
func adjacent(holds func(x, y any) (bool, error)) func(*evaluation, args) (bool, error) {
	return func(r *evaluation, a args) (bool, error) {
		values, ok := a["values"].([]any)
		if !ok {
			return false, fmt.Errorf("values must be a list, not %s", nodeapi.JSONKind(a["values"]))
		}
		asText, err := a.truth("force_strings")
		if err != nil {
			return false, err
		}
		if asText || r.looping { // a loop fills in text
			values = slices.Clone(values)
			for i := range values {
				values[i] = textOf(values[i])
			}
		}
		for i := 1; i < len(values); i++ {
			if ok, err := holds(values[i-1], values[i]); !ok || err != nil {
				return false, err
			}
		}
		return true, nil
	}
}

func only(holds func(any) bool) func(*evaluation, args) (bool, error) {
	return func(_ *evaluation, a args) (bool, error) { return holds(a["value"]), nil }
}

// textOf is Python's str of a value.
func textOf(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return nodeapi.Python(v)
}

// number is a value as Python calculates with it: true is 1.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

func equal(x, y any) bool {
	a, aok := number(x)
	b, bok := number(y)
	if aok && bok {
		return a == b
	}
	return reflect.DeepEqual(x, y)
}

// order is negative when x comes before y. Text has no place among numbers.
func order(x, y any) (int, error) {
	a, aok := number(x)
	b, bok := number(y)
	if aok && bok {
		switch {
		case a < b:
			return -1, nil
		case a > b:
			return 1, nil
		}
		return 0, nil
	}
	s, sok := x.(string)
	t, tok := y.(string)
	if sok && tok {
		return strings.Compare(s, t), nil
	}
	return 0, fmt.Errorf("%s and %s have no order; force_strings compares them as text", nodeapi.JSONKind(x),
		nodeapi.JSONKind(y))
}

func isEmpty(v any) bool { return slices.Contains([]string{"", "None", "[]", "{}"}, textOf(v)) }

func isTrue(v any) bool {
	if s, ok := v.(string); ok {
		return strings.EqualFold(s, "yes") || strings.EqualFold(s, "true")
	}
	n, ok := number(v)
	return ok && n != 0
}

func isFalse(v any) bool {
	if s, ok := v.(string); ok {
		return strings.EqualFold(s, "no") || strings.EqualFold(s, "false")
	}
	n, ok := number(v)
	return ok && n == 0
}

func oneOf(r *evaluation, a args) (bool, error) {
	if a["values"] == nil {
		return false, nil
	}
	values, ok := a["values"].([]any)
	if !ok {
		return false, fmt.Errorf("values must be a list, not %s", nodeapi.JSONKind(a["values"]))
	}
	return slices.ContainsFunc(values, func(v any) bool { return equal(v, a["value"]) }), r.spend(len(values))
}

// inNet takes an address for a network of one, as Ironic does.
func inNet(_ *evaluation, a args) (bool, error) {
	subnet, err := a.text("subnet")
	if err != nil {
		return false, err
	}
	address, err := a.text("address")
	if err != nil {
		return false, err
	}
	network, err := netip.ParsePrefix(subnet)
	if err != nil {
		one, err := netip.ParseAddr(subnet)
		if err != nil {
			return false, fmt.Errorf("subnet %.60q is not a network such as 10.0.0.0/8", subnet)
		}
		network = netip.PrefixFrom(one, one.BitLen())
	}
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return false, fmt.Errorf("address %.60q is not an IP address", address)
	}
	return network.Contains(ip.Unmap().WithZone("")), nil
}

// Bounds of a pattern: its text, and the parts it is made of once repetitions
// are written out. A search takes time in proportion to parts times text.
const (
	maxPattern = 4096
	maxParts   = 10_000
)

// compile reads a pattern between two others, and says of how many parts it is.
// The syntax is RE2's (github.com/google/re2/wiki/Syntax): Python's without
// look-around and references back.
func compile(regex, before, after string) (*regexp.Regexp, int, error) {
	if len(regex) > maxPattern {
		return nil, 0, fmt.Errorf("the regular expression has %d bytes, the limit is %d", len(regex), maxPattern)
	}
	tree, err := syntax.Parse(regex, syntax.Perl)
	if err != nil {
		return nil, 0, fmt.Errorf("invalid regular expression: %w", err)
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, 0, fmt.Errorf("invalid regular expression: %w", err)
	}
	if len(program.Inst) > maxParts {
		return nil, 0, fmt.Errorf("the regular expression has %d parts, the limit is %d", len(program.Inst), maxParts)
	}
	re, err := regexp.Compile(before + regex + after)
	return re, len(program.Inst), err
}

// searched looks for a pattern in the text of a value.
func searched(before, after string) func(*evaluation, args) (bool, error) {
	return func(r *evaluation, a args) (bool, error) {
		regex, err := a.text("regex")
		if err != nil {
			return false, err
		}
		if err := r.spend(clausePrice * len(regex)); err != nil {
			return false, err
		}
		re, parts, err := compile(regex, before, after)
		if err != nil {
			return false, err
		}
		text := textOf(a["value"])
		if err := r.spend(parts * (len(text) + clausePrice)); err != nil {
			return false, err
		}
		return re.MatchString(text), nil
	}
}
