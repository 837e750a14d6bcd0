package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// rootDeviceResource explains the choice of a root device.
type rootDeviceResource struct{ access }

// routes serves the choice of the root device, so that clients can see it before anything is written.
func (h *rootDeviceResource) routes() []rest.Route {
	form := rest.Schema{"type": []string{"object", "null"}, "additionalProperties": false,
		"properties": rest.Schema{"root_device": rest.ObjectForm()}}
	return []rest.Route{
		{Method: http.MethodPost, Path: nodeapi.FerriteRoot + "/nodes/:node/root-device",
			Doc: "the disk that a deploy would write to, by hints or by the node's, and why not the others; " +
				"nothing is changed", Handle: h.chooseRootDevice,
			Wire: rest.Wire{Status: http.StatusOK, Takes: form, Gives: rest.FormOf(nodeapi.RootDevice{})}},
	}
}

func (h *rootDeviceResource) chooseRootDevice(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	args, err := c.Args(nodeapi.BodyLimit, "root_device")
	if err != nil {
		return err
	}
	hints, err := args.Object("root_device")
	if err != nil {
		return err
	}
	r, err := h.conductor.RootDevice(c.Request().Context(), n.UUID, hints)
	if err != nil {
		return err
	}
	return c.Marshal(http.StatusOK, wireRootDevice(r))
}

func wireRootDevice(r engine.RootDevice) nodeapi.RootDevice {
	w := nodeapi.RootDevice{Node: r.Node, RootDevice: r.Hints, Disk: r.Disk, Refusal: r.Refusal,
		Disks: make([]nodeapi.DiskVerdict, len(r.Verdicts))}
	if w.RootDevice == nil {
		w.RootDevice = map[string]any{}
	}
	for i, v := range r.Verdicts {
		w.Disks[i] = nodeapi.DiskVerdict{Name: v.Disk.Name, Size: v.Disk.Size, Model: v.Disk.Model, Serial: v.Disk.Serial,
			Taken: v.Taken, Why: v.Why}
	}
	return w
}
