package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// vifRoutes is the virtual interfaces of a tenant that are attached to a node.
func (a *API) vifRoutes() []route {
	const path = "/v1/nodes/:node/vifs"
	rows := []route{
		{method: http.MethodGet, path: path, doc: "the virtual interfaces attached to a node", handle: a.listVIFs, wire: gives(vifsForm())},
		{method: http.MethodPost, path: path, doc: "attach a virtual interface to a free port", handle: a.attachVIF, wire: takes(http.StatusNoContent, vifForm())},
		{method: http.MethodDelete, path: path + "/:vif", doc: "detach a virtual interface", handle: a.detachVIF},
	}
	for i := range rows {
		rows[i].since, rows[i].tooOld = 28, nodeapi.Routing(http.StatusNotFound, "")
	}
	return rows
}

func (a *API) listVIFs(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	ids, err := a.conductor.VIFs(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	vifs := make([]map[string]string, len(ids))
	for i, id := range ids {
		vifs[i] = map[string]string{"id": id}
	}
	return c.marshal(http.StatusOK, map[string]any{"vifs": vifs})
}

// attachVIF: a body may hold more than an id, which other drivers of networks
// would understand.
func (a *API) attachVIF(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	body, err := c.object("vif")
	if err != nil {
		return err
	}
	if _, ok := body["id"]; !ok {
		return badRequest("Schema error for vif: 'id' is a required property")
	}
	id, ok := body["id"].(string)
	if !ok {
		return badRequest("Schema error for vif: %s is not of type 'string'", python(body["id"]))
	}
	if err := checkIdent("id", id); err != nil {
		return err
	}
	v := node.VIF{ID: id}
	if v.PortUUID, err = asUUID("port_uuid", body["port_uuid"]); err != nil {
		return schemaFault("vif", err)
	}
	if v.PortgroupUUID, err = asUUID("portgroup_uuid", body["portgroup_uuid"]); err != nil {
		return schemaFault("vif", err)
	}
	if v.PortUUID != "" && v.PortgroupUUID != "" {
		return badRequest("Cannot specify both port_uuid and portgroup_uuid")
	}
	return c.done(a.conductor.AttachVIF(c.Request().Context(), n.UUID, v))
}

func (a *API) detachVIF(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	if err := checkIdent("vif_id", c.Param("vif")); err != nil {
		return err
	}
	return c.done(a.conductor.DetachVIF(c.Request().Context(), n.UUID, c.Param("vif")))
}

// checkIdent refuses what is neither a UUID nor a name.
func checkIdent(name, ident string) error {
	if !validUUID(ident) && !node.ValidName(ident) {
		return badRequest("Expected UUID or name for %s: %s", name, ident)
	}
	return nil
}
