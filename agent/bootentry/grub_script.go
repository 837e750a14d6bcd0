package bootentry

import (
	"errors"
	"fmt"
	"slices"
)

// grubStatement is a statement of GRUB's script language: a command, perhaps with a block
// (menuentry), a condition, a function, or a loop.
type grubStatement struct {
	kind  grubKind
	words []grubWord      // of a command; of a function its name alone
	block []grubStatement // of a command that has one, and of a function
	menu  bool            // a command with a block
	arms  []grubArm       // of a condition; the last one may have no test
	line  int
}

type grubKind int

const (
	grubCommand grubKind = iota
	grubIf
	grubFunction
	grubLoop
)

// grubArm is a test and its branch.
type grubArm struct{ test, do []grubStatement }

// maxNested bounds how deep a script nests.
const maxNested = 40

// grubParser takes tokens into statements.
type grubParser struct {
	tokens []grubToken
	at     int
	depth  int
}

// parseGRUB parses a script (GRUB manual, "Writing full configuration files directly").
func parseGRUB(text string) ([]grubStatement, error) {
	tokens, err := lexGRUB(text)
	if err != nil {
		return nil, err
	}
	p := grubParser{tokens: tokens}
	list, _, err := p.list()
	if err != nil && p.at < len(tokens) {
		err = fmt.Errorf("line %d: %w", tokens[p.at].line, err)
	}
	return list, err
}

// list reads statements up to one of some ends, which it takes and returns. Without any,
// it reads all.
func (p *grubParser) list(ends ...string) (list []grubStatement, end string, err error) {
	if p.depth++; p.depth > maxNested {
		return nil, "", fmt.Errorf("it nests deeper than %d", maxNested)
	}
	defer func() { p.depth-- }()
	for p.at < len(p.tokens) {
		t := p.tokens[p.at]
		if t.kind == ';' {
			p.at++
			continue
		}
		is := string(t.kind)
		if t.kind == 'w' {
			is = t.word.bare()
		}
		switch {
		case slices.Contains(ends, is):
			p.at++
			return list, is, nil
		case t.kind != 'w', slices.Contains([]string{"then", "elif", "else", "fi", "do", "done"}, is):
			return nil, "", fmt.Errorf("found %q in an unexpected place", is)
		}
		s, err := p.statement(t)
		if err != nil {
			return nil, "", err
		}
		list = append(list, s)
	}
	if len(ends) > 0 {
		return nil, "", fmt.Errorf("it ends before %q", ends[len(ends)-1])
	}
	return list, "", nil
}

// statement reads one statement, which begins with a word.
func (p *grubParser) statement(first grubToken) (s grubStatement, err error) {
	s.line = first.line
	switch first.word.bare() {
	case "if":
		p.at++
		s.kind = grubIf
		s.arms, err = p.arms()
		return s, err
	case "for", "while", "until": // never run, so that their words need no meaning
		p.at++
		s.kind = grubLoop
		if _, _, err = p.list("do"); err == nil {
			s.block, _, err = p.list("done")
		}
		return s, err
	case "function":
		p.at++
		s.kind = grubFunction
	}
	for p.at < len(p.tokens) && p.tokens[p.at].kind == 'w' {
		s.words = append(s.words, p.tokens[p.at].word)
		p.at++
	}
	for s.kind == grubFunction && p.at < len(p.tokens) && p.tokens[p.at].kind == ';' {
		p.at++ // its block may begin in a line of its own
	}
	block := p.at < len(p.tokens) && p.tokens[p.at].kind == '{'
	switch {
	case s.kind == grubFunction && (!block || len(s.words) != 1 || s.words[0].bare() == ""):
		return s, errors.New("a function without a name or a block")
	case block:
		p.at++
		s.menu = s.kind == grubCommand
		s.block, _, err = p.list("}")
	}
	return s, err
}

// arms reads a condition behind its if.
func (p *grubParser) arms() (all []grubArm, err error) {
	for {
		var a grubArm
		if a.test, _, err = p.list("then"); err != nil {
			return nil, err
		}
		var end string
		if a.do, end, err = p.list("elif", "else", "fi"); err != nil {
			return nil, err
		}
		all = append(all, a)
		switch end {
		case "fi":
			return all, nil
		case "else":
			last := grubArm{}
			last.do, _, err = p.list("fi")
			return append(all, last), err
		}
	}
}
