package imagesource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// bootFormats are the formats of kernels and ramdisks.
var bootFormats = []string{"aki", "ari", "raw"}

// isoFormats are the formats of ISO images.
var isoFormats = []string{"iso", "raw"}

// ramdiskInGlance finds the kernel and the ramdisk that the properties of an image name (deploy interface ramdisk).
func (s *Sources) ramdiskInGlance(ctx context.Context, n node.Node, source string) (found node.ImageFound, err error) {
	i, err := s.inGlance(ctx, s.glance, n, source)
	if err != nil {
		return found, err
	}
	found.Kernel, found.Ramdisk, found.Owner = node.GlanceImage(i.KernelID), node.GlanceImage(i.RamdiskID), i.Owner
	for _, p := range []struct{ name, id, value string }{
		{"kernel_id", found.Kernel, i.KernelID}, {"ramdisk_id", found.Ramdisk, i.RamdiskID}} {
		if p.id == "" {
			return node.ImageFound{}, permanent{fmt.Errorf("the property %s of image %s of Glance is %.40q, expected the UUID "+
				"of an image: openstack image set --property %s=UUID, or set instance_info/kernel and ramdisk", p.name, i.ID,
				p.value, p.name)}
		}
	}
	return found, nil
}

// isoInGlance is inGlance for an ISO image.
func (s *Sources) isoInGlance(ctx context.Context, from Glance, n node.Node, source string) (GlanceImage, error) {
	i, err := s.inGlance(ctx, from, n, source)
	if err != nil {
		return i, err
	}
	if !slices.Contains(isoFormats, i.DiskFormat) {
		return i, permanent{fmt.Errorf("image %s of Glance has the disk format %.20q, expected an ISO (%s)", i.ID,
			i.DiskFormat, strings.Join(isoFormats, ", "))}
	}
	_, err = sumInGlance(i, "", "", "")
	return i, err
}

// CheckISO refuses an ISO image that is not there for n. With begin one of Glance's begins to come, where there is a
// cache: firmware does not wait long.
func (s *Sources) CheckISO(ctx context.Context, n node.Node, source string, begin bool) error {
	if node.GlanceImage(source) == "" {
		_, err := s.namedISO(ctx, n, source)
		return err
	}
	i, err := s.isoInGlance(ctx, s.glance, n, source)
	if err != nil || s.pulled == nil || !begin {
		return err
	}
	src, err := s.knownOrigin(ctx, i)
	if err == nil {
		err = s.beginSoon(ctx, src)
	}
	if noRoom(err) {
		return nil // it is relayed
	}
	return err
}

// serveGlanceISO serves an ISO image to firmware: from the cache, or as it is read. It is judged as at a boot.
func (d *agentServer) serveGlanceISO(w http.ResponseWriter, r *http.Request, n node.Node, id string) {
	i, err := d.isoInGlance(r.Context(), d.recent, n, id)
	at := ""
	if err == nil {
		at, err = d.glance.Data(r.Context(), i.ID)
	}
	if err != nil {
		d.refused(w, n, err)
		return
	}
	if d.pulled == nil {
		d.relay(w, r, n, i, at)
		return
	}
	content, err := d.pulledISO(r.Context(), i)
	switch {
	case noRoom(err):
		d.relay(w, r, n, i, at)
	case err != nil:
		d.refused(w, n, err)
	default:
		defer func() { _ = content.Close() }() // it was only read
		content.Serve(w, r)
	}
}

func (d *agentServer) pulledISO(ctx context.Context, i GlanceImage) (*imagestore.Content, error) {
	src, err := d.knownOrigin(ctx, i)
	if err != nil {
		return nil, err
	}
	return d.pulled.Pull(ctx, src)
}

// knownOrigin is originInGlance for an image that is known by the checksum of Glance's alone.
func (s *Sources) knownOrigin(ctx context.Context, i GlanceImage) (imagestore.Source, error) {
	sum, err := sumInGlance(i, "", "", "")
	if err != nil {
		return imagestore.Source{}, err
	}
	return s.originInGlance(ctx, i, sum)
}

// bootFileInGlance is inGlance for a kernel or a ramdisk, which the boot service serves from a file. It says where the
// bytes come from.
func (s *Sources) bootFileInGlance(ctx context.Context, from Glance, n node.Node, source string) (src imagestore.Source,
	err error) {
	i, err := s.inGlance(ctx, from, n, source)
	if err != nil {
		return src, err
	}
	switch {
	case !slices.Contains(bootFormats, i.DiskFormat):
		err = permanent{fmt.Errorf("image %s of Glance has the disk format %.20q, expected a kernel or a ramdisk (%s)", i.ID,
			i.DiskFormat, strings.Join(bootFormats, ", "))}
	case s.pulled == nil:
		err = permanent{errors.New("kernels and ramdisks of Glance need --image-cache: machines boot from files of this " +
			"host")}
	}
	if err != nil {
		return src, err
	}
	return s.knownOrigin(ctx, i)
}

// CheckBootFile refuses a kernel or a ramdisk that is not there for n. With begin one of Glance's begins to come: the
// firmware of a machine does not wait long.
func (s *Sources) CheckBootFile(ctx context.Context, n node.Node, source string, begin bool) error {
	if node.GlanceImage(source) == "" {
		_, err := s.BootFile(ctx, n, source)
		return err
	}
	src, err := s.bootFileInGlance(ctx, s.glance, n, source)
	if err != nil || !begin {
		return err
	}
	return s.beginSoon(ctx, src)
}

// beginSoon has an image pulled. It waits a moment for its first bytes, which go on to come.
func (s *Sources) beginSoon(ctx context.Context, src imagestore.Source) error {
	short, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	err := s.begin(short, src)
	if err != nil && errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil
	}
	return err
}

// pulledFile is the file of a kernel or ramdisk of Glance's. It waits until all of it has come.
func (s *Sources) pulledFile(ctx context.Context, n node.Node, source string) (string, error) {
	src, err := s.bootFileInGlance(ctx, s.recent, n, source)
	if err != nil {
		return "", err
	}
	content, err := s.pulled.Pull(ctx, src) // it is also marked as used
	if err != nil {
		return "", err
	}
	if path := s.pulled.Path(src.Key()); path != "" { // its bytes were found right when they came
		return path, content.Close()
	}
	if _, err := io.Copy(io.Discard, content); err != nil {
		return "", errors.Join(err, content.Close())
	}
	return s.pulled.Path(src.Key()), content.Close()
}
