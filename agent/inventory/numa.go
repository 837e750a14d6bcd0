package inventory

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

const numaNodes = "sys/devices/system/node"

// NUMATopology lists the memory, cores and interfaces of each NUMA node (collector numa-topology); nil on a machine
// with a kernel without NUMA.
func NUMATopology(fsys fs.FS) *agentapi.NUMATopology {
	t := &agentapi.NUMATopology{RAM: []agentapi.NUMAMemory{}, CPUs: []agentapi.NUMACore{}, NICs: []agentapi.NUMANIC{}}
	for _, node := range numbered(fsys, numaNodes, "node") {
		folder := path.Join(numaNodes, "node"+strconv.Itoa(node))
		t.RAM = append(t.RAM, agentapi.NUMAMemory{Node: node, SizeKB: memTotal(fsys, folder)})
		t.CPUs = append(t.CPUs, cores(fsys, folder, node)...)
	}
	if len(t.RAM) == 0 {
		return nil
	}
	own, _ := ownInterfaces(fsys)
	for _, name := range own {
		near, err := strconv.Atoi(text(fsys, "sys/bus/pci/devices", pciAddress(linkOf(fsys, "sys/class/net", name)),
			"numa_node"))
		if err != nil {
			near = -1 // as the kernel itself says where it does not know
		}
		t.NICs = append(t.NICs, agentapi.NUMANIC{Name: name, Node: near})
	}
	return t
}

// numbered are the numbers behind the names of a folder that begin with a
// prefix, in order.
func numbered(fsys fs.FS, folder, prefix string) []int {
	var out []int
	for _, name := range names(fsys, folder) {
		rest, ok := strings.CutPrefix(name, prefix)
		if n, err := strconv.Atoi(rest); ok && err == nil {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// memTotal reads a node's meminfo, "Node 0 MemTotal:  1560000 kB".
func memTotal(fsys fs.FS, folder string) int64 {
	for line := range strings.Lines(text(fsys, folder, "meminfo")) {
		if f := strings.Fields(line); len(f) >= 4 && f[2] == "MemTotal:" {
			if kb, err := strconv.ParseInt(f[3], 10, 64); err == nil {
				return kb
			}
		}
	}
	return 0
}

// cores are a node's cores with their threads. The same number may belong to several
// cores, of several sockets, within a node. They are not distinguished, as in
// ironic-python-agent.
func cores(fsys fs.FS, folder string, node int) []agentapi.NUMACore {
	threads := map[int][]int{}
	for _, thread := range numbered(fsys, folder, "cpu") {
		core, err := strconv.Atoi(text(fsys, "sys/devices/system/cpu", "cpu"+strconv.Itoa(thread), "topology/core_id"))
		if err != nil {
			continue // switched off
		}
		threads[core] = append(threads[core], thread)
	}
	var list []agentapi.NUMACore
	for core, siblings := range threads {
		list = append(list, agentapi.NUMACore{CPU: core, Node: node, ThreadSiblings: siblings})
	}
	slices.SortFunc(list, func(a, b agentapi.NUMACore) int { return cmp.Compare(a.CPU, b.CPU) })
	return list
}
