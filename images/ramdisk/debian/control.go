package debian

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxLine and maxParagraph bound a list of packages or of hashes, in bytes. Debian's longest paragraph is a Release
// file with its hashes, some 300 KB.
const (
	maxLine      = 1 << 20
	maxParagraph = 8 << 20
)

// paragraph is one stanza of a control file (deb822(5)): names of fields in lower case, to their values. The lines of
// a value are joined by line feeds.
type paragraph map[string]string

// readParagraphs hands the stanzas of a control file to each, one at a time.
func readParagraphs(r io.Reader, each func(paragraph) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	p := parser{fields: paragraph{}}
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimRight(lines.Bytes(), " \t\r")
		if len(line) > 0 {
			if err := p.line(line); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			continue
		}
		if err := p.end(each); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read control file: %w", err)
	}
	return p.end(each)
}

// parser collects one stanza.
type parser struct {
	fields paragraph
	name   string // of the field that a line with a leading blank goes on with
	value  strings.Builder
	size   int
}

func (p *parser) line(line []byte) error {
	if p.size += len(line); p.size > maxParagraph {
		return fmt.Errorf("a paragraph has more than %d MiB", maxParagraph>>20)
	}
	switch line[0] {
	case '#':
		return nil
	case ' ', '\t':
		if p.name == "" {
			return errors.New("expected `Field: value`, found a continued line without one")
		}
		p.value.WriteByte('\n')
		p.value.Write(bytes.TrimLeft(line, " \t"))
		return nil
	}
	name, value, found := bytes.Cut(line, []byte(":"))
	if !found || len(name) == 0 || bytes.ContainsAny(name, " \t") {
		return fmt.Errorf("expected `Field: value`, found %.60q", line)
	}
	p.keep()
	p.name = strings.ToLower(string(name))
	if _, twice := p.fields[p.name]; twice {
		return fmt.Errorf("field %s is there twice", name)
	}
	p.value.Write(bytes.TrimSpace(value))
	return nil
}

func (p *parser) keep() {
	if p.name != "" {
		p.fields[p.name] = p.value.String()
	}
	p.name = ""
	p.value.Reset()
}

func (p *parser) end(each func(paragraph) error) error {
	p.keep()
	fields := p.fields
	p.fields, p.size = paragraph{}, 0
	if len(fields) == 0 {
		return nil
	}
	return each(fields)
}
