package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// peers are the packages that read answers of machines and servers with possibly hostile owners. Each has the files
// that decode JSON by encoding/json itself, and the reason why they may: a few bytes of JSON can take hundreds of times
// their size.
var peers = map[string]map[string]string{
	"conductor/agents": {
		"bmc_user.go": readBody, "heartbeat.go": readBody, "inspection.go": readBody, "log.go": readBody,
		"progress.go": readBody,
	},
	"conductor/imagestore/imagesource": {},
	"agent/contact":                    {},
	"conductor/bmc/redfish": {
		"bios.go": checked, "boot_keep.go": checked, "etag.go": checked, "foreign.go": checked, "links.go": checked,
		"mend.go": checked, "resource.go": checked, "subscriptions.go": checked, "system.go": checked, "task.go": checked,
		"late.go": "64 KiB into one text", "step.go": "arguments of an operator's step, and a task that we wrote down",
	},
}

const (
	readBody = "nodeapi.ReadBody has looked at its shape"
	checked  = "wire.go has looked at its shape"
)

// TestPeers: JSON of peers is decoded by nodeapi.DecodePeer, which looks at its shape before.
func TestPeers(t *testing.T) {
	for dir, may := range peers {
		paths, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v", dir, err)
		}
		found := map[string]bool{}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok || s.Sel.Name != "Unmarshal" && s.Sel.Name != "NewDecoder" {
					return true
				}
				name := filepath.Base(path)
				if of, ok := s.X.(*ast.Ident); !ok || of.Name != "json" {
					return true
				} else if found[name] = true; may[name] == "" {
					t.Errorf("%s decodes JSON of a peer: use nodeapi.DecodePeer, or give the reason in this test",
						files.Position(s.Pos()))
				}
				return true
			})
		}
		for name := range may {
			if !found[name] {
				t.Errorf("%s/%s decodes no JSON: remove its row", dir, name)
			}
		}
	}
}
