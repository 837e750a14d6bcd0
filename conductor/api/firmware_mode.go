package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// firmwareModeRoutes is how the firmware starts the machine.
func (a *API) firmwareModeRoutes() []route {
	tooOld := nodeapi.NewFault(http.StatusNotFound, "This endpoint is supported starting with the API version 1.76")
	return []route{
		{method: http.MethodPut, path: "/v1/nodes/:node/states/boot_mode", since: 76, doc: "boot by BIOS or by UEFI", handle: a.setBootMode, tooOld: tooOld,
			wire: takes(http.StatusAccepted, objectWith(schema{"target": wordForm("bios", "uefi")}, "target"))},
		{method: http.MethodPut, path: "/v1/nodes/:node/states/secure_boot", since: 76, doc: "start signed boot loaders only", handle: a.setSecureBoot, tooOld: tooOld,
			wire: takes(http.StatusAccepted, objectWith(schema{"target": truthForm()}, "target"))},
	}
}

func (a *API) setBootMode(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	args, err := c.args(nodeapi.BodyLimit, "target")
	if err != nil {
		return err
	}
	mode, err := args.need("target")
	if err != nil {
		return err
	}
	if mode != "bios" && mode != "uefi" {
		return badRequest("Invalid boot mode %s requested for node. Allowed boot modes are: bios, uefi", spelt(args["target"]))
	}
	if err := a.conductor.ChangeBootMode(c.Request().Context(), n.UUID, mode); err != nil {
		return err
	}
	return c.accepted("/v1/nodes/" + c.Param("node") + "/states")
}

func (a *API) setSecureBoot(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	args, err := c.args(nodeapi.BodyLimit, "target")
	if err != nil {
		return err
	}
	on, err := args.needTruth("target")
	if err != nil {
		return err
	}
	if err := a.conductor.ChangeSecureBoot(c.Request().Context(), n.UUID, on); err != nil {
		return err
	}
	return c.accepted("/v1/nodes/" + c.Param("node") + "/states")
}
