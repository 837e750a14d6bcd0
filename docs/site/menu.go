package site

import (
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// entry is a page in the menu, or a group of pages, which has no name.
type entry struct {
	Title, Name string
	Below       []entry
}

// readMenu makes the menu of docs/README.md: its headings and bold lines are groups, its links are pages.
func (s *Site) readMenu() (groups []entry, err error) {
	p, err := s.read(index)
	if err != nil {
		return nil, err
	}
	for n := p.root.FirstChild(); n != nil; n = n.NextSibling() {
		bold, isBold := n.FirstChild().(*ast.Emphasis)
		head, isHead := n.(*ast.Heading)
		switch {
		case isBold && bold.Level == 2:
			groups = append(groups, entry{Title: plain(bold, p.source)})
		case isHead && head.Level > 1:
			groups = append(groups, entry{Title: plain(head, p.source)})
		}
		if len(groups) == 0 {
			continue
		}
		below, err := s.entries(p, n)
		if err != nil {
			return nil, err
		}
		groups[len(groups)-1].Below = append(groups[len(groups)-1].Below, below...)
	}
	return groups, nil
}

// entries are the pages that the links below a node lead to, each once. The index of a folder has its folder's pages.
func (s *Site) entries(p *document, n ast.Node) (all []entry, err error) {
	here := path.Dir(p.file)
	for _, name := range p.links(n) {
		inFolder := here != "."
		if inFolder && (path.Dir(name) != here || name == htmlName(p.file)) ||
			slices.ContainsFunc(all, func(e entry) bool { return e.Name == name }) {
			continue
		}
		of, err := s.read(name)
		if err != nil {
			return nil, err
		}
		e := entry{Title: of.title, Name: name}
		if path.Base(name) == index && !inFolder {
			if e.Below, err = s.entries(of, of.root); err != nil {
				return nil, err
			}
		}
		if all = append(all, e); name == "api.html" {
			all = append(all, entry{Title: apiTitle, Name: apiPage})
		}
	}
	return all, nil
}

// links are the names of the pages that the links below a node lead to.
func (p *document) links(n ast.Node) (names []string) {
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering {
			to, _, _ := strings.Cut(string(link.Destination), "#")
			if path.Ext(to) == ".html" && !strings.Contains(to, ":") {
				names = append(names, path.Join(path.Dir(p.file), to))
			}
		}
		return ast.WalkContinue, nil
	})
	return names
}
