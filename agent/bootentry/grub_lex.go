package bootentry

import (
	"errors"
	"fmt"
	"strings"
)

// grubWord is a word of several pieces without blanks between them.
type grubWord []grubPiece

// grubPiece is text or the name of a variable. Blanks in a variable that is not quoted
// part words.
type grubPiece struct {
	text             string
	variable, quoted bool
}

// bare is the text of a word of a single unquoted piece.
func (w grubWord) bare() string {
	if len(w) == 1 && !w[0].variable && !w[0].quoted {
		return w[0].text
	}
	return ""
}

// grubToken is a word, or ';' (also for the end of a line), '{', '}'.
type grubToken struct {
	kind byte // 'w' for a word
	word grubWord
	line int
}

// grubLexer takes a script into tokens.
type grubLexer struct {
	text string
	at   int
	line int
	out  []grubToken
	word grubWord
	open bool // a word has begun; it may be empty, in quotes
	// text of the last piece, and whether that is quoted
	piece  []byte
	quoted bool
}

// lexGRUB takes a script into tokens.
func lexGRUB(text string) ([]grubToken, error) {
	l := grubLexer{text: text, line: 1}
	for l.at < len(l.text) {
		if err := l.next(); err != nil {
			return nil, fmt.Errorf("line %d: %w", l.line, err)
		}
	}
	l.end()
	return l.out, nil
}

// end ends a word.
func (l *grubLexer) end() {
	l.flush()
	if l.open {
		l.out = append(l.out, grubToken{'w', l.word, l.line})
	}
	l.word, l.open = nil, false
}

// flush ends a piece of a word.
func (l *grubLexer) flush() {
	if l.piece != nil {
		l.word = append(l.word, grubPiece{text: string(l.piece), quoted: l.quoted})
	}
	l.piece = nil
}

// add adds text to the word.
func (l *grubLexer) add(text string, quoted bool) {
	if l.piece != nil && l.quoted != quoted {
		l.flush()
	}
	if l.piece == nil {
		l.piece = []byte{}
	}
	l.open, l.quoted = true, quoted
	l.piece = append(l.piece, text...)
}

// next reads on by a character, a quotation or a variable.
func (l *grubLexer) next() error {
	c := l.text[l.at]
	l.at++
	switch c {
	case '\n':
		l.end()
		l.out = append(l.out, grubToken{';', nil, l.line})
		l.line++
	case ' ', '\t', '\r':
		l.end()
	case ';', '{', '}':
		l.end()
		l.out = append(l.out, grubToken{c, nil, l.line})
	case '|', '&', '<', '>':
		return fmt.Errorf("%q, of unknown effect", c)
	case '#':
		if l.open {
			l.add("#", false)
			return nil
		}
		if n := strings.IndexByte(l.text[l.at:], '\n'); n >= 0 {
			l.at += n
		} else {
			l.at = len(l.text)
		}
	case '\\':
		return l.escaped()
	case '\'':
		n := strings.IndexByte(l.text[l.at:], '\'')
		if n < 0 {
			return errors.New("a quotation that does not end")
		}
		l.line += strings.Count(l.text[l.at:l.at+n], "\n")
		l.add(l.text[l.at:l.at+n], true)
		l.at += n + 1
	case '"':
		return l.quotation()
	case '$':
		return l.variable(false)
	default:
		l.add(l.text[l.at-1:l.at], false)
	}
	return nil
}

// escaped reads the character behind a backslash; the end of a line goes.
func (l *grubLexer) escaped() error {
	if l.at == len(l.text) {
		return errors.New("a backslash at the end")
	}
	c := l.text[l.at]
	l.at++
	if c == '\n' {
		l.line++
		return nil
	}
	l.add(string([]byte{c}), true)
	return nil
}

// quotation reads up to the second ".
func (l *grubLexer) quotation() error {
	l.add("", true)
	for l.at < len(l.text) {
		c := l.text[l.at]
		l.at++
		switch {
		case c == '"':
			return nil
		case c == '$':
			if err := l.variable(true); err != nil {
				return err
			}
			continue
		case c == '\\' && l.at < len(l.text) && strings.IndexByte("\"$\\\n", l.text[l.at]) >= 0:
			c = l.text[l.at]
			l.at++
			if c == '\n' {
				l.line++
				continue
			}
		case c == '\n':
			l.line++
		}
		l.add(string([]byte{c}), true)
	}
	return errors.New("a quotation that does not end")
}

// variable reads the name behind a $.
func (l *grubLexer) variable(quoted bool) error {
	rest := l.text[l.at:]
	name := ""
	switch {
	case strings.HasPrefix(rest, "{"):
		end := strings.IndexByte(rest, '}')
		if end < 0 {
			return errors.New("a variable that does not end")
		}
		name, l.at = rest[1:end], l.at+end+1
	case rest != "" && strings.IndexByte("?#*@0123456789", rest[0]) >= 0:
		name, l.at = rest[:1], l.at+1
	default:
		end := strings.IndexFunc(rest, func(r rune) bool { return !isName(r) })
		if end < 0 {
			end = len(rest)
		}
		name, l.at = rest[:end], l.at+end
	}
	if name == "" {
		l.add("$", quoted)
		return nil
	}
	l.flush()
	l.open = true
	l.word = append(l.word, grubPiece{text: name, variable: true, quoted: quoted})
	return nil
}

func isName(r rune) bool {
	return r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}
