package main

import (
	"slices"
	"testing"

	"github.com/ferrite-metal/ferrite/images/spdx"
)

// TestInBrowser: code that runs in a browser is listed, with its licence; tools that build or test it are not.
func TestInBrowser(t *testing.T) {
	doc := spdx.New("test", "")
	if err := inBrowser(&doc, "SPDXRef-ferrite", "../../conductor/api/ui/web/package-lock.json"); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, p := range doc.Packages {
		if p.Version == "" || p.Declared != "MIT" || len(p.References) != 1 {
			t.Errorf("%+v", p)
			continue
		}
		names[p.Name] = p.References[0].Locator
	}
	for name, locator := range map[string]string{"react": "pkg:npm/react@", "scheduler": "pkg:npm/scheduler@",
		"@xterm/xterm": "pkg:npm/%40xterm/xterm@"} {
		if got := names[name]; len(got) <= len(locator) || got[:len(locator)] != locator {
			t.Errorf("%s is %q, expected %s...", name, got, locator)
		}
	}
	for _, name := range []string{"vite", "vitest", "typescript", "playwright-core"} {
		if names[name] != "" {
			t.Errorf("%s is listed: it is not in the program", name)
		}
	}
	if len(doc.Relationships) != len(doc.Packages) || slices.ContainsFunc(doc.Relationships,
		func(r spdx.Relationship) bool { return r.From != "SPDXRef-ferrite" || r.Type != "DEPENDS_ON" }) {
		t.Errorf("%+v", doc.Relationships)
	}
}
