package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// managementResource is the boot device, NMI and validation of a node.
type managementResource struct{ access }

// routes serves boot devices, the NMI, and the validation of interfaces.
func (h *managementResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: "/v1/nodes/:node/management/boot_device", Doc: "the boot device",
			Handle: h.showBootDevice, Wire: rest.Returns(bootDeviceForm())},
		{Method: http.MethodPut, Path: "/v1/nodes/:node/management/boot_device", Doc: "set the boot device",
			Handle: h.setBootDevice, Wire: rest.Accepts(http.StatusNoContent, bootDeviceForm())},
		{Method: http.MethodGet, Path: "/v1/nodes/:node/management/boot_device/supported", Doc: "the possible boot devices",
			Handle: h.supportedBootDevices, Wire: rest.Returns(rest.Structure("supported_boot_devices", []string{}))},
		{Method: http.MethodPut, Path: "/v1/nodes/:node/management/inject_nmi", Since: 29,
			Doc: "interrupt the machine, so that its system writes a dump", Handle: h.injectNMI,
			Wire: rest.Accepts(http.StatusNoContent, rest.ObjectForm())},
		{Method: http.MethodGet, Path: "/v1/nodes/:node/validate", Doc: "missing settings, by interface", Handle: h.validate,
			Wire: rest.Returns(rest.FormOf(map[string]nodeapi.Valid{}))},
		{Method: http.MethodGet, Path: "/v1/nodes/validate", Doc: "the same, the node in the query", Handle: h.validateQuery,
			Wire: rest.Returns(rest.FormOf(map[string]nodeapi.Valid{}), "node", "node_uuid")},
	}
}

func (h *managementResource) showBootDevice(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	device, persistent, err := h.conductor.BootDevice(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	answer := map[string]any{"boot_device": rest.Nullable(device), "persistent": persistent}
	if device == "" {
		answer["persistent"] = nil // nothing is known to last
	}
	return c.Marshal(http.StatusOK, answer)
}

// bootDevices are Ironic's names for boot devices.
func bootDevices() []string {
	return []string{"pxe", "disk", "cdrom", "bios", "safe", "wanboot", "iscsiboot", "floppy", "uefihttp"}
}

func (h *managementResource) setBootDevice(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	device, args, err := c.Need(nodeapi.BodyLimit, "boot_device", "persistent")
	if err != nil {
		return err
	}
	persistent, err := args.Truth("persistent")
	if err != nil {
		return err
	}
	supported, err := h.conductor.SupportedBootDevices(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	if !slices.Contains(bootDevices(), device) || !slices.Contains(supported, device) {
		return rest.BadRequest("Invalid boot device %s specified.", device)
	}
	if err := h.conductor.SetBootDevice(c.Request().Context(), n.UUID, device, persistent); err != nil {
		return err
	}
	return c.Empty(http.StatusNoContent)
}

func (h *managementResource) supportedBootDevices(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	devices, err := h.conductor.SupportedBootDevices(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	return c.Marshal(http.StatusOK, map[string][]string{"supported_boot_devices": append([]string{}, devices...)})
}

func (h *managementResource) injectNMI(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	if _, err := c.Args(nodeapi.BodyLimit); err != nil {
		return err
	}
	return c.Done(h.conductor.InjectNMI(c.Request().Context(), n.UUID))
}

func (h *managementResource) validate(c *rest.Call) error { return h.answerValidation(c) }

func (h *managementResource) validateQuery(c *rest.Call) error {
	ref := c.QueryParam("node")
	if ref == "" {
		ref = c.QueryParam("node_uuid")
	}
	if ref == "" {
		return rest.BadRequest("Missing mandatory parameter: node")
	}
	c.SetParamNames("node")
	c.SetParamValues(ref)
	return h.answerValidation(c)
}

func (h *managementResource) answerValidation(c *rest.Call) error {
	if c.Minor < 5 && !rest.ValidUUID(c.Param("node")) {
		return rest.NotAcceptable() // unlike elsewhere a name is not a 404 here
	}
	n, err := h.node(c)
	if err != nil {
		return err
	}
	verdicts, err := h.conductor.Validate(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	answer := make(map[string]nodeapi.Valid, len(verdicts))
	notes := n.KeyNotes()
	for kind, reason := range verdicts {
		if kind != "vendor" && interfaceSince(kind) <= max(c.Minor, 30) {
			answer[kind] = verdict(&n, kind, reason, notes[kind])
		}
	}
	return c.Marshal(http.StatusOK, answer)
}

// verdict is the answer for one interface. A disabled interface is not valid, though nothing is wrong with it. Notes
// about keys without an effect follow the reason; they leave a valid interface valid, as Ironic ignores such keys.
func verdict(n *node.Node, kind string, reason error, notes []string) nodeapi.Valid {
	if reason == nil && n.Off(kind) {
		//nolint:staticcheck // Ironic's words
		reason = fmt.Errorf("Driver %s does not support %s (disabled or not implemented).", n.Driver,
			kind)
	}
	ok := reason == nil
	switch {
	case !ok:
		notes = slices.Insert(slices.Clone(notes), 0, reason.Error())
	case kind == "deploy" && n.Autodetects():
		notes = slices.Insert(slices.Clone(notes), 0, "autodetect finds "+n.DeployInterface()+" by instance_info")
	}
	return nodeapi.Valid{Result: &ok, Reason: nodeapi.MaskText(strings.Join(notes, "; "))}
}
