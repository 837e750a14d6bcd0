package site

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// searchIndex is a script with each section's page, title of the page, heading, anchor and text. A page that is opened
// as a file may load a script, but no data.
func (s *Site) searchIndex() ([]byte, error) {
	files, err := s.Files()
	if err != nil {
		return nil, err
	}
	var all [][5]string
	for _, name := range files {
		if path.Ext(name) != ".html" || name == apiPage {
			continue
		}
		p, err := s.read(name)
		if err != nil {
			return nil, err
		}
		all = append(all, [5]string{name, p.title, p.title})
		for n := p.root.FirstChild(); n != nil; n = n.NextSibling() {
			if h, ok := n.(*ast.Heading); ok && h.Level == 2 {
				id, _ := h.AttributeString("id")
				all = append(all, [5]string{name, p.title, plain(h, p.source), fmt.Sprintf("%s", id)})
				continue
			}
			all[len(all)-1][4] += plain(n, p.source) + " "
		}
	}
	d, err := s.readAPI()
	if err != nil {
		return nil, err
	}
	paths, _ := d["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		methods, _ := paths[path].(map[string]any)
		for _, method := range slices.Sorted(maps.Keys(methods)) {
			if o, ok := methods[method].(map[string]any); ok { // and not the parameters of the path
				all = append(all, [5]string{apiPage, apiTitle, strings.ToUpper(method) + " " + path,
					fmt.Sprint(o["operationId"]), fmt.Sprint(o["summary"])})
			}
		}
	}
	text, err := json.Marshal(all)
	return append([]byte("window.siteSections = "), text...), err
}
