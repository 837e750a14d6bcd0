package tracestest

import (
	"fmt"
	"strings"
)

// Tree draws the spans of one trace by names and parentage, without times, a span a line. Children of one parent that
// have a name in common are one, so that how often something was asked does not count. Rename may shorten a name; nil
// for none. It refuses spans of several traces, roots and parents that are missing, and ids that come twice.
func Tree(spans []Span, rename func(Span) string) (string, error) {
	known, roots := map[string]bool{}, 0
	for _, s := range spans {
		if known[s.ID] {
			return "", fmt.Errorf("two spans have the id %s: %s", s.ID, s.Name)
		}
		known[s.ID] = true
		if s.Parent == "" {
			roots++
		}
		if s.Trace != spans[0].Trace {
			return "", fmt.Errorf("span %s is of another trace", s.Name)
		}
	}
	if roots != 1 {
		return "", fmt.Errorf("%d roots, expected 1", roots)
	}
	children := map[string][]Span{}
	for _, s := range spans {
		if s.Parent != "" && !known[s.Parent] {
			return "", fmt.Errorf("the parent %s of %s is missing", s.Parent, s.Name)
		}
		children[s.Parent] = append(children[s.Parent], s)
	}
	if rename == nil {
		rename = func(s Span) string { return s.Name }
	}
	var b strings.Builder
	draw(&b, "", []string{""}, children, rename)
	return b.String(), nil
}

// draw draws the children of parents that have a name in common.
func draw(b *strings.Builder, indent string, parents []string, children map[string][]Span, rename func(Span) string) {
	var names []string
	ids := map[string][]string{}
	for _, p := range parents {
		for _, s := range children[p] {
			name := rename(s)
			if s.Failure != "" {
				name += " !"
			}
			if ids[name] == nil {
				names = append(names, name)
			}
			ids[name] = append(ids[name], s.ID)
		}
	}
	for _, name := range names {
		b.WriteString(indent + name + "\n")
		draw(b, indent+"  ", ids[name], children, rename)
	}
}
