package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// vifResource is the virtual interfaces that are attached to nodes.
type vifResource struct{ access }

// routes is the virtual interfaces of a tenant that are attached to a node.
func (h *vifResource) routes() []rest.Route {
	const path = "/v1/nodes/:node/vifs"
	rows := []rest.Route{
		{Method: http.MethodGet, Path: path, Doc: "the virtual interfaces attached to a node", Handle: h.listVIFs,
			Wire: rest.Returns(vifsForm())},
		{Method: http.MethodPost, Path: path, Doc: "attach a virtual interface to a free port", Handle: h.attachVIF,
			Wire: rest.Accepts(http.StatusNoContent, vifForm())},
		{Method: http.MethodDelete, Path: path + "/:vif", Doc: "detach a virtual interface", Handle: h.detachVIF},
	}
	for i := range rows {
		rows[i].Since, rows[i].TooOld = 28, nodeapi.Routing(http.StatusNotFound, "")
	}
	return rows
}

func (h *vifResource) listVIFs(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	ids, err := h.conductor.VIFs(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	vifs := make([]map[string]string, len(ids))
	for i, id := range ids {
		vifs[i] = map[string]string{"id": id}
	}
	return c.Marshal(http.StatusOK, map[string]any{"vifs": vifs})
}

// attachVIF accepts properties besides the id, since other network drivers of Ironic use them.
func (h *vifResource) attachVIF(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	body, err := c.Object("vif")
	if err != nil {
		return err
	}
	if _, ok := body["id"]; !ok {
		return rest.BadRequest("Schema error for vif: 'id' is a required property")
	}
	id, ok := body["id"].(string)
	if !ok {
		return rest.BadRequest("Schema error for vif: %s is not of type 'string'", rest.Python(body["id"]))
	}
	if err := checkIdent("id", id); err != nil {
		return err
	}
	v := node.VIF{ID: id, Project: c.Project()}
	if v.PortUUID, err = rest.ReadUUID("port_uuid", body["port_uuid"]); err != nil {
		return rest.SchemaFault("vif", err)
	}
	if v.PortgroupUUID, err = rest.ReadUUID("portgroup_uuid", body["portgroup_uuid"]); err != nil {
		return rest.SchemaFault("vif", err)
	}
	if v.PortUUID != "" && v.PortgroupUUID != "" {
		return rest.BadRequest("Cannot specify both port_uuid and portgroup_uuid")
	}
	return c.Done(h.conductor.AttachVIF(c.Request().Context(), n.UUID, v))
}

func (h *vifResource) detachVIF(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	if err := checkIdent("vif_id", c.Param("vif")); err != nil {
		return err
	}
	return c.Done(h.conductor.DetachVIF(c.Request().Context(), n.UUID, c.Param("vif")))
}

// checkIdent refuses a text that is neither a UUID nor a name.
func checkIdent(name, ident string) error {
	if !rest.ValidUUID(ident) && !node.ValidName(ident) {
		return rest.BadRequest("Expected UUID or name for %s: %s", name, ident)
	}
	return nil
}
