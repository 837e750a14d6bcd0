package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagelibrary"
	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagesource"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound"
	bootserver "github.com/ferrite-metal/ferrite/pxe/server"
)

// imagesFolder is where the bytes of images are in a data folder.
const imagesFolder = "images"

// keepFree is how many bytes of the file system of --image-folder images leave free: the database may be on it, too.
const keepFree = 512 << 20

// largestImage is the default of --image-max-size.
const largestImage = "64G"

// largestOwned is the default of --image-project-limit.
const largestOwned = "100G"

// imageSizes are the sizes of the flags, in bytes.
type imageSizes struct{ largest, project, cache int64 }

// imageSizes reads the sizes.
func (c Config) imageSizes() (s imageSizes, err error) {
	if s.largest, err = imagestore.ParseSize(cmp.Or(c.ImageMaxSize, largestImage)); err != nil {
		return s, fmt.Errorf("--image-max-size: %w", err)
	}
	if s.project, err = imagestore.ParseSize(cmp.Or(c.ImageProjectLimit, largestOwned)); err != nil {
		return s, fmt.Errorf("--image-project-limit: %w", err)
	}
	if s.cache, err = imagestore.ParseSize(cmp.Or(c.ImageCache, "0")); err != nil {
		return s, fmt.Errorf("--image-cache: %w", err)
	}
	return s, nil
}

// checkImages refuses settings of images that contradict others.
func (c *Config) checkImages() error {
	sizes, err := c.imageSizes()
	switch {
	case err != nil:
		return err
	case sizes.largest == 0:
		return errors.New("--image-max-size is 0: no image is that small; expected a size such as 64G")
	case c.ImageFolder != "" && !filepath.IsAbs(c.ImageFolder):
		return fmt.Errorf("--image-folder is %q, expected an absolute path", c.ImageFolder)
	case sizes.cache > 0 && !c.Boot:
		return errors.New("--image-cache needs --boot: agents read images from the boot service")
	}
	return nil
}

// openImages opens the folder of images, of which a conductor has one for all its terms.
func (c Config) openImages(log *slog.Logger) (*imagestore.Store, error) {
	sizes, err := c.imageSizes()
	if err != nil {
		return nil, err
	}
	return imagestore.Open(imagestore.Config{Dir: cmp.Or(c.ImageFolder, filepath.Join(c.DataDir, imagesFolder)),
		Cache: sizes.cache, KeepFree: keepFree, Log: log})
}

// findImages makes the images of operators, and finds all images; those that are here are served with the boot service.
func (w *work) findImages(ctx context.Context, p parts) error {
	c, servers := w.conf, w.dialled.registries
	sizes, err := c.imageSizes()
	if err != nil {
		return err
	}
	w.images = imagelibrary.New(ctx, imagelibrary.Config{Records: records{w}, Bytes: p.images,
		Client: servers.Client(), Peers: p.peers, Conductor: c.ConductorName, MaxSize: sizes.largest,
		MaxOwned: sizes.project, Log: w.log})
	conf := imagesource.Config{Files: c.FilePaths, Client: servers.Client(), Named: w.images, Key: p.keys.Secrets,
		Media: c.MediaURL, Log: w.log, Glance: w.glance}
	if p.images.Caches() {
		conf.Pulled = p.images
	}
	if c.Boot {
		addr, _, err := c.subnet()
		if err != nil {
			return err
		}
		conf.Served = "http://" + netip.AddrPortFrom(addr, bootserver.DefaultHTTPPort).String()
	}
	w.sources = imagesource.New(conf)
	return nil
}

// probe looks at images at http(s) URLs before a deploy; nil when it is not to.
func (c Config) probe(servers *outbound.Policy) engine.ImageProbe {
	if c.CheckImage == "off" {
		return nil
	}
	return imagesource.NewProber(servers.Client())
}

// records reads the images of an engine, which is made after the readers.
type records struct{ *work }

func (r records) kept() engine.Catalog[node.Image] { return r.engine.Catalogs().Images }

// List lists images.
func (r records) List(ctx context.Context, column string, values ...string) ([]node.Image, error) {
	return r.kept().List(ctx, column, values...)
}

// Find finds an image by name or UUID.
func (r records) Find(ctx context.Context, ref string) (node.Image, error) {
	return r.kept().Find(ctx, ref)
}

// Create stores a new image.
func (r records) Create(ctx context.Context, i node.Image) (node.Image, error) {
	saved, err := r.kept().Create(ctx, i)
	if err != nil {
		return saved, err
	}
	for _, added := range r.imageAdded {
		added(saved.Name)
	}
	return saved, nil
}

// Delete removes an image.
func (r records) Delete(ctx context.Context, ref string) error { return r.kept().Delete(ctx, ref) }
