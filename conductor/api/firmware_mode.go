package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// firmwareModeResource is the boot mode and secure boot of a node.
type firmwareModeResource struct{ access }

// routes is how the firmware starts the machine.
func (h *firmwareModeResource) routes() []rest.Route {
	tooOld := nodeapi.NewFault(http.StatusNotFound, "This endpoint is supported starting with the API version 1.76")
	return []rest.Route{
		{Method: http.MethodPut, Path: "/v1/nodes/:node/states/boot_mode", Since: 76, Doc: "boot by BIOS or by UEFI",
			Handle: h.setBootMode, TooOld: tooOld,
			Wire: rest.Accepts(http.StatusAccepted, objectWith(rest.Schema{"target": rest.WordForm("bios", "uefi")}, "target"))},
		{Method: http.MethodPut, Path: "/v1/nodes/:node/states/secure_boot", Since: 76, Doc: "start signed boot loaders only",
			Handle: h.setSecureBoot, TooOld: tooOld,
			Wire: rest.Accepts(http.StatusAccepted, objectWith(rest.Schema{"target": truthForm()}, "target"))},
	}
}

func (h *firmwareModeResource) setBootMode(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	mode, args, err := c.Need(nodeapi.BodyLimit, "target")
	if err != nil {
		return err
	}
	if mode != "bios" && mode != "uefi" {
		return rest.BadRequest("Invalid boot mode %s requested for node. Allowed boot modes are: bios, uefi",
			spelt(args["target"]))
	}
	if err := h.conductor.ChangeBootMode(c.Request().Context(), n.UUID, mode); err != nil {
		return err
	}
	return c.Accepted("/v1/nodes/" + c.Param("node") + "/states")
}

func (h *firmwareModeResource) setSecureBoot(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	args, err := c.Args(nodeapi.BodyLimit, "target")
	if err != nil {
		return err
	}
	on, err := args.NeedTruth("target")
	if err != nil {
		return err
	}
	if err := h.conductor.ChangeSecureBoot(c.Request().Context(), n.UUID, on); err != nil {
		return err
	}
	return c.Accepted("/v1/nodes/" + c.Param("node") + "/states")
}
