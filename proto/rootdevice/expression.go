package rootdevice

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The operators are OpenStack's extra specs operators, as in Ironic's hints: an operator, the operand, as a rule a
// blank between them.

// cutOperator splits an expression that begins with one of the operators; op is
// empty when it begins with none. Of two that fit it is the longer (">=", not ">").
func cutOperator[T any](text string, operators map[string]T) (op, rest string) {
	for known := range operators {
		if strings.HasPrefix(text, known) && len(known) > len(op) {
			op = known
		}
	}
	return op, strings.TrimSpace(text[len(op):])
}

// numberOperators compare numbers; "=" is at least, for reasons of history.
func numberOperators() map[string]func(have, want float64) bool {
	return map[string]func(have, want float64) bool{
		"=":  func(h, w float64) bool { return h >= w },
		"==": func(h, w float64) bool { return h == w },
		"!=": func(h, w float64) bool { return h != w },
		">=": func(h, w float64) bool { return h >= w },
		"<=": func(h, w float64) bool { return h <= w },
		">":  func(h, w float64) bool { return h > w },
		"<":  func(h, w float64) bool { return h < w },
	}
}

// textOperators compare text, in lower case.
func textOperators() map[string]func(have, want string) bool {
	return map[string]func(have, want string) bool{
		"s==":      func(h, w string) bool { return h == w },
		"s!=":      func(h, w string) bool { return h != w },
		"s>=":      func(h, w string) bool { return h >= w },
		"s>":       func(h, w string) bool { return h > w },
		"s<=":      func(h, w string) bool { return h <= w },
		"s<":       func(h, w string) bool { return h < w },
		"<in>":     strings.Contains,
		"<all-in>": containsAll,
	}
}

func containsAll(have, words string) bool {
	for _, w := range strings.Fields(words) {
		if !strings.Contains(have, w) {
			return false
		}
	}
	return true
}

// either stands before each of several values, one of which is enough.
const either = "<or>"

// parseTruth reads true and false as Ironic does.
func parseTruth(hint any) (bool, error) {
	is, known := nodeapi.Truth(fmt.Sprint(hint))
	if !known {
		return false, fmt.Errorf("%v is neither true nor false", hint)
	}
	return is, nil
}

// parseNumber understands a hint on a number of GiB. Without an operator it must
// be met to the whole GiB, since disks are sold by rounded sizes.
func parseNumber(hint any) (func(have float64) bool, error) {
	var text string
	switch v := hint.(type) {
	case float64: // a JSON number
		text = strconv.FormatFloat(v, 'f', -1, 64)
	case int, int64, json.Number, string:
		text = strings.TrimSpace(fmt.Sprint(v))
	default:
		return nil, fmt.Errorf("%v is not a number of GiB with an operator before it", hint)
	}
	if strings.HasPrefix(text, either) {
		return anyNumber(text)
	}
	op, number := cutOperator(text, numberOperators())
	if word, _, more := strings.Cut(text, " "); op == "" && more {
		return nil, fmt.Errorf("operator %q is not one of =, ==, !=, >=, <=, >, <, %s", word, either)
	}
	want, err := gib(number)
	if op == "" {
		return func(have float64) bool { return math.Trunc(have) == math.Trunc(want) }, err
	}
	compare := numberOperators()[op]
	return func(have float64) bool { return compare(have, want) }, err
}

// anyNumber is several sizes, each to the whole GiB.
func anyNumber(text string) (func(have float64) bool, error) {
	choices, err := alternatives(text)
	if err != nil {
		return nil, err
	}
	var wanted []float64
	for _, choice := range choices {
		want, err := gib(choice)
		if err != nil {
			return nil, err
		}
		wanted = append(wanted, math.Trunc(want))
	}
	return func(have float64) bool { return slices.Contains(wanted, math.Trunc(have)) }, nil
}

func gib(text string) (float64, error) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
		return 0, fmt.Errorf("%q is not a number of GiB with an operator before it", text)
	}
	return n, nil
}

// parseText understands a hint on text. A hint that names a whole value may name any form
// the disk has it in, and denies all of them when it is a negation. Other operators look at
// the first form only. An unknown value satisfies nothing, not even a negation.
func parseText(hint any) (func(values []string) bool, error) {
	given, ok := hint.(string)
	if !ok {
		return nil, fmt.Errorf("expected a string, found %v", hint)
	}
	text := strings.ToLower(strings.TrimSpace(unquote(given)))
	op, rest := operatorOf(text)
	if word, _, _ := strings.Cut(text, " "); op == "<" && strings.HasSuffix(word, ">") {
		return nil, fmt.Errorf("operator %q is not one of <in>, <all-in>, %s, s==, s!=, s>=, s>, s<=, s<", word, either)
	}
	holds, known, err := comparison(op, text, rest)
	switch {
	case err != nil:
		return nil, err
	case known && rest == "", text == "":
		return nil, fmt.Errorf("%q has nothing to compare with", given)
	case !known:
		holds = func(have string) bool { return have == text }
	}
	return func(values []string) bool {
		fits := func(v string) bool { return holds(strings.ToLower(v)) }
		switch {
		case len(values) == 0:
			return false
		case op == "s!=":
			return !slices.ContainsFunc(values, func(v string) bool { return !fits(v) })
		case !known, op == "s==", op == either:
			return slices.ContainsFunc(values, fits)
		}
		return fits(values[0])
	}, nil
}

// operatorOf splits an expression on text, where numbers may be compared too.
func operatorOf(text string) (op, rest string) {
	if op, rest = cutOperator(text, map[string]bool{either: true}); op != "" {
		return op, rest
	}
	if op, rest = cutOperator(text, textOperators()); op != "" {
		return op, rest
	}
	return cutOperator(text, numberOperators())
}

// comparison returns an operator's test on text; known is false when it is none.
func comparison(op, text, want string) (holds func(have string) bool, known bool, err error) {
	if op == either {
		choices, err := alternatives(text)
		return func(have string) bool { return slices.Contains(choices, have) }, true, err
	}
	if compare := textOperators()[op]; compare != nil {
		return func(have string) bool { return compare(have, want) }, true, nil
	}
	compare := numberOperators()[op]
	if compare == nil || want == "" {
		return nil, compare != nil, nil
	}
	number, err := strconv.ParseFloat(want, 64)
	if err != nil {
		return nil, true,
			fmt.Errorf("operator %q compares numbers, and %q is none; text is compared by s==, s!= and the like", op, want)
	}
	return func(have string) bool {
		n, err := strconv.ParseFloat(have, 64)
		return err == nil && compare(n, number)
	}, true, nil
}

// alternatives splits "<or> a <or> b".
func alternatives(text string) ([]string, error) {
	var all []string
	for choice := range strings.SplitSeq(text, either) {
		if choice = strings.TrimSpace(choice); choice != "" {
			all = append(all, choice)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%q has nothing to compare with", text)
	}
	return all, nil
}

// unquote undoes the URL quoting Ironic stores strings with.
func unquote(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}
