package kube

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// The forms of patches.
const (
	jsonPatch      = "application/json-patch+json"
	mergePatch     = "application/merge-patch+json"
	strategicPatch = "application/strategic-merge-patch+json"
	applyPatch     = "application/apply-patch+yaml"
)

// patchTries bounds the tries of a patch that names no version, when other clients write at the same time.
const patchTries = 5

// patch changes a document, or its status.
func (s *Server) patch(c *call) error {
	dry, err := c.dry()
	if err != nil {
		return err
	}
	kind, _ := mediaType(c.Header.Get("Content-Type"))
	if err := c.patchable(kind); err != nil {
		return err
	}
	change, err := io.ReadAll(c.Body)
	if err != nil {
		return err
	}
	if err := checkPatch(kind, change); err != nil {
		return err
	}
	for try := 1; ; try++ {
		saved, err := s.patched(c, kind, change, dry)
		if errors.Is(err, objects.ErrConflict) && !errors.Is(err, errNamed) && try < patchTries {
			continue
		}
		if err != nil {
			return err
		}
		return s.one(c, http.StatusOK, saved)
	}
}

// patchable refuses unsupported patch types.
func (c *call) patchable(kind string) error {
	if slices.Contains(patchForms(c.kind), kind) {
		return nil
	}
	if kind == applyPatch {
		return failed(http.StatusUnsupportedMediaType, unsupportedMedia,
			"server-side apply is not offered: the owners of fields are not recorded; apply without --server-side, which "+
				"merges on the client's side")
	}
	return unsupported(patchForms(c.kind)...)
}

// errNamed marks a conflict with a version that the patch itself names.
var errNamed = errors.New("the patch names a version")

// patched does a patch on the document as it is now.
func (s *Server) patched(c *call, kind string, change []byte, dry bool) (hostapi.Document, error) {
	d, err := s.keeper.Get(c.Context(), c.key())
	if err != nil {
		return nil, err
	}
	version := d.Meta().ResourceVersion
	before, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	after, err := c.merged(kind, before, change)
	if err != nil {
		return nil, err
	}
	v, err := object(after)
	if err != nil {
		return nil, err
	}
	next, err := c.parse(v)
	if err != nil {
		return nil, err
	}
	named := next.Meta().ResourceVersion != version && next.Meta().ResourceVersion != ""
	if next.Meta().ResourceVersion == "" {
		next.Meta().ResourceVersion = version
	}
	saved, err := s.keeper.Update(c.Context(), next, c.part(), dry)
	if named && errors.Is(err, objects.ErrConflict) {
		err = errors.Join(err, errNamed)
	}
	return saved, err
}

// merged is a document with a patch done to it.
func (c *call) merged(kind string, before, change []byte) ([]byte, error) {
	switch kind {
	case jsonPatch:
		return operated(before, change)
	case mergePatch:
		if _, err := object(change); err != nil {
			return nil, err
		}
		after, err := jsonpatch.MergePatch(before, change)
		if err != nil {
			return nil, badRequest("the merge patch cannot be read: %v", err)
		}
		return after, nil
	}
	was, err := object(before)
	if err != nil {
		return nil, err
	}
	p, err := object(change)
	if err != nil {
		return nil, err
	}
	if err := strategic(was, p, ""); err != nil {
		return nil, err
	}
	return json.Marshal(was)
}

// maxOperations bounds the operations of a JSON patch, as Kubernetes does.
const maxOperations = 10000

// operated does a JSON patch (RFC 6902).
func operated(before, change []byte) ([]byte, error) {
	p, err := jsonpatch.DecodePatch(change)
	if err != nil {
		return nil, badRequest("the JSON patch cannot be read: %v", err)
	}
	if len(p) > maxOperations {
		return nil, failed(http.StatusRequestEntityTooLarge, entityTooLarge,
			"the JSON patch has %d operations: expected %d at the most", len(p), maxOperations)
	}
	o := jsonpatch.NewApplyOptions()
	o.AccumulatedCopySizeLimit = maxBody
	after, err := p.ApplyWithOptions(before, o)
	if err != nil {
		return nil, failed(http.StatusUnprocessableEntity, invalid, "the JSON patch cannot be done: %v", err)
	}
	return after, nil
}
