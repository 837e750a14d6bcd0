package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/docs"
	"github.com/ferrite-metal/ferrite/docs/site"
)

// sitePage is a page of the site, as a reader of HTML finds it.
type sitePage struct {
	ids    map[string]bool
	links  []string // of href and src
	inMenu bool
}

// TestDocsSite: every page of the site is well-formed HTML that needs neither another host nor a script in its text.
// Its links lead to files and anchors of the site; links to other hosts are listed. The menu leads to every page.
func TestDocsSite(t *testing.T) {
	s := site.New(docs.Pages, release, api.Document)
	files, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	there, pages := map[string]bool{}, map[string]sitePage{}
	for _, name := range files {
		there[name] = true
		content, err := s.File(name)
		if err != nil {
			t.Fatal(err)
		}
		if path.Ext(name) == ".html" {
			if pages[name], err = readSitePage(string(content)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	links, out := 0, map[string]bool{}
	for name, page := range pages {
		if !page.inMenu && name != "index.html" {
			t.Errorf("no index leads to %s: name it in docs/README.md, or in the README.md of its folder", name)
		}
		for _, link := range page.links {
			links++
			to, anchor, _ := strings.Cut(link, "#")
			if strings.Contains(to, ":") {
				out[link] = true
				continue
			}
			target := name
			if to != "" {
				target = path.Join(path.Dir(name), to)
			}
			if !there[target] || anchor != "" && !pages[target].ids[anchor] {
				t.Errorf("%s: link %s leads to nothing", name, link)
			}
		}
	}
	for link := range out {
		t.Logf("not looked at: %s", link)
	}
	t.Logf("docs: %d pages", len(pages))
	t.Logf("docs: %d links", links)
	describesAPI(t, pages["openapi.html"])
}

// describesAPI: the page of the API has each operation and schema of the document.
func describesAPI(t *testing.T, page sitePage) {
	t.Helper()
	text, err := api.Document()
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, item := range d.Paths {
		for method := range item {
			var o struct{ OperationID string }
			if method == "parameters" || json.Unmarshal(item[method], &o) != nil {
				continue
			}
			seen++
			if !page.ids[o.OperationID] {
				t.Errorf("openapi.html has no %s", o.OperationID)
			}
		}
	}
	for name := range d.Components.Schemas {
		if !page.ids["schema-"+name] {
			t.Errorf("openapi.html has no schema %s", name)
		}
	}
	if seen < 200 {
		t.Errorf("the API has %d operations; expected more than two hundred", seen)
	}
}

// void are elements without an end.
var void = map[string]bool{"meta": true, "link": true, "input": true, "img": true, "br": true, "hr": true}

// readSitePage reads a page. Each of its elements ends inside the element that it begins in.
func readSitePage(content string) (sitePage, error) {
	page := sitePage{ids: map[string]bool{}}
	var open []string
	for z := html.NewTokenizer(strings.NewReader(content)); ; {
		switch z.Next() { //nolint:exhaustive // comments and the doctype open nothing
		case html.ErrorToken:
			if len(open) > 0 || !errors.Is(z.Err(), io.EOF) {
				return page, fmt.Errorf("%v does not end: %w", open, z.Err())
			}
			return page, nil
		case html.StartTagToken:
			tag := z.Token()
			if err := page.tag(tag); err != nil {
				return page, err
			}
			if !void[tag.Data] {
				open = append(open, tag.Data)
			}
		case html.EndTagToken:
			tag := z.Token().Data
			if len(open) == 0 || open[len(open)-1] != tag {
				return page, fmt.Errorf("</%s> ends none of %v", tag, open)
			}
			open = open[:len(open)-1]
		case html.TextToken:
			if len(open) > 0 && (open[len(open)-1] == "script" || open[len(open)-1] == "style") {
				return page, fmt.Errorf("a %s in the page: %s", open[len(open)-1], z.Token().Data)
			}
		}
	}
}

// tag keeps the id and the links of an element, and refuses attributes that the policy of the web interface refuses.
func (p *sitePage) tag(tag html.Token) error {
	for _, a := range tag.Attr {
		switch {
		case a.Key == "id" && p.ids[a.Val]:
			return fmt.Errorf("two elements have the id %s", a.Val)
		case a.Key == "id":
			p.ids[a.Val] = true
		case a.Key == "aria-current":
			p.inMenu = true
		case a.Key == "style" || strings.HasPrefix(a.Key, "on"):
			return fmt.Errorf("<%s> has %s=%q", tag.Data, a.Key, a.Val)
		case strings.Contains(a.Val, ":") && (a.Key == "src" || a.Key == "href" && tag.Data == "link"):
			return fmt.Errorf("<%s> loads %s from another host", tag.Data, a.Val)
		case a.Key == "src", a.Key == "href":
			p.links = append(p.links, a.Val)
		}
	}
	return nil
}
