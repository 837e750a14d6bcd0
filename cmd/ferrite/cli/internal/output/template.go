package output

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/theory/jsonpath"
)

// printTemplate writes the results of -o jsonpath=TEMPLATE, and a newline unless they end in one.
func printTemplate(w io.Writer, template string, reply json.RawMessage) error {
	pieces, rest, err := readTemplate(template, false)
	if err == nil && rest != "" {
		err = errors.New("{end} without {range}")
	}
	if err != nil {
		return fmt.Errorf("-o jsonpath=%s: %w; see: ferrite help output", template, err)
	}
	var v any
	if err := json.Unmarshal(reply, &v); err != nil {
		return fmt.Errorf("the conductor's answer: %w", err)
	}
	var b strings.Builder
	for _, p := range pieces {
		if p.misses(v) {
			return fmt.Errorf("-o jsonpath=%s: the answer has no %s; to see all of it: -o json", template, p.path)
		}
		p.write(&b, v)
	}
	text := Visible(b.String())
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err = io.WriteString(w, text)
	return err
}

// piece is a part of a template: a text, a path, or a range over a path.
type piece struct {
	text string
	path *jsonpath.Path
	each []piece // of a range
}

// misses reports whether a path to one place, outside a range, finds none there: the name is misspelt, or the answer is
// a list. A range, a wildcard and a filter may find nothing.
func (p piece) misses(v any) bool {
	return p.path != nil && p.each == nil && p.path.Query().Singular() != nil && len(p.path.Select(v)) == 0
}

func (p piece) write(b *strings.Builder, v any) {
	switch {
	case p.path == nil:
		b.WriteString(p.text)
	case p.each != nil:
		for _, found := range p.path.Select(v) {
			for _, inside := range p.each {
				inside.write(b, found)
			}
		}
	default:
		for i, found := range p.path.Select(v) {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(inner(found))
		}
	}
}

// readTemplate reads pieces up to the end, or within a range up to {end}; rest follows that.
func readTemplate(template string, inRange bool) (pieces []piece, rest string, err error) {
	for template != "" {
		text, after, open := strings.Cut(template, "{")
		if text != "" {
			pieces = append(pieces, piece{text: text})
		}
		if !open {
			break
		}
		expr, after, closed := strings.Cut(after, "}")
		if !closed {
			return nil, "", fmt.Errorf("{%s has no }", expr)
		}
		expr = strings.TrimSpace(expr)
		if expr == "end" {
			if !inRange {
				return nil, "", errors.New("{end} without {range}")
			}
			return pieces, after, nil
		}
		var p piece
		if p, template, err = readPiece(expr, after); err != nil {
			return nil, "", err
		}
		pieces = append(pieces, p)
	}
	if inRange {
		return nil, "", errors.New("{range} without {end}")
	}
	return pieces, "", nil
}

// readPiece reads the expression between braces; a range takes all up to its end.
func readPiece(expr, after string) (p piece, rest string, err error) {
	if strings.HasPrefix(expr, `"`) {
		p.text, err = strconv.Unquote(expr)
		if err != nil {
			return p, "", fmt.Errorf("{%s} is no text in double quotes", expr)
		}
		return p, after, nil
	}
	path, isRange := strings.CutPrefix(expr, "range ")
	if p.path, err = jsonpath.Parse(rooted(path)); err != nil {
		return p, "", fmt.Errorf("{%s}: expected a path like {.name} or {[*].name}: %w", expr, err)
	}
	if isRange {
		p.each, after, err = readTemplate(after, true)
		if p.each == nil {
			p.each = []piece{}
		}
	}
	return p, after, err
}

// rooted makes a path of kubectl's one of RFC 9535.
func rooted(path string) string {
	path = strings.TrimLeft(strings.TrimSpace(path), "$@")
	switch {
	case strings.HasPrefix(path, ".["):
		path = path[1:]
	case path == ".":
		path = ""
	case path != "" && path[0] != '.' && path[0] != '[':
		path = "." + path
	}
	return "$" + path
}
