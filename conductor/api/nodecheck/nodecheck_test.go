package nodecheck

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/cacert"
	"github.com/ferrite-metal/ferrite/conductor/server/certificate/certtest"
)

// list is nodes in memory; nil cannot be listed.
type list []node.Node

func (l list) EachNode(_ context.Context, _ node.Query, visit func(*node.Node)) error {
	if l == nil {
		return errors.New("no database")
	}
	for i := range l {
		visit(&l[i])
	}
	return nil
}

// TestSearch: nodes with certificates that are not open, and the second node of a BMC, are named; each is read once. A
// warning names 20 at most.
func TestSearch(t *testing.T) {
	chain, _ := certtest.New(t).Server("127.0.0.1")
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "ca.pem"), chain, 0o600); err != nil {
		t.Fatal(err)
	}
	with := func(name, address string, verify any) node.Node {
		return node.Node{UUID: "uuid of " + name, Name: name, Driver: "redfish",
			DriverInfo: map[string]any{"redfish_address": address, "redfish_verify_ca": verify}}
	}
	var many list
	for i := range 30 {
		many = append(many, with("", fmt.Sprintf("https://192.0.2.%d", i+1), "/etc/none"))
	}
	child := with("child", "https://192.0.2.1", false)
	child.ParentNode = "uuid of a"
	for name, c := range map[string]struct {
		nodes list
		says  []string // in the log
	}{
		"well": {list{with("a", "https://192.0.2.1", filepath.Join(folder, "ca.pem")),
			with("b", "https://192.0.2.2", string(chain)), with("c", "https://192.0.2.3", true), child}, nil},
		"closed": {list{with("a", "https://192.0.2.1", "/etc/passwd")},
			[]string{"cannot be read", "count=1", "a (redfish_verify_ca)"}},
		"twice": {list{with("a", "https://192.0.2.1", true), with("b", "192.0.2.1:443/", true)},
			[]string{"BMC and system of another node", "count=1", "b ("}},
		"many":      {many, []string{"count=30", "uuid of  (redfish_verify_ca)", " and 10 more"}},
		"no answer": {nil, []string{"cannot be listed", "no database"}},
	} {
		var log strings.Builder
		read := 0
		Search(t.Context(), c.nodes, cacert.Folder(folder), func(node.Node) { read++ },
			slog.New(slog.NewTextHandler(&log, nil)))
		for _, want := range c.says {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s: the log does not say %q: %s", name, want, log.String())
			}
		}
		if c.says == nil && log.Len() > 0 || read != len(c.nodes) {
			t.Errorf("%s: %d of %d nodes were read; the log says %s", name, read, len(c.nodes), log.String())
		}
	}
}
