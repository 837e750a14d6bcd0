package site

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// repository is the address of files that the site does not have, such as sources.
const repository = "https://github.com/ferrite-metal/ferrite/blob/main/"

// markdown parses CommonMark and tables, and the pages use nothing else. It renders no HTML that a page contains.
var markdown = goldmark.New(goldmark.WithExtensions(extension.Table))

// document is a page of Markdown, with the links and anchors of the site.
type document struct {
	file, title string // operate/deploy.md
	source      []byte
	root        ast.Node
}

// read parses the page with a name on the site.
func (s *Site) read(name string) (*document, error) {
	file := strings.TrimSuffix(name, ".html") + ".md"
	if path.Base(name) == index {
		file = path.Join(path.Dir(name), "README.md")
	}
	source, err := fs.ReadFile(s.pages, file)
	switch {
	case err != nil:
		return nil, err
	case htmlName(file) != name: // README.html
		return nil, fs.ErrNotExist
	}
	p := &document{file: file, source: source, root: markdown.Parser().Parse(text.NewReader(source))}
	ids := map[string]int{}
	return p, ast.Walk(p.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.HTMLBlock:
			if n.HTMLBlockType != ast.HTMLBlockType2 { // a comment
				return ast.WalkStop, fmt.Errorf("%s: it contains HTML, expected Markdown: %s", file, n.Lines().Value(source))
			}
		case *ast.RawHTML:
			return ast.WalkStop, fmt.Errorf("%s: it contains HTML, expected Markdown: %s", file, n.Segments.Value(source))
		case *ast.Image:
			n.SetAttributeString("loading", []byte("lazy"))
		case *ast.Link:
			s.point(p, n)
		case *ast.Heading:
			p.anchor(n, ids)
		}
		return ast.WalkContinue, nil
	})
}

// point leads a link to a file of the site, or to the repository, and marks a link that leaves the site.
func (s *Site) point(p *document, n *ast.Link) {
	dest := string(n.Destination)
	if to, anchor, _ := strings.Cut(dest, "#"); to != "" && !strings.Contains(to, ":") {
		file := path.Join(path.Dir(p.file), to)
		info, err := fs.Stat(s.pages, file)
		switch {
		case err != nil:
			dest = repository + path.Join("docs", file)
		case info.IsDir():
			dest = path.Join(to, index)
		default:
			dest = htmlName(to)
		}
		if anchor != "" {
			dest += "#" + anchor
		}
		n.Destination = []byte(dest)
	}
	if strings.Contains(dest, "://") {
		n.SetAttributeString("class", []byte("out"))
	}
}

// anchor gives a heading the anchor that forges give it.
func (p *document) anchor(n *ast.Heading, ids map[string]int) {
	title := plain(n, p.source)
	if p.title == "" {
		p.title = title
	}
	id := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsNumber(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, title)
	if ids[id]++; ids[id] > 1 {
		id = fmt.Sprintf("%s-%d", id, ids[id]-1)
	}
	n.SetAttributeString("id", []byte(id))
}

// plain is the text below a node, without marks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Value(source))
			} else if n.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				b.Write(n.Lines().Value(source))
			}
		default:
			if n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// html is the page's body.
func (p *document) html() template.HTML {
	var b bytes.Buffer
	_ = markdown.Renderer().Render(&b, p.source, p.root) // a buffer takes everything
	return template.HTML(b.String())                     //nolint:gosec // goldmark escapes text
}
