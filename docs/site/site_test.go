package site

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// small is a documentation of a few pages.
func small(more fstest.MapFS) *Site {
	pages := fstest.MapFS{
		"README.md": {Data: []byte("# All\n\nNo [group](start.md) yet.\n\n" +
			"**Begin**\n\n- [First](start.md)\n- [API](api.md)\n\n**Operate**: see [operate/](operate/README.md)\n\n" +
			"## More\n\n[again](start.md), [sources](../go.mod)\n")},
		"start.md":          {Data: []byte("# Start `it`\n\n## A & B\n\ntext\n\n<!-- not shown -->\n\n## A & B\n")},
		"api.md":            {Data: []byte("# API\n")},
		"operate/README.md": {Data: []byte("# Operate\n\n| [z](z.md) | [a](a.md#b) | [out](../start.md) |\n|-|-|-|\n")},
		"operate/z.md":      {Data: []byte("# Zed\n\n[d](../monitoring/d.json) [f](../operate/) ![x](../images/x.svg)\n")},
		"operate/a.md":      {Data: []byte("# Ay\n\n```sh\na <b> & c\n```\n")},
		"operate/lost.md":   {Data: []byte("# Lost\n")},
		"monitoring/d.json": {Data: []byte("{}")},
		"images/x.svg":      {Data: []byte("<svg/>")},
	}
	for name, f := range more {
		pages[name] = f
	}
	return New(pages, "1.2.3", func() ([]byte, error) {
		return []byte(`{"paths": {"/v1/x": {"get": {"operationId": "get_x",
		"summary": "one x", "responses": {"200": {"description": "done"}}}}}}`), nil
	})
}

// TestMenu: groups and pages are in the order of the indexes, each page of a group once.
func TestMenu(t *testing.T) {
	menu, err := small(nil).menu()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, g := range menu {
		fmt.Fprintf(&b, "%s:", g.Title)
		for _, e := range g.Below {
			fmt.Fprintf(&b, " %s", e.Name)
			for _, of := range e.Below {
				fmt.Fprintf(&b, " (%s %s)", of.Name, of.Title)
			}
		}
		b.WriteString("\n")
	}
	const want = "Begin: start.html api.html openapi.html\n" +
		"Operate: operate/index.html (operate/z.html Zed) (operate/a.html Ay)\n" + "More: start.html\n"
	if b.String() != want {
		t.Errorf("the menu is\n%swant\n%s", b.String(), want)
	}
}

// TestPages: links, anchors, tables and code of a page.
func TestPages(t *testing.T) {
	s := small(nil)
	for name, wants := range map[string][]string{
		"index.html": {`href="start.html"`, `href="operate/index.html"`, `class="out"`, repository + "go.mod"},
		"start.html": {`<h2 id="a--b">`, `<h2 id="a--b-1">`, "<title>Start it - Ferrite</title>", "<p>text</p>",
			`<a href="start.html" aria-current="page">`},
		"operate/index.html": {`<th><a href="a.html#b">`, `<a href="../start.html">`,
			`<link rel="stylesheet" href="../site.css">`},
		"operate/z.html": {`href="../monitoring/d.json"`, `href="../operate/index.html"`,
			`<img src="../images/x.svg" alt="x" loading="lazy">`},
		"operate/a.html":    {`<code class="language-sh">a &lt;b&gt; &amp; c`},
		"openapi.html":      {`<details class="route" id="get_x">`, "one x"},
		"search.js":         {`["start.html","Start it","A \u0026 B","a--b","text  "]`, `"GET /v1/x","get_x","one x"`},
		"monitoring/d.json": {"{}"},
	} {
		content, err := s.File(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range wants {
			if !strings.Contains(string(content), want) {
				t.Errorf("%s has no %s:\n%s", name, want, content)
			}
		}
	}
	for _, name := range []string{"no.html", "README.html", "operate/README.html", "start.md", "../go.mod", ""} {
		if _, err := s.File(name); err == nil {
			t.Errorf("%q: %v, want an error", name, err)
		}
	}
	if _, err := small(fstest.MapFS{"x.md": {Data: []byte("# X\n\na <b>c</b>\n")}}).File("x.html"); err == nil {
		t.Error("a page with HTML is shown")
	}
}

// TestWrite: a version replaces an earlier build of itself and leaves others; the newest is first in the list.
func TestWrite(t *testing.T) {
	folder := t.TempDir()
	for _, version := range []string{"1.2.3", "1.10.0", "1.10.0-rc1", "1.2.3"} {
		s := small(nil)
		s.version = version
		if _, err := s.Write(folder); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, version, "old.html"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := small(nil)
	if n, err := s.Write(folder); err != nil || n < 10 {
		t.Fatalf("wrote %d files: %v", n, err)
	}
	if _, err := fs.Stat(os.DirFS(folder), "1.2.3/old.html"); err == nil {
		t.Error("a page of an earlier build stays")
	}
	list, err := os.ReadFile(filepath.Join(folder, "versions.js"))
	at := func(version string) int { return strings.Index(string(list), `"`+version+`"`) }
	if err != nil || at("1.10.0") < 0 || at("1.10.0") > at("1.10.0-rc1") || at("1.10.0-rc1") > at("1.2.3") {
		t.Errorf("versions.js is %s, %v", list, err)
	}
	page, err := os.ReadFile(filepath.Join(folder, "1.2.3/operate/a.html"))
	if err != nil || !strings.Contains(string(page), `<script src="../../versions.js" defer>`) {
		t.Errorf("a written page loads no list of versions: %v", err)
	}
	for _, version := range []string{"", "..", "a/b"} {
		s.version = version
		if _, err := s.Write(folder); err == nil {
			t.Errorf("version %q is written", version)
		}
	}
}
