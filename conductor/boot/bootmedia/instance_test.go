package bootmedia_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/boot/bootmedia"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/pxe"
)

// TestInstance: the medium of a kernel and ramdisk that are a node's workload is read at every start, also when another
// conductor serves it, until the node boots something else.
func TestInstance(t *testing.T) {
	r := newRig(t)
	r.boot.Cmdline = "own=1"
	r.conductor.change(func(n *node.Node) {
		n.Interfaces["deploy"] = "ramdisk"
		n.DriverInternalInfo["boot_medium"] = plan.MediumInstance
		n.InstanceInfo = map[string]any{"kernel": "http://h/k", "ramdisk": "http://h/r", "ramdisk_kernel_arguments": "own=1"}
		n.Run.Steps = n.Run.Steps[:2]
	})
	u, err := r.MediumURL(t.Context(), r.conductor.n)
	path, ours := strings.CutPrefix(u, "http://bmc-net:7080")
	if err != nil || !ours || !strings.HasSuffix(path, "/"+uuid+"-instance.iso") {
		t.Fatalf("%s, %v", u, err)
	}
	r.conductor.change(func(n *node.Node) { n.Run, n.ProvisionState = nil, node.Active })
	for range 2 {
		w := r.ask(http.MethodGet, path, "192.0.2.7", "")
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "'own=1'") {
			t.Fatalf("status %d", w.Code)
		}
		r.Server = bootmedia.New(r.config)
	}
	guess := strings.Replace(path, path[8:12], "AAAA", 1)
	if w := r.ask(http.MethodGet, guess, "192.0.2.7", ""); w.Code != http.StatusNotFound {
		t.Errorf("a guess: status %d", w.Code)
	}
	r.ask(http.MethodHead, path, "192.0.2.7", "") // this server has given it out
	for name, change := range map[string]func(*node.Node){
		"another kernel":     func(n *node.Node) { n.InstanceInfo["kernel"] = "http://h/other" },
		"an ISO":             func(n *node.Node) { n.InstanceInfo["boot_iso"] = "http://h/live.iso" },
		"it was ejected":     func(n *node.Node) { n.DriverInternalInfo = nil },
		"it was undeployed":  func(n *node.Node) { n.ProvisionState = node.Deleting },
		"a ramdisk is there": func(n *node.Node) { n.DriverInternalInfo["boot_medium"] = plan.MediumRamdisk },
	} {
		before, _ := r.conductor.Node(t.Context(), uuid)
		r.conductor.change(change)
		if w := r.ask(http.MethodGet, path, "192.0.2.7", ""); w.Code != http.StatusGone {
			t.Errorf("%s: status %d: %s", name, w.Code, w.Body)
		}
		r.conductor.change(func(n *node.Node) { *n = before })
	}
	if r.boot = (pxe.Boot{}); r.ask(http.MethodGet, path, "192.0.2.7", "").Code != http.StatusInternalServerError {
		t.Error("a medium without a kernel is served")
	}
}
