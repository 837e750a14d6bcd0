package oslopolicy

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// keys are the names that may stand in %(NAME)s, beside Attributes.
var keys = []string{"owner", "lessee", "node.owner", "node.lessee", "allocation.owner", "runbook.owner",
	"config.service_project_name"}

// Bounds of one rule.
const (
	maxDepth  = 50   // of parentheses and not
	maxChecks = 1000 // in its text
)

// parser reads one rule in the language of oslo.policy: or binds less than and, and less than not.
type parser struct {
	words  []string
	depth  int
	checks int
	fixed  map[string]string // keys with a value that the configuration has
	refer  func(name string) (Check, error)
}

// text reads a rule that is one text.
func (p *parser) text(rule string) (Check, error) {
	if rule == "" {
		return constant(Allow), nil
	}
	p.words = words(rule)
	if len(p.words) == 0 {
		return nil, errors.New("expected a check, found only spaces: write @ for always, or ! for never")
	}
	c, err := p.either()
	if err == nil && len(p.words) > 0 {
		err = fmt.Errorf("expected and, or, or the end behind a check, found %q", p.words[0])
	}
	return c, err
}

// words splits a rule at spaces, and takes parentheses off the ends of words. Within a word they belong to a key:
// %(node.owner)s.
func words(rule string) (all []string) {
	for _, word := range strings.Fields(rule) {
		for strings.HasPrefix(word, "(") {
			all, word = append(all, "("), word[1:]
		}
		bare := strings.TrimRight(word, ")")
		if bare != "" {
			all = append(all, bare)
		}
		for range len(word) - len(bare) {
			all = append(all, ")")
		}
	}
	return all
}

// next takes a word if it is one of these, in any case.
func (p *parser) next(wanted string) bool {
	if len(p.words) == 0 || !strings.EqualFold(p.words[0], wanted) {
		return false
	}
	p.words = p.words[1:]
	return true
}

func (p *parser) either() (Check, error) {
	return p.joined("or", p.both, func(c []Check) Check { return either(c) })
}

func (p *parser) both() (Check, error) {
	return p.joined("and", p.one, func(c []Check) Check { return both(c) })
}

// joined reads parts with a word between them.
func (p *parser) joined(word string, part func() (Check, error), join func([]Check) Check) (Check, error) {
	first, err := part()
	if err != nil {
		return nil, err
	}
	all := []Check{first}
	for p.next(word) {
		more, err := part()
		if err != nil {
			return nil, err
		}
		all = append(all, more)
	}
	if len(all) == 1 {
		return first, nil
	}
	return join(all), nil
}

// one reads a check, not and a check, or a rule in parentheses.
func (p *parser) one() (Check, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("expected at most %d parentheses and nots within each other", maxDepth)
	}
	defer func() { p.depth-- }()
	switch {
	case p.next("not"):
		of, err := p.one()
		return negated{of}, err
	case p.next("("):
		of, err := p.either()
		if err == nil && !p.next(")") {
			err = errors.New("expected ) for each (")
		}
		return of, err
	case len(p.words) == 0:
		return nil, errors.New("expected a check, found the end of the rule")
	}
	word := p.words[0]
	p.words = p.words[1:]
	return p.check(word)
}

// check reads one check, without spaces.
func (p *parser) check(word string) (Check, error) {
	if p.checks++; p.checks > maxChecks {
		return nil, fmt.Errorf("expected at most %d checks in a rule", maxChecks)
	}
	switch word {
	case "@":
		return constant(Allow), nil
	case "!":
		return constant(Deny), nil
	}
	kind, match, ok := strings.Cut(word, ":")
	switch {
	case !ok || kind == "" || match == "":
		return nil, fmt.Errorf("expected a check such as role:admin, rule:NAME or project_id:%%(node.owner)s, found %q "+
			"(@ is always, ! is never)", word)
	case kind == "http" || kind == "https":
		return nil, fmt.Errorf("expected a check without a call to another server, found %q: the conductor decides alone",
			word)
	case kind == "rule" && len(match) > maxName:
		return nil, fmt.Errorf("expected rule:NAME with at most %d bytes, found the word %.30q (cut)", maxName, word)
	case kind == "rule":
		return p.refer(match)
	}
	text, err := p.template(match)
	if err != nil {
		return nil, err
	}
	if kind == "role" {
		return hasRole{text}, nil
	}
	c := comparison{text: text}
	if literal, is := pythonLiteral(kind); is {
		c.literal, c.none = literal, literal == pythonNone && kind == pythonNone
		return c, nil
	}
	if c.attribute = kind; !slices.Contains(Attributes, kind) {
		return nil, unknown("a check of role, rule", kind, Attributes)
	}
	return c, nil
}

// unknown is the error of a name that is none of some.
func unknown(what, found string, names []string) error {
	return fmt.Errorf("expected %s, %s, found %q%s", what, strings.Join(names, ", "), found,
		nodeapi.DidYouMean(found, names))
}

// pythonLiteral reads the constants that may stand before the colon: 'text', "text", True, False, None, a number.
func pythonLiteral(s string) (text string, is bool) {
	if n := len(s); n >= 2 && (s[0] == '\'' || s[0] == '"') && s[n-1] == s[0] {
		return s[1 : n-1], true
	}
	if s == "True" || s == "False" || s == pythonNone {
		return s, true
	}
	_, err := strconv.Atoi(s)
	return s, err == nil
}

// template reads the text behind the colon, which Python's % operator fills.
func (p *parser) template(text string) (template, error) {
	var out template
	add := func(literal string) {
		if literal != "" {
			out = append(out, segment{text: literal})
		}
	}
	for {
		before, rest, found := strings.Cut(text, "%")
		add(before)
		if !found {
			return out, nil
		}
		if after, escaped := strings.CutPrefix(rest, "%"); escaped {
			add("%")
			text = after
			continue
		}
		name, after, ok := strings.Cut(rest, ")s")
		if !ok || !strings.HasPrefix(name, "(") {
			return nil, fmt.Errorf("expected %%(NAME)s, found %q", "%"+rest)
		}
		name, text = name[1:], after
		if value, is := p.fixed[name]; is {
			add(value)
			continue
		}
		if known := slices.Concat(keys, Attributes); !slices.Contains(known, name) {
			return nil, unknown("in %()s one of", name, known)
		}
		out = append(out, segment{key: name})
	}
}

// list reads a rule in the older form, a list: its items are joined by or, and the checks of an item that is a list by
// and.
func (p *parser) list(items [][]string) (Check, error) {
	if len(items) == 0 {
		return constant(Allow), nil
	}
	var out either
	for _, item := range items {
		var all both
		for _, word := range item {
			c, err := p.check(word)
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
		if len(all) > 0 {
			out = append(out, all)
		}
	}
	return out, nil // [[]] is never, as with oslo.policy
}
