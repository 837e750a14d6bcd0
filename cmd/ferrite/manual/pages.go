package manual

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/docs"
)

// page is one page of the documentation.
type page struct {
	name  string // operate/deploy; a folder's README has the name of the folder
	title string
	text  string
}

// contents is the name of the page of contents.
const contents = "contents"

// pages are all pages, in the order of their names: pages outside a folder first.
func pages() ([]page, error) {
	var all []page
	err := fs.WalkDir(docs.Pages, ".", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".md" {
			return err
		}
		text, err := docs.Pages.ReadFile(file)
		if err != nil {
			return err
		}
		all = append(all, page{nameOf(file), titleOf(string(text)), string(text)})
		return nil
	})
	slices.SortFunc(all, func(a, b page) int {
		if d := strings.Count(a.name, "/") - strings.Count(b.name, "/"); d != 0 {
			return d
		}
		return strings.Compare(a.name, b.name)
	})
	return all, err
}

// nameOf is the name of the page in a file.
func nameOf(file string) string {
	name := strings.TrimSuffix(file, ".md")
	if name == "README" {
		return contents
	}
	return strings.TrimSuffix(name, "/README")
}

// titleOf is the first heading of a page.
func titleOf(text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if title, ok := strings.CutPrefix(line, "# "); ok {
			return title
		}
	}
	return ""
}

// listed reports whether a page is in the list: decisions are on a page of their own.
func listed(p page) bool { return path.Dir(p.name) != "decisions" }

// list prints the names and titles of pages.
func list(out io.Writer) error {
	all, err := pages()
	for _, p := range all {
		if err == nil && listed(p) {
			_, err = fmt.Fprintf(out, "%-24s %s\n", p.name, p.title)
		}
	}
	return err
}

// completions are the names of the listed pages, with their titles.
func completions() (words []string) {
	all, err := pages()
	for _, p := range all {
		if err == nil && listed(p) {
			words = append(words, p.name+"\t"+p.title)
		}
	}
	return words
}

// show prints a page.
func show(out io.Writer, name string) error {
	all, err := pages()
	if err != nil {
		return err
	}
	p, err := find(all, name)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, p.text)
	return err
}

// find finds a page by its name, its path or the last part of its name.
func find(all []page, name string) (page, error) {
	name = nameOf(strings.TrimPrefix(path.Clean(name), "docs/"))
	var found []page
	for _, p := range all {
		if p.name == name {
			return p, nil
		}
		if path.Base(p.name) == name {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return page{}, fmt.Errorf("there is no page %s: ferrite docs lists the pages, and ferrite docs --search %s "+
			"finds the lines that contain it", name, name)
	case 1:
		return found[0], nil
	}
	names := make([]string, len(found))
	for i, p := range found {
		names[i] = p.name
	}
	return page{}, fmt.Errorf("page %s: expected one of %s", name, strings.Join(names, ", "))
}

// search prints the lines that contain a text, in capitals or not.
func search(out io.Writer, text string) error {
	all, err := pages()
	if err != nil {
		return err
	}
	found := false
	for _, p := range all {
		for i, line := range strings.Split(p.text, "\n") {
			if !strings.Contains(strings.ToLower(line), strings.ToLower(text)) {
				continue
			}
			found = true
			if _, err := fmt.Fprintf(out, "%s:%d: %s\n", p.name, i+1, strings.TrimSpace(line)); err != nil {
				return err
			}
		}
	}
	if !found {
		return errors.New("no page contains " + text + ": search for a shorter text")
	}
	return nil
}
