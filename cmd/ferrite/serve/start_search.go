package serve

import (
	"context"
	"fmt"
	"hash/maphash"
	"log/slog"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
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

// searchNodes names the nodes that an earlier release allowed and this one would refuse: with CA certificates that are
// not open to nodes, or with the BMC and system of another node. They keep their state. It reads all nodes, a page at a
// time, beside everything else: a start does not wait for it. read is given each.
func (c *Config) searchNodes(ctx context.Context, nodes interface {
	EachNode(ctx context.Context, q node.Query, visit func(*node.Node)) error
}, read func(node.Node), log *slog.Logger) {
	var closed, twice findings
	believed := map[string]bool{} // by setting: many nodes name the same file
	machines := map[uint64]bool{} // by hash: 100,000 addresses would take some 20 MB
	seed := maphash.MakeSeed()
	err := nodes.EachNode(ctx, node.Query{WithChildren: true, Limit: 200}, func(n *node.Node) {
		read(*n)
		for _, key := range c.closedAuthorities(*n, believed) {
			closed.add(fmt.Sprintf("%s (%s)", nodeName(*n), key))
		}
		m, ok := n.Machine()
		if !ok || n.ParentNode != "" { // a child may be reached by its parent's BMC
			return
		}
		hash := maphash.Comparable(seed, m)
		if machines[hash] {
			twice.add(fmt.Sprintf("%s (%s %s)", nodeName(*n), m.Endpoint, m.System))
		}
		machines[hash] = true
	})
	if err != nil && ctx.Err() == nil {
		log.Error("not all nodes were searched for CA certificates that cannot be read and for BMCs of two nodes: the nodes "+
			"cannot be listed", "err", err)
	}
	closed.warn(log, "nodes name CA certificates that cannot be read: their BMCs or agents are not called until this is "+
		"mended; put the files into a folder, open it with --ca-folder and restart, or set the PEM itself, as: baremetal "+
		"node set NODE --driver-info redfish_verify_ca=\"$(cat ca.pem)\"")
	twice.warn(log, "nodes name the BMC and system of another node: either may erase the machine under the other; delete "+
		"one of the two, or correct its address")
}

func nodeName(n node.Node) string {
	if n.Name != "" {
		return n.Name
	}
	return n.UUID
}
