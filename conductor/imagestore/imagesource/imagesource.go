// Package imagesource finds the images of disks that agents cannot fetch by
// themselves: files of this host, named images and images of OpenStack's Glance, which it serves to the one machine
// they are for, and artifacts of container registries, of which it finds the blob that
// is the disk. Agents download from http(s) URLs and know nothing else. With a cache
// it pulls those, too, once for all agents.
//
// It must not decide which image a node gets, and keeps no secret anywhere.
package imagesource

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/localfile"
	"github.com/ferrite-metal/ferrite/images/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Sources is an engine.Images. It is safe for concurrent use.
type Sources struct {
	files  localfile.Folders
	served string // base URL of Handler as machines reach it
	client *http.Client
	sums   *sums
	named  Named
	pulled *imagestore.Store
	key    []byte
	media  string
	log    *slog.Logger
	glance Glance
	retry  disk.HTTPOptions
	recent *recent // Glance, for boots and reads

	mu      sync.Mutex
	origins map[string]imagestore.Source // of pulled images, by key
}

// Named is the images that operators have named.
type Named interface {
	// Find is the image that projects mean by a name or UUID: theirs before one of all.
	Find(ctx context.Context, ref string, projects ...string) (node.Image, error)
	Open(ctx context.Context, i node.Image) (*imagestore.Content, error)
	// Path is the file with all of an image's bytes.
	Path(ctx context.Context, i node.Image) (string, error)
}

// Config is the configuration of Sources.
type Config struct {
	Files  localfile.Folders // that are open to nodes
	Served string            // base URL under which machines reach Handler, no slash at the end; "" where it is not served
	Client *http.Client      // for registries, and for images that are pulled; http.DefaultClient when nil
	Named  Named             // nil: there are none
	Pulled *imagestore.Store // where images at http(s) URLs are pulled to; nil: agents fetch them by themselves
	Media  string            // base URL under which BMCs reach Handler; Served when ""
	Log    *slog.Logger      // nil without Pulled
	Glance Glance            // nil: this conductor knows none
	Retry  disk.HTTPOptions  // of images that are read from Glance for one agent
	Key    []byte            // makes paths that cannot be guessed; of a conductor that starts again the same
}

// New makes Sources.
func New(c Config) *Sources {
	return &Sources{files: c.Files, served: c.Served, client: c.Client, sums: newSums(), named: c.Named,
		pulled: c.Pulled, key: c.Key, media: c.Media, log: c.Log, glance: c.Glance,
		retry: c.Retry, recent: &recent{Glance: c.Glance}, origins: map[string]imagestore.Source{}}
}

// kind is one way to name an image.
type kind struct {
	check  func(*Sources, context.Context, node.Node, string) (node.ImageFound, error)
	locate func(*Sources, context.Context, node.Node, agentapi.ImageInfo) (agentapi.ImageInfo, error)
}

// kinds are the ways, by the scheme of the URL. A UUID without a scheme is one of Glance's.
var kinds = map[string]kind{
	"file":   {(*Sources).checkFile, (*Sources).locateFile},
	"oci":    {(*Sources).checkOCI, (*Sources).pullOCI},
	"image":  {(*Sources).checkNamed, (*Sources).locateNamed},
	"glance": {(*Sources).checkGlance, (*Sources).locateGlance},
}

func kindOf(source string) (kind, error) {
	if node.GlanceImage(source) != "" {
		return kinds["glance"], nil
	}
	u, err := url.Parse(source)
	if err != nil {
		return kind{}, permanent{fmt.Errorf("%q is no URL", source)}
	}
	k, ok := kinds[u.Scheme]
	if !ok {
		return k, permanent{fmt.Errorf("%q is nothing this conductor finds images by", source)}
	}
	return k, nil
}

// Check refuses a source that is missing or wrong for n, and returns its known properties.
func (s *Sources) Check(ctx context.Context, n node.Node, source string) (node.ImageFound, error) {
	k, err := kindOf(source)
	if err != nil {
		return node.ImageFound{}, err
	}
	return k.check(s, ctx, n, source)
}

// Locate returns the location from which the agent of n gets an image, and its checksum. The source of the image is the
// first URL of info. An error that no other try can mend has a method Permanent.
func (s *Sources) Locate(ctx context.Context, n node.Node, info agentapi.ImageInfo) (agentapi.ImageInfo, error) {
	k, err := kindOf(info.URLs[0])
	if err != nil {
		return info, err
	}
	return k.locate(s, ctx, n, info)
}

// permanent is an error that no other try can mend.
type permanent struct{ error }

// Permanent is the method that package engine looks for in errors.
func (permanent) Permanent() bool { return true }

// Unwrap gives the error.
func (p permanent) Unwrap() error { return p.error }
