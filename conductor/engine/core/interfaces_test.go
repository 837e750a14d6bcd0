package core_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestSettled: the interfaces of a node in use, and the fields that schedulers know, stay.
func TestSettled(t *testing.T) {
	boot := func(n *node.Node) { n.Interfaces["boot"] = "pxe" }
	class := func(n *node.Node) { n.ResourceClass = "large" }
	for name, c := range map[string]struct {
		state node.State
		start func(*node.Node)
		edit  func(*node.Node)
		want  string // part of the refusal; "" when it is done
	}{
		"manageable": {node.Manageable, nil, boot, ""},
		"available":  {node.Available, nil, boot, ""},
		"waiting for inspection": {
			node.InspectWait, func(n *node.Node) { n.Deadline = time.Now().Add(time.Hour) }, boot, "",
		},
		"active": {
			node.Active, nil, boot,
			"can not have boot_interface updated unless it is in one of allowed (enroll, inspecting, inspect wait, " +
				"manageable, available) states or in maintenance mode.",
		},
		"failed": {node.CleanFailed, nil, boot, "can not have boot_interface updated"},
		"active, the default": {node.Active, nil, func(n *node.Node) { n.Interfaces["boot"] = "" },
			"can not have boot_interface updated"},
		"active, the same":         {node.Active, nil, func(n *node.Node) { n.Interfaces["boot"] = "ipxe" }, ""},
		"active, in maintenance":   {node.Active, func(n *node.Node) { n.Maintenance = true }, boot, ""},
		"active, into maintenance": {node.Active, nil, func(n *node.Node) { n.Maintenance = true; boot(n) }, ""},
		"active, out of maintenance": {node.Active, func(n *node.Node) { n.Maintenance = true },
			func(n *node.Node) { n.Maintenance = false; boot(n) },
			"can not have boot_interface updated"},
		"active, another driver": {
			node.Active, nil, func(n *node.Node) { n.Driver = "fake-hardware"; n.Interfaces = nil }, "",
		},
		"active, another driver with an interface": {node.Active, nil, func(n *node.Node) {
			n.Driver = "fake-hardware"
			n.Interfaces = map[string]string{"boot": "pxe"}
		},
			"can not have boot_interface updated"},
		"another driver, with a console": {node.Manageable, func(n *node.Node) { n.ConsoleEnabled = true },
			func(n *node.Node) { n.Driver = "fake-hardware"; n.Interfaces = nil },
			"can not update the driver while the console is enabled"},
		"active, a resource class": {node.Active, nil, class, ""},
		"active, another class": {node.Active, func(n *node.Node) { n.ResourceClass = "small" }, class,
			"can not have resource_class updated unless it is in one of allowed (enroll, inspecting, inspect wait, " +
				"manageable, available) states."},
		"another class, in maintenance": {node.Active, func(n *node.Node) { n.ResourceClass = "small"; n.Maintenance = true },
			class, "can not have resource_class updated"},
		"available, another class": {node.Available, func(n *node.Node) { n.ResourceClass = "small" }, class, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := enginetest.New(t, 1)
				w.Start()
				defer w.Close()
				n, err := w.E.Node(w.Ctx, w.Create("redfish").UUID)
				if err != nil {
					t.Fatal(err)
				}
				n.ProvisionState = c.state
				if c.start != nil {
					c.start(&n)
				}
				if _, err := w.Store.Commit(w.Ctx, node.Change{Save: &n}); err != nil {
					t.Fatal(err)
				}
				_, err = w.E.UpdateNode(w.Ctx, n.UUID, func(n *node.Node) error { c.edit(n); return nil })
				var refused *node.Refusal
				switch {
				case c.want == "" && err != nil:
					t.Error(err)
				case c.want != "" &&
					(!errors.As(err, &refused) || refused.Kind != node.Conflict || !strings.Contains(err.Error(), c.want)):
					t.Errorf("it is answered %v, want a conflict: %s", err, c.want)
				}
			})
		})
	}
}
