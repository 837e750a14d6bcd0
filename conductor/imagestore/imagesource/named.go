package imagesource

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// find finds a named image that n may have.
func (s *Sources) find(ctx context.Context, n node.Node, source string) (node.Image, error) {
	name := node.NamedImage(source)
	switch {
	case name == "":
		return node.Image{}, permanent{fmt.Errorf("%q is no name of an image: expected image:NAME", source)}
	case s.named == nil:
		return node.Image{}, permanent{errors.New("this conductor keeps no images")}
	case s.served == "":
		return node.Image{}, errNotServed
	}
	i, err := s.named.Find(ctx, name, n.Projects()...)
	switch {
	case errors.Is(err, node.ErrNotFound):
		err = permanent{fmt.Errorf("there is no image %s for this node: ferrite image list shows those there are, "+
			"ferrite image add %s FILE adds one", name, name)}
	case errors.Is(err, node.ErrConflict):
		err = permanent{fmt.Errorf("the node's owner and its lessee have images of the name: %w Use image:UUID", err)}
	}
	return i, err
}

// disk finds a named image that can be written to a disk.
func (s *Sources) disk(ctx context.Context, n node.Node, source string) (node.Image, error) {
	i, err := s.find(ctx, n, source)
	if err == nil && !i.OnDisk() {
		err = permanent{fmt.Errorf("image %s is of the format %s, expected the raw or qcow2 image of a disk", i.Name,
			i.Format)}
	}
	return i, err
}

// openTime bounds the look whether the bytes of an image are there, at another conductor too.
const openTime = 6 * time.Second

// reach refuses an image if no conductor has its bytes. If another conductor has them, their transfer begins.
func (s *Sources) reach(ctx context.Context, i node.Image) error {
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	content, err := s.named.Open(ctx, i)
	if err != nil {
		return err
	}
	return content.Close()
}

// checkNamed refuses an image that is not there for n, or not of a disk.
func (s *Sources) checkNamed(ctx context.Context, n node.Node, source string) (found node.ImageFound, err error) {
	i, err := s.disk(ctx, n, source)
	if err == nil {
		err = sameSum(i, text(n.InstanceInfo, "image_checksum"), text(n.InstanceInfo, "image_os_hash_algo"),
			text(n.InstanceInfo, "image_os_hash_value"))
	}
	if err == nil {
		err = s.reach(ctx, i)
	}
	found.Size = i.VirtualSize
	return found, err
}

// sameSum refuses an image that is not the one with a checksum that an operator gave. One by another algorithm than
// ours is left to the agent.
func sameSum(i node.Image, sum, algo, value string) error {
	if value == "" {
		algo, value, _ = strings.Cut(sum, ":")
		if value == "" && len(algo) == sha256.Size*2 {
			algo, value = "sha256", algo
		}
	}
	given := strings.ToLower(strings.TrimSpace(algo) + ":" + strings.TrimSpace(value))
	if !strings.HasPrefix(given, "sha256:") || given == i.Digest {
		return nil
	}
	return permanent{fmt.Errorf("image %s has %s, and instance_info asks for %s: it is another one than was meant, or "+
		"the checksum is wrong; leave the checksum out to take the image as it is", i.Name, i.Digest, given)}
}

// locateNamed is where Handler serves a named image to the agent of n. Its digest is the checksum.
func (s *Sources) locateNamed(ctx context.Context, n node.Node, info agentapi.ImageInfo) (agentapi.ImageInfo, error) {
	i, err := s.disk(ctx, n, info.URLs[0])
	if err != nil {
		return info, err
	}
	if err := sameSum(i, info.Checksum, info.OSHashAlgo, info.OSHashValue); err != nil {
		return info, err
	}
	if err := s.reach(ctx, i); err != nil {
		return info, err
	}
	at, err := s.at(n, "stored/"+n.UUID+"/"+imagestore.KeyOf(i.Digest), i.Digest)
	if err != nil {
		return info, err
	}
	info.URLs = []string{at}
	if info.Checksum == "" && info.OSHashValue == "" {
		info.OSHashAlgo, info.OSHashValue = "sha256", imagestore.KeyOf(i.Digest)
	}
	if info.DiskFormat == "" && i.Compression == "" {
		info.DiskFormat = i.Format
	}
	return info, nil
}

// serveStored serves the bytes of a named image to an agent.
func (d *agentServer) serveStored(w http.ResponseWriter, r *http.Request) {
	digest := "sha256:" + r.PathValue("digest")
	n, ok := d.admit(w, r, digest)
	if !ok {
		return
	}
	i := node.Image{Digest: digest, Name: digest}
	if named, err := d.find(r.Context(), n, text(n.InstanceInfo, "image_source")); err == nil && named.Digest == digest {
		i = named // it says which conductor has it
	}
	d.serveNamed(w, r, i)
}

func (d *agentServer) serveNamed(w http.ResponseWriter, r *http.Request, i node.Image) {
	content, err := d.named.Open(r.Context(), i)
	if err != nil {
		d.log.Warn("image not served", "image", i.Name, "err", err)
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer func() { _ = content.Close() }() // it was only read
	content.Serve(w, r)
}

// ISOURL is the URL from which firmware reads the ISO image that n boots by name, or by its UUID in Glance. Firmware
// has no credentials, so the path cannot be guessed. It changes with each deploy, and is valid as long as the node
// names that image and may run from it.
func (s *Sources) ISOURL(ctx context.Context, n node.Node, source string) (string, error) {
	what, err := s.iso(ctx, n, source)
	if err != nil {
		return "", err
	}
	base := s.served
	if n.Implementation("boot") == "redfish-virtual-media" {
		base = n.MediaURL(cmp.Or(s.media, base))
	}
	return base + Prefix + "iso/" + n.UUID + "/" + s.isoFile(n, what), nil
}

// iso finds an ISO image, and returns its identifier for the path.
func (s *Sources) iso(ctx context.Context, n node.Node, source string) (what string, err error) {
	if id := node.GlanceImage(source); id != "" {
		_, err := s.isoInGlance(ctx, s.recent, n, source)
		return isoOfGlance(id), err
	}
	i, err := s.namedISO(ctx, n, source)
	return i.Name + " " + i.Digest, err
}

// namedISO finds a named image that is an ISO.
func (s *Sources) namedISO(ctx context.Context, n node.Node, source string) (node.Image, error) {
	i, err := s.find(ctx, n, source)
	if err == nil && i.Format != node.ImageISO && i.Format != node.ImageRaw {
		err = permanent{fmt.Errorf("image %s is of the format %s, expected an ISO", i.Name, i.Format)}
	}
	return i, err
}

// isoOfGlance is the identifier of an ISO image in Glance, for its path. No name of an image begins so.
func isoOfGlance(id string) string { return node.GlanceScheme + id }

// BootFile is the file of a kernel or ramdisk that n boots by name, or by its UUID in Glance. The boot service serves
// it.
func (s *Sources) BootFile(ctx context.Context, n node.Node, source string) (string, error) {
	if node.GlanceImage(source) != "" {
		return s.pulledFile(ctx, n, source)
	}
	i, err := s.find(ctx, n, source)
	switch {
	case err != nil:
		return "", err
	case i.Format != node.ImageKernel && i.Format != node.ImageRamdisk:
		return "", permanent{fmt.Errorf("image %s is of the format %s, expected a kernel or a ramdisk", i.Name, i.Format)}
	}
	return s.named.Path(ctx, i)
}

// isoFile is the name of a file that cannot be guessed. BMCs want it to end so.
func (s *Sources) isoFile(n node.Node, what string) string {
	m := hmac.New(sha256.New, s.key)
	m.Write([]byte("iso " + n.UUID + " " + what))
	if since := n.ImagesSince(); since != "" {
		m.Write([]byte(" " + since))
	}
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)) + ".iso"
}

// runsISO are the states in which a machine may run from the ISO image of its instance, or begins to.
var runsISO = map[node.State]bool{
	node.Deploying: true, node.DeployWait: true, node.DeployHold: true, node.Active: true,
	// Not every service boots the agent.
	node.Servicing: true, node.ServiceWait: true, node.ServiceHold: true, node.ServiceFailed: true,
	node.Rescuing: true, node.RescueFailed: true, node.Unrescuing: true, node.UnrescueFailed: true,
	node.Deleting: true, // until it is switched off
}

// serveISO serves an ISO image to firmware.
func (d *agentServer) serveISO(w http.ResponseWriter, r *http.Request) {
	n, err := d.node(r.Context(), r.PathValue("node"))
	for _, iso := range isosOf(n) {
		id, what := node.GlanceImage(iso.source), ""
		var i node.Image
		if id != "" {
			what = isoOfGlance(id)
		} else if i, err = d.find(r.Context(), iso.of, iso.source); err == nil {
			what = i.Name + " " + i.Digest
		}
		switch {
		case what == "" || len(d.key) == 0 || !hmac.Equal([]byte(r.PathValue("file")), []byte(d.isoFile(n, what))):
		case id != "":
			d.serveGlanceISO(w, r, iso.of, id)
			return
		default:
			d.serveNamed(w, r, i)
			return
		}
	}
	d.log.Debug("image refused", "from", clientaddr.Of(r), "path", r.URL.Path, "err", err)
	http.Error(w, "there is no such image", http.StatusNotFound)
}

// bootISO is an ISO image by its name, and the node as the field sees it that names the image.
type bootISO struct {
	of     node.Node
	source string
}

// isosOf are the named ISO images that a machine may read now: of its instance, and of the agent that a run boots.
func isosOf(n node.Node) (isos []bootISO) {
	add := func(of node.Node, source string) {
		if node.KeptImage(source) {
			isos = append(isos, bootISO{of, source})
		}
	}
	if n.DeployInterface() == "ramdisk" && runsISO[n.ProvisionState] {
		add(n, text(n.InstanceInfo, "boot_iso"))
	}
	if n.Run != nil {
		deploy, rescue := n.AgentISOs()
		add(n.OfOwner(), deploy)
		add(n.OfOwner(), rescue)
	}
	return isos
}

// explain makes an error fit for the user that named an image.
func explain(err error) string { return nodeapi.Printable(nodeapi.MaskText(err.Error())) }
