package kube

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// create adds a document.
func (s *Server) create(c *call) error {
	dry, err := c.dry()
	if err != nil {
		return err
	}
	d, err := c.document()
	if err != nil {
		return err
	}
	if d.Meta().ResourceVersion != "" {
		return badRequest("resourceVersion should not be set on objects to be created")
	}
	made, err := s.keeper.Create(c.Context(), d, dry)
	if err != nil {
		return err
	}
	return s.one(c, http.StatusCreated, made)
}

// part is the part of a document that the path names.
func (c *call) part() objects.Part {
	if c.sub == "status" {
		return objects.Status
	}
	return objects.Main
}

// update replaces a document, or its status.
func (s *Server) update(c *call) error {
	dry, err := c.dry()
	if err != nil {
		return err
	}
	d, err := c.document()
	if err != nil {
		return err
	}
	if d.Meta().ResourceVersion == "" && c.kind.Group != "" { // Kubernetes' own may do without
		return invalidDocument(c, c.name,
			[]hostapi.Problem{{Path: "metadata.resourceVersion", Value: "0x0", Reason: "must be specified for an update"}})
	}
	saved, err := s.keeper.Update(c.Context(), d, c.part(), dry)
	if err != nil {
		return err
	}
	return s.one(c, http.StatusOK, saved)
}
