package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// rootDeviceRoutes is which disk would be installed onto, for whoever wants to
// know before anything is written.
func (a *API) rootDeviceRoutes() []route {
	form := schema{"type": []string{"object", "null"}, "additionalProperties": false, "properties": schema{"root_device": objectForm()}}
	return []route{
		{method: http.MethodPost, path: nodeapi.FerriteRoot + "/nodes/:node/root-device", doc: "which disk would be installed onto, by hints or by those of the node, and why not the others; nothing is changed", handle: a.chooseRootDevice, wire: wire{status: http.StatusOK, takes: form, gives: formOf(nodeapi.RootDevice{})}},
	}
}

func (a *API) chooseRootDevice(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	args, err := c.args(nodeapi.BodyLimit, "root_device")
	if err != nil {
		return err
	}
	hints, err := args.object("root_device")
	if err != nil {
		return err
	}
	r, err := a.conductor.RootDevice(c.Request().Context(), n.UUID, hints)
	if err != nil {
		return err
	}
	return c.marshal(http.StatusOK, wireRootDevice(r))
}

func wireRootDevice(r engine.RootDevice) nodeapi.RootDevice {
	w := nodeapi.RootDevice{Node: r.Node, RootDevice: r.Hints, Disk: r.Disk, Refusal: r.Refusal, Disks: make([]nodeapi.DiskVerdict, len(r.Verdicts))}
	if w.RootDevice == nil {
		w.RootDevice = map[string]any{}
	}
	for i, v := range r.Verdicts {
		w.Disks[i] = nodeapi.DiskVerdict{Name: v.Disk.Name, Size: v.Disk.Size, Model: v.Disk.Model, Serial: v.Disk.Serial, Taken: v.Taken, Why: v.Why}
	}
	return w
}
