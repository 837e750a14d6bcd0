package kube

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// deleteOptions is the body of a deletion, if it has one.
type deleteOptions struct {
	Propagation   objects.Propagation `json:"propagationPolicy"`
	Orphan        *bool               `json:"orphanDependents"` // the older word for it
	Preconditions struct {
		UID             string `json:"uid"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"preconditions"`
	DryRun []string `json:"dryRun"`
}

// deletion reads the options of a deletion, in the body or the query.
func (c *call) deletion() (o objects.DeleteOptions, err error) {
	v, err := c.fields(protobufDeleteOptions)
	if err != nil {
		return o, err
	}
	if err := refusedText("DeleteOptions", checkControls(v)); err != nil {
		return o, err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return o, err
	}
	var d deleteOptions
	if err := json.Unmarshal(text, &d); err != nil {
		return o, badRequest("the body is no DeleteOptions: %v", err)
	}
	if policy := c.arg("propagationPolicy"); d.Propagation == "" {
		d.Propagation = objects.Propagation(policy)
	}
	if d.Propagation == "" && d.Orphan != nil && *d.Orphan {
		d.Propagation = objects.Orphan
	}
	switch d.Propagation {
	case "", objects.Background, objects.Foreground, objects.Orphan:
	default:
		return o, badRequest("propagationPolicy %q: expected Background, Foreground or Orphan", d.Propagation)
	}
	dry, err := dryRun(append(d.DryRun, c.query["dryRun"]...))
	return objects.DeleteOptions{UID: d.Preconditions.UID, ResourceVersion: d.Preconditions.ResourceVersion,
		Propagation: d.Propagation, Dry: dry}, err
}

// delete deletes a document. A document with finalizers is only marked, and disappears with the last of them.
func (s *Server) delete(c *call) error {
	o, err := c.deletion()
	if err != nil {
		return err
	}
	d, gone, err := s.keeper.Delete(c.Context(), c.key(), o)
	if err != nil {
		return err
	}
	if !gone {
		return s.one(c, http.StatusOK, d)
	}
	return s.reply(c, http.StatusOK, done(c, d.Meta().UID))
}

// deleteAll deletes all documents that are selected, one after the other, and
// answers with them.
func (s *Server) deleteAll(c *call) error {
	o, err := c.deletion()
	if err != nil {
		return err
	}
	sel, err := c.selected()
	if err != nil {
		return err
	}
	var revision int64
	docs := s.read(c, sel, objects.Key{}, func(at int64) error { revision = at; return nil })
	return s.many(c, s.deleting(c, docs, o), 0, &revision)
}

// deleting deletes documents as they are read.
func (s *Server) deleting(c *call, docs documents, o objects.DeleteOptions) documents {
	return func(yield func(hostapi.Document, error) bool) {
		for d, err := range docs {
			if err == nil {
				d, _, err = s.keeper.Delete(c.Context(),
					objects.Key{Kind: c.kind.Kind, Namespace: d.Meta().Namespace, Name: d.Meta().Name}, o)
			}
			if errors.Is(err, objects.ErrNotFound) { // another client was faster
				continue
			}
			if !yield(d, err) {
				return
			}
		}
	}
}
