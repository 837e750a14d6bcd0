package api

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Images keeps the images that operators have named. A ref is a UUID or a name. A fault of the client comes back as a
// *nodeapi.Fault or *node.Refusal.
type Images interface {
	List(ctx context.Context) ([]nodeapi.Image, error)
	// Show is one image, by UUID or by the name that it has for a project; "" is the whole system.
	Show(ctx context.Context, ref, project string) (nodeapi.Image, error)
	// Fetch begins to fetch an image from its URL; Show reports the progress.
	Fetch(ctx context.Context, i nodeapi.NewImage, by string) (nodeapi.Image, error)
	// Upload takes an image from a body of size bytes, -1 for unknown.
	Upload(ctx context.Context, i nodeapi.NewImage, by string, body io.Reader, size int64) (nodeapi.Image, error)
	// Serve answers with the bytes of an image.
	Serve(w http.ResponseWriter, r *http.Request, ref string) error
	Delete(ctx context.Context, ref string) error
}

// imageResource is the images that operators have named.
type imageResource struct {
	access
	images Images
}

// imageFile is the path of the bytes of an image.
var imageFile = regexp.MustCompile(`^` + nodeapi.ImagesPath + `/[^/]+/file$`)

// streams reports whether the body of a request is an image, which goes to the disk as it comes.
func streams(r *http.Request) bool {
	return r.Method == http.MethodPut && imageFile.MatchString(r.URL.Path)
}

func (h *imageResource) routes() []rest.Route {
	const many, one = nodeapi.ImagesPath, nodeapi.ImagesPath + "/:image"
	form := rest.FormOf(nodeapi.Image{})
	const file = one + "/file"
	return []rest.Route{
		{Method: http.MethodGet, Path: many, Doc: "the images that operators have named, and those that are being added",
			Handle: h.list, Wire: rest.Returns(rest.FormOf(nodeapi.Images{}))},
		{Method: http.MethodPost, Path: many, Doc: "fetch an image from a URL, under a name; its state is adding, " +
			"then ready or failed",
			Handle: h.fetch, Wire: rest.Wire{Status: http.StatusAccepted, Takes: rest.FormOf(nodeapi.NewImage{}), Gives: form}},
		{Method: http.MethodGet, Path: one, Doc: "one image, by name or UUID", Handle: h.show, Wire: rest.Returns(form)},
		{Method: http.MethodDelete, Path: one, Doc: "delete an image and its bytes, or cancel its transfer", Handle: h.drop},
		{Method: http.MethodPut, Path: file, Doc: "upload the bytes of a new image of that name: raw, qcow2, an ISO, a " +
			"kernel or a ramdisk",
			Handle: h.upload, Wire: rest.Wire{Status: http.StatusCreated, Takes: bytesForm(), TakesMedia: nodeapi.MediaBytes,
				Gives: form, Query: rest.ArgumentsNamed([]string{"checksum", "owner"})}},
		{Method: http.MethodGet, Path: file, Doc: "the bytes of an image; Range requests are answered", Handle: h.file,
			Wire: rest.Wire{Status: http.StatusOK, Gives: bytesForm(), Media: nodeapi.MediaBytes}},
	}
}

// bytesForm is bytes of any meaning.
func bytesForm() rest.Schema {
	return rest.Schema{"type": "string", "contentMediaType": nodeapi.MediaBytes}
}

// kept refuses requests where no images are kept.
func (h *imageResource) kept() error {
	if h.images == nil {
		return nodeapi.NewFault(http.StatusNotFound, "This conductor keeps no images.")
	}
	return nil
}

// concerns reports whether a caller may know of an image: it belongs to the caller's project, or has no owner.
func concerns(c *rest.Call, i nodeapi.Image) bool {
	return c.Project() == "" || i.Owner == "" || i.Owner == c.Project()
}

func (h *imageResource) list(c *rest.Call) error {
	if err := h.kept(); err != nil {
		return err
	}
	if err := rest.Unexpected(rest.SortedKeys(c.QueryParams()), nil); err != nil {
		return err
	}
	all, err := h.images.List(c.Request().Context())
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(i nodeapi.Image) bool { return !concerns(c, i) })
	return c.Marshal(http.StatusOK, nodeapi.Images{Images: append([]nodeapi.Image{}, all...)})
}

// image reads the image that a path names, when the caller may know of it.
func (h *imageResource) image(c *rest.Call) (nodeapi.Image, error) {
	if err := h.kept(); err != nil {
		return nodeapi.Image{}, err
	}
	ref := c.Param("image")
	if !node.ValidImageName(ref) {
		return nodeapi.Image{}, node.Refuse(node.NotFound, "Image %.140s could not be found.", ref)
	}
	return h.images.Show(c.Request().Context(), ref, c.Project())
}

func (h *imageResource) show(c *rest.Call) error {
	i, err := h.image(c)
	if err != nil {
		return err
	}
	return c.Marshal(http.StatusOK, i)
}

// claimed makes the caller's project the owner of a new image, and returns the user that adds it.
func (h *imageResource) claimed(c *rest.Call, i *nodeapi.NewImage) (by string, err error) {
	if c.Caller == nil {
		return "", nil
	}
	return c.Caller.User, claimProject(c, "image", &i.Owner)
}

func (h *imageResource) fetch(c *rest.Call) error {
	body, err := c.Object("image")
	if err != nil {
		return err
	}
	if err := rest.Unexpected(rest.SortedKeys(body), []string{"checksum", "name", "owner", "url"}); err != nil {
		return err
	}
	var i nodeapi.NewImage
	for key, into := range map[string]*string{"name": &i.Name, "url": &i.URL} {
		if *into, err = rest.Args(body).Need(key); err != nil {
			return err
		}
	}
	for key, into := range map[string]*string{"checksum": &i.Checksum, "owner": &i.Owner} {
		if *into, err = rest.Args(body).Text(key); err != nil {
			return err
		}
	}
	if err := h.kept(); err != nil {
		return err
	}
	by, err := h.claimed(c, &i)
	if err != nil {
		return err
	}
	begun, err := h.images.Fetch(c.Request().Context(), i, by)
	if err != nil {
		return err
	}
	return c.Marshal(http.StatusAccepted, begun)
}

// upload takes the bytes of an image. The server's limits on a whole request are not for one of gigabytes: its body
// must come at a least rate.
func (h *imageResource) upload(c *rest.Call) error {
	if err := h.kept(); err != nil {
		return err
	}
	q := c.QueryParams()
	if err := rest.Unexpected(rest.SortedKeys(q), []string{"checksum", "owner"}); err != nil {
		return err
	}
	i := nodeapi.NewImage{Name: c.Param("image"), Checksum: q.Get("checksum"), Owner: q.Get("owner")}
	by, err := h.claimed(c, &i)
	if err != nil {
		return err
	}
	r := c.Request()
	added, err := h.images.Upload(r.Context(), i, by, r.Body, r.ContentLength)
	if late := answerWithin(c, readerPatience); late != nil {
		return late
	}
	if err != nil {
		return err
	}
	return c.Marshal(http.StatusCreated, added)
}

// answerWithin gives an answer time from now on.
func answerWithin(c *rest.Call, d time.Duration) error {
	return http.NewResponseController(c.Response()).SetWriteDeadline(time.Now().Add(d))
}

// leastRate is the least rate of a download, in bytes a second.
const leastRate = 32 << 10

// file answers with the bytes of an image.
func (h *imageResource) file(c *rest.Call) error {
	i, err := h.image(c)
	if err != nil {
		return err
	}
	if err := answerWithin(c, readerPatience+time.Duration(i.Size/leastRate)*time.Second); err != nil {
		return err
	}
	c.Response().Header().Set("Content-Disposition", `attachment; filename="`+i.Name+`"`)
	return h.images.Serve(c.Response(), c.Request(), i.UUID)
}

func (h *imageResource) drop(c *rest.Call) error {
	i, err := h.image(c)
	if err != nil {
		return err
	}
	if c.Caller != nil && !c.Rule.Allows(c.Caller, i.Owner, "") {
		return c.Rule.Denied()
	}
	return c.Done(h.images.Delete(c.Request().Context(), i.UUID))
}
