package serve

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/bmc/driverinfo"
	"github.com/ferrite-metal/ferrite/conductor/cacert"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// checkCAFolder refuses a --ca-folder that nodes could find nothing in.
func (c *Config) checkCAFolder() error {
	if c.CAFolder == "" {
		return nil
	}
	if i, err := os.Stat(c.CAFolder); err != nil || !i.IsDir() {
		return fmt.Errorf("--ca-folder %q is no folder: make it and put the CA certificates in it, or leave the flag out",
			c.CAFolder)
	}
	return nil
}

// mostNamed is how many nodes a warning at the start names.
const mostNamed = 20

// warnAuthorities names the nodes whose settings name certificates that are not
// open to nodes, as releases before --ca-folder allowed. They keep their
// state; only the next call to their BMC is refused. It reads all nodes, a page at a
// time, beside everything else: a start does not wait for it.
func (c *Config) warnAuthorities(ctx context.Context, nodes interface {
	EachNode(ctx context.Context, q node.Query, visit func(*node.Node)) error
}, log *slog.Logger) {
	var named []string
	count := 0
	seen := map[string]bool{} // by setting: many nodes name the same file
	err := nodes.EachNode(ctx, node.Query{WithChildren: true, Limit: 200}, func(n *node.Node) {
		for _, key := range driverinfo.AuthorityKeys() {
			if believed(cacert.Folder(c.CAFolder), *n, key, seen) {
				continue
			}
			if count++; count <= mostNamed {
				named = append(named, fmt.Sprintf("%s (%s)", nodeName(*n), key))
			}
		}
	})
	if err != nil && ctx.Err() == nil {
		log.Error("not all nodes were searched for CA certificates that cannot be read: the nodes cannot be listed", "err",
			err)
	}
	if count == 0 {
		return
	}
	more := ""
	if count > mostNamed {
		more = fmt.Sprintf(" and %d more", count-mostNamed)
	}
	log.Warn("nodes name CA certificates that cannot be read: their BMCs or agents are not called until this is mended; "+
		"put the files into a folder, open it with --ca-folder and restart, or set the PEM itself, as: baremetal node set "+
		"NODE --driver-info redfish_verify_ca=\"$(cat ca.pem)\"",
		"count", count, "nodes", strings.Join(named, ", ")+more)
}

// believed reports whether a setting can be used.
func believed(folder cacert.Folder, n node.Node, key string, seen map[string]bool) bool {
	setting, err := driverinfo.Authorities(n, key)
	if err != nil || setting == "true" || setting == "false" {
		return err == nil
	}
	ok, known := seen[setting]
	if !known {
		_, err = folder.Pool(setting)
		ok, seen[setting] = err == nil, err == nil
	}
	return ok
}

func nodeName(n node.Node) string {
	if n.Name != "" {
		return n.Name
	}
	return n.UUID
}
