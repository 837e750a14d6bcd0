// Package site makes a static site of the documentation: pages with a menu, a search without a server, and a page of
// the API. A conductor serves it at /ui/docs/, `ferrite docs --site` writes it into a folder. A page loads nothing from
// another host and holds no script or style of its own, so that a strict Content-Security-Policy allows it.
package site

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed *.html
var sources embed.FS

//go:embed site.css site.js icon.svg
var assets embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"base": path.Base, "dir": path.Dir, "resource": resource, "has": has, "map": mapOf,
}).ParseFS(sources, "*.html"))

const (
	index    = "index.html"
	apiPage  = "openapi.html"
	searchJS = "search.js"
)

// Site is the documentation as files of a site. It keeps the menu alone, and renders a page each time it is asked for.
// It is safe for concurrent use.
type Site struct {
	pages     fs.FS
	version   string
	api       func() ([]byte, error)
	menu      func() ([]entry, error)
	versioned bool // pages load ../versions.js
}

// New makes a site of Markdown pages and the files that they show. version is the program's, and api returns the
// OpenAPI document of its API.
func New(pages fs.FS, version string, api func() ([]byte, error)) *Site {
	s := &Site{pages: pages, version: version, api: api}
	s.menu = sync.OnceValues(s.readMenu)
	return s
}

// Files are the names of all files, sorted.
func (s *Site) Files() ([]string, error) {
	names := []string{apiPage, searchJS, "icon.svg", "site.css", "site.js"}
	err := fs.WalkDir(s.pages, ".", func(file string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, htmlName(file))
		}
		return err
	})
	slices.Sort(names)
	return names, err
}

// File returns a file by its name, such as operate/deploy.html; fs.ErrNotExist where there is none.
func (s *Site) File(name string) ([]byte, error) {
	if text, err := assets.ReadFile(name); err == nil {
		return text, nil
	}
	switch {
	case name == apiPage:
		return s.apiPage()
	case name == searchJS:
		return s.searchIndex()
	case path.Ext(name) == ".html":
		p, err := s.read(name)
		if err != nil {
			return nil, err
		}
		return s.frame(name, p.title, p.html())
	case path.Ext(name) == ".md":
		return nil, fs.ErrNotExist
	}
	return fs.ReadFile(s.pages, name)
}

// htmlName is the name of a file on the site: README.md is the index of its folder.
func htmlName(file string) string {
	if stem, isIndex := strings.CutSuffix(file, "README.md"); isIndex {
		return stem + index
	}
	if stem, isPage := strings.CutSuffix(file, ".md"); isPage {
		return stem + ".html"
	}
	return file
}

// frame puts the menu around a page.
func (s *Site) frame(name, title string, body template.HTML) ([]byte, error) {
	menu, err := s.menu()
	if err != nil {
		return nil, err
	}
	return execute("page.html", map[string]any{"Name": name, "Title": title, "Body": body, "Menu": menu,
		"Root": strings.Repeat("../", strings.Count(name, "/")), "Version": s.version, "Versioned": s.versioned})
}

func execute(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, name, data)
	return b.Bytes(), err
}
