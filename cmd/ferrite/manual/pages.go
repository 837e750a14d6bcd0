package manual

import (
	"cmp"
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

// late reports whether a search lists a page last: decisions, and pages for developers, as docs/site/site.js does.
func late(p page) bool {
	folder, _, _ := strings.Cut(p.name, "/")
	return slices.Contains([]string{"decisions", "design", "dev", "benchmarks"}, folder)
}

// search prints the lines that contain a text, in capitals or not; without such a line, the lines with all its words.
func search(out io.Writer, text string) error {
	all, err := pages()
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b page) int {
		return cmp.Compare(map[bool]int{true: 1}[late(a)], map[bool]int{true: 1}[late(b)])
	})
	found := linesWith(all, strings.ToLower(text))
	if words := strings.Fields(strings.ToLower(text)); len(found) == 0 && len(words) > 0 {
		found = linesWith(all, words...)
	}
	if len(found) == 0 {
		return errors.New("no line of a page contains " + text + ", or all its words: search for fewer words")
	}
	_, err = io.WriteString(out, strings.Join(found, ""))
	return err
}

// linesWith are the lines of pages that contain all texts, which are in small letters, each after its page and number.
func linesWith(all []page, texts ...string) (found []string) {
	for _, p := range all {
		for i, line := range strings.Split(p.text, "\n") {
			lower := strings.ToLower(line)
			if !slices.ContainsFunc(texts, func(t string) bool { return !strings.Contains(lower, t) }) {
				found = append(found, fmt.Sprintf("%s:%d: %s\n", p.name, i+1, strings.TrimSpace(line)))
			}
		}
	}
	return found
}
