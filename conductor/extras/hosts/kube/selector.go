package kube

import (
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
)

// requirement is one condition on labels.
type requirement struct {
	key    string
	values []string
	op     string // "in", "notin", "exists", "absent"
}

// selector is conditions that must all hold.
type selector []requirement

func (s selector) matches(labels map[string]string) bool {
	for _, r := range s {
		value, has := labels[r.key]
		holds := has
		switch r.op {
		case "in":
			holds = has && slices.Contains(r.values, value)
		case "notin":
			holds = !has || !slices.Contains(r.values, value)
		case "absent":
			holds = !has
		}
		if !holds {
			return false
		}
	}
	return true
}

// parseSelector reads "a=b,c!=d,e in (f,g),h notin (i),j,!k".
func parseSelector(text string) (s selector, err error) {
	for _, part := range splitOutside(text) {
		r, ok := parseRequirement(strings.TrimSpace(part))
		if !ok {
			return nil, badRequest("unable to parse requirement %q of the label selector: "+
				"expected key=value, key!=value, key in (a,b), key notin (a,b), key or !key", part)
		}
		s = append(s, r)
	}
	return s, nil
}

// splitOutside splits at commas that are in no parentheses.
func splitOutside(text string) (parts []string) {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	depth, from := 0, 0
	for i, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			parts, from = append(parts, text[from:i]), i+1
		}
	}
	return append(parts, text[from:])
}

func parseRequirement(s string) (requirement, bool) {
	word := func(s string) bool { return s != "" && !strings.ContainsAny(s, " \t(),=!") }
	value := func(s string) bool { return s == "" || word(s) }
	for _, op := range []struct{ sign, op string }{{"!=", "notin"}, {"==", "in"}, {"=", "in"}} {
		if key, v, ok := strings.Cut(s, op.sign); ok {
			key, v = strings.TrimSpace(key), strings.TrimSpace(v)
			return requirement{key: key, values: []string{v}, op: op.op}, word(key) && value(v)
		}
	}
	if key, ok := strings.CutPrefix(s, "!"); ok {
		key = strings.TrimSpace(key)
		return requirement{key: key, op: "absent"}, word(key)
	}
	key, rest, ok := strings.Cut(s, " ")
	if !ok {
		return requirement{key: s, op: "exists"}, word(s)
	}
	op, set, _ := strings.Cut(strings.Replace(strings.TrimSpace(rest), "(", " (", 1), " ")
	set, opened := strings.CutPrefix(strings.TrimSpace(set), "(")
	set, closed := strings.CutSuffix(set, ")")
	r := requirement{key: key, op: op}
	fine := opened && closed && word(key) && (op == "in" || op == "notin")
	for v := range strings.SplitSeq(set, ",") {
		r.values = append(r.values, strings.TrimSpace(v))
		fine = fine && value(strings.TrimSpace(v))
	}
	return r, fine
}

// selected is which documents a request is about.
type selected struct {
	objects.Filter
	labels selector
	none   bool // the fields contradict each other, or the path
}

// selected reads labelSelector and fieldSelector.
func (c *call) selected() (s selected, err error) {
	s.Filter = objects.Filter{Kind: c.kind.Kind, Namespace: c.namespace}
	if s.labels, err = parseSelector(c.arg("labelSelector")); err != nil {
		return s, err
	}
	for _, part := range splitOutside(c.arg("fieldSelector")) {
		key, value, ok := strings.Cut(part, "=")
		value = strings.TrimPrefix(value, "=")
		into := map[string]*string{"metadata.name": &s.Name, "metadata.namespace": &s.Namespace}[strings.TrimSpace(key)]
		if !ok || into == nil {
			return s, badRequest("field label not supported: %q; expected metadata.name=NAME or metadata.namespace=NAME", part)
		}
		s.none = s.none || *into != "" && *into != value || value == ""
		*into = value
	}
	return s, nil
}
