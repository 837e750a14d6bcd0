package oslopolicy

import (
	"slices"
	"strings"
)

// Verdict is the result of a check. Unknown is the result of a check that depends on a record which is not read yet.
type Verdict int8

// The verdicts, in the order that and, or and not rely on (Kleene's logic): and is the least, or the greatest, and not
// mirrors them.
const (
	Deny Verdict = iota
	Unknown
	Allow
)

// Subject is the caller of a request.
type Subject interface {
	// Has reports whether the caller has a role. Roles of OpenStack have no case.
	Has(role string) bool
	// Attribute is one of Attributes; false where the caller has none.
	Attribute(name string) (string, bool)
}

// Attributes are the credentials that a check may name, as Ironic's context has them.
var Attributes = []string{"project_id", "project_name", "project_domain_id", "user_id", "user_domain_id",
	"system_scope", "is_admin", "is_public_api"}

// Target is the record that a request is about.
type Target struct {
	Kind          string // node, allocation or runbook: the first part of the keys in %(KIND.owner)s
	Owner, Lessee string // projects; "" is none
	// Unread says that the record is not read yet: checks of its owner and lessee are Unknown.
	Unread bool
}

// Check is one rule, or a part of one.
type Check interface {
	Eval(s Subject, t *Target) Verdict
}

// constant is @, ! or an empty rule.
type constant Verdict

// Eval is the constant.
func (c constant) Eval(Subject, *Target) Verdict { return Verdict(c) }

type (
	both    []Check // and
	either  []Check // or
	negated struct{ of Check }
)

// Eval is the least of the parts.
func (b both) Eval(s Subject, t *Target) Verdict {
	least := Allow
	for _, c := range b {
		if least = min(least, c.Eval(s, t)); least == Deny {
			break
		}
	}
	return least
}

// Eval is the greatest of the parts.
func (e either) Eval(s Subject, t *Target) Verdict {
	most := Deny
	for _, c := range e {
		if most = max(most, c.Eval(s, t)); most == Allow {
			break
		}
	}
	return most
}

// Eval mirrors the part.
func (n negated) Eval(s Subject, t *Target) Verdict { return Allow - n.of.Eval(s, t) }

func verdict(yes bool) Verdict {
	if yes {
		return Allow
	}
	return Deny
}

// hasRole is role:NAME.
type hasRole struct{ name template }

// Eval looks for the role.
func (r hasRole) Eval(s Subject, t *Target) Verdict {
	name, is := r.name.value(s, t)
	if is != present {
		return is.verdict()
	}
	return verdict(s.Has(name))
}

// reference is rule:NAME. of is set once all rules are read.
type reference struct {
	name string
	line int
	of   Check
}

// Eval evaluates the rule.
func (r *reference) Eval(s Subject, t *Target) Verdict { return r.of.Eval(s, t) }

// comparison is ATTRIBUTE:TEXT or 'LITERAL':TEXT.
type comparison struct {
	attribute string // "" for a literal
	literal   string
	none      bool // the literal is Python's None, which oslo.policy turns into the text None
	text      template
}

// Eval compares the texts, as oslo.policy does, with one exception: a caller without a project is not the owner of a
// record without one. To oslo.policy both are None.
func (c comparison) Eval(s Subject, t *Target) Verdict {
	want, is := c.text.value(s, t)
	if is == missing || is == unread {
		return is.verdict()
	}
	if c.attribute == "" {
		return verdict(c.none && (is == none || want == pythonNone) || !c.none && is == present && want == c.literal)
	}
	got, has := s.Attribute(c.attribute)
	if !has {
		return verdict(is == present && want == pythonNone && c.text.constant())
	}
	return verdict(is == present && got == want)
}

// pythonNone is how oslo.policy writes an attribute without a value.
const pythonNone = "None"

// presence reports whether a value can be compared.
type presence int8

const (
	missing presence = iota // the target has no such key: the check fails
	unread                  // the record is not read yet
	none                    // there is the key, without a value
	present
)

func (p presence) verdict() Verdict {
	if p == unread {
		return Unknown
	}
	return Deny
}

// template is the text behind the colon, with keys such as %(node.owner)s in it.
type template []segment

// segment is a text, or a key.
type segment struct{ text, key string }

// constant reports whether the text has no keys.
func (t template) constant() bool {
	return !slices.ContainsFunc(t, func(s segment) bool { return s.key != "" })
}

// value fills the keys in.
func (t template) value(s Subject, of *Target) (string, presence) {
	if len(t) == 1 { // all but odd ones, and without an allocation
		return t[0].value(s, of)
	}
	var out strings.Builder
	for _, part := range t {
		text, is := part.value(s, of)
		switch is {
		case missing, unread:
			return "", is
		case none:
			text = pythonNone
		case present:
		}
		out.WriteString(text)
	}
	return out.String(), present
}

func (g segment) value(s Subject, t *Target) (string, presence) {
	if g.key == "" {
		return g.text, present
	}
	kind, part, _ := strings.Cut(g.key, ".")
	if part == "" && (kind == "owner" || kind == "lessee") {
		kind, part = t.Kind, kind
	}
	switch {
	case part == "": // Ironic gives the caller's own credentials beside the record's
		text, has := s.Attribute(g.key)
		if !has {
			return "", none
		}
		return text, present
	case kind != t.Kind:
		return "", missing
	case t.Unread:
		return "", unread
	case part == "lessee" && t.Lessee == "":
		return "", missing
	case part == "lessee":
		return t.Lessee, present
	case t.Owner == "":
		return "", none
	}
	return t.Owner, present
}
