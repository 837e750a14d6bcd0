// Package nodecheck names, once at a start, the nodes that an earlier release allowed and this one would refuse. It
// changes none: they keep their state, and a person decides.
package nodecheck

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"log/slog"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/bmc/driverinfo"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/cacert"
)

// mostNamed is how many nodes a warning at the start names.
const mostNamed = 20

// findings are nodes that a warning names: the first of them, and how many there are.
type findings struct {
	named []string
	count int
}

func (f *findings) add(name string) {
	if f.count++; f.count <= mostNamed {
		f.named = append(f.named, name)
	}
}

// warn logs the nodes, should there be any.
func (f *findings) warn(log *slog.Logger, text string) {
	if f.count == 0 {
		return
	}
	more := ""
	if f.count > mostNamed {
		more = fmt.Sprintf(" and %d more", f.count-mostNamed)
	}
	log.Warn(text, "count", f.count, "nodes", strings.Join(f.named, ", ")+more)
}

// Lister lists nodes, a page at a time.
type Lister interface {
	EachNode(ctx context.Context, q node.Query, visit func(*node.Node)) error
}

// Search logs the nodes with CA certificates that are not open to nodes, or with the BMC and system of another node. It
// reads all nodes beside everything else: a start does not wait for it. read is given each.
func Search(ctx context.Context, nodes Lister, open cacert.Folder, read func(node.Node), log *slog.Logger) {
	var closed, twice findings
	believed := map[string]bool{} // by setting: many nodes name the same file
	machines := map[uint64]bool{} // by hash: 100,000 addresses would take some 20 MB
	seed := maphash.MakeSeed()
	err := nodes.EachNode(ctx, node.Query{WithChildren: true, Limit: 200}, func(n *node.Node) {
		read(*n)
		for _, key := range closedAuthorities(*n, open, believed) {
			closed.add(fmt.Sprintf("%s (%s)", cmp.Or(n.Name, n.UUID), key))
		}
		m, ok := n.Machine()
		if !ok || n.ParentNode != "" { // a child may be reached by its parent's BMC
			return
		}
		hash := maphash.Comparable(seed, m)
		if machines[hash] {
			twice.add(fmt.Sprintf("%s (%s %s)", cmp.Or(n.Name, n.UUID), m.Endpoint, m.System))
		}
		machines[hash] = true
	})
	if err != nil && ctx.Err() == nil {
		log.Error("not all nodes were searched for CA certificates that cannot be read and for BMCs of two nodes: the nodes "+
			"cannot be listed", "err", err)
	}
	closed.warn(log, "nodes name CA certificates that cannot be read: their BMCs or agents are not called until this is "+
		"repaired; put the files into a folder, open it with --ca-folder and restart, or set the PEM itself, as: baremetal "+
		"node set NODE --driver-info redfish_verify_ca=\"$(cat ca.pem)\"")
	twice.warn(log, "nodes name the BMC and system of another node: either may erase the machine under the other; delete "+
		"one of the two, or correct its address")
}

// closedAuthorities are the settings of a node that name certificates which are not open to nodes, as releases before
// --ca-folder allowed. Only the next call to its BMC is refused.
func closedAuthorities(n node.Node, open cacert.Folder, seen map[string]bool) (keys []string) {
	for _, key := range driverinfo.AuthorityKeys() {
		if !believed(open, n, key, seen) {
			keys = append(keys, key)
		}
	}
	return keys
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
