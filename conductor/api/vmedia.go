package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// mediaResource is the virtual media of a node.
type mediaResource struct{ access }

// routes is the virtual drives of a machine.
func (h *mediaResource) routes() []rest.Route {
	const path = "/v1/nodes/:node/vmedia"
	unknown := nodeapi.Routing(http.StatusNotFound, "")
	return []rest.Route{
		{Method: http.MethodGet, Path: path, Since: 93, TooOld: unknown, Doc: "the virtual drives and their media",
			Handle: h.listMedia, Wire: rest.Returns(rest.FormOf([]node.MediaSlot{}))},
		{Method: http.MethodPost, Path: path, Since: 89, TooOld: unknown, Doc: "put an image into a virtual drive",
			Handle: h.attachMedium, Wire: rest.Accepts(http.StatusNoContent, mediumForm())},
		{Method: http.MethodDelete, Path: path, Since: 89, TooOld: unknown, Doc: "empty virtual drives",
			Handle: h.detachMedia,
			Wire:   rest.Wire{Status: http.StatusNoContent, Query: rest.ArgumentsNamed([]string{"device_types"})}},
	}
}

func (h *mediaResource) listMedia(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	slots, err := h.conductor.MediaSlots(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	for i, s := range slots {
		slots[i].Types = slices.Grow(s.Types, 1) // not nil: as JSON [], not null
		if s.Image != nil {
			image := nodeapi.MaskText(*s.Image)
			slots[i].Image = &image
		}
	}
	if slots == nil {
		slots = []node.MediaSlot{} // as JSON [], not null
	}
	return c.Marshal(http.StatusOK, slots)
}

// imageSchemes are the protocols by which a BMC may fetch an image. A file could only be the conductor's own, which no
// caller may read.
func imageSchemes() []string { return []string{"http", "https", "nfs", "cifs", "smb"} }

func (h *mediaResource) attachMedium(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	body, err := c.Object("vmedia")
	if err != nil {
		return err
	}
	medium, err := mediumOf(body)
	if err != nil {
		return err
	}
	return c.Done(h.conductor.AttachMedium(c.Request().Context(), n.UUID, medium))
}

// mediumOf checks the body of a request to attach. The BMC fetches the image
// itself: from image_download_source local, Ironic's own copy, it would have to
// come through this conductor, which keeps no copies and so takes it for http.
func mediumOf(body map[string]any) (m node.Medium, err error) {
	for _, f := range []struct {
		name     string
		into     *string
		required bool
		shape    rest.Shape
	}{
		{"device_type", &m.Device, true, rest.OneOf(node.MediaDevices()...)},
		{"image_url", &m.Image, true, rest.IsText},
		{"image_download_source", new(string), false, rest.OneOf("http", "local")},
	} {
		v, there := body[f.name]
		switch {
		case !there && f.required:
			return m, rest.BadRequest("Schema error for vmedia: '%s' is a required property", f.name)
		case !there:
			continue
		}
		if wrong := f.shape(v); wrong != "" {
			return m, rest.BadRequest("Schema error for vmedia: %s", wrong)
		}
		*f.into, _ = v.(string)
	}
	for _, name := range rest.SortedKeys(body) {
		if !rest.Contains([]string{"device_type", "image_url", "image_download_source"}, name) {
			return m, rest.BadRequest("Schema error for vmedia: %s", rest.Additional(name))
		}
	}
	image, err := url.Parse(m.Image)
	if err != nil {
		return m, rest.BadRequest("image_url is no URL")
	}
	if !slices.Contains(imageSchemes(), image.Scheme) || image.Host == "" {
		return m, rest.BadRequest("Unsupported or missing URL scheme: %s", image.Scheme)
	}
	return m, nil
}

func (h *mediaResource) detachMedia(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	args, err := c.Args(nodeapi.BodyLimit, "device_types")
	if err != nil {
		return err
	}
	list, err := args.Text("device_types")
	if err != nil {
		return err
	}
	var devices, invalid []string
	for device := range strings.SplitSeq(list, ",") {
		switch {
		case device == "":
		case !rest.Contains(node.MediaDevices(), device):
			invalid = append(invalid, device)
		default:
			devices = append(devices, device)
		}
	}
	if invalid != nil {
		return rest.BadRequest("Invalid device type(s) %s (valid are %s)", strings.Join(invalid, ", "),
			strings.Join(node.MediaDevices(), ", "))
	}
	return c.Done(h.conductor.DetachMedia(c.Request().Context(), n.UUID, devices))
}
