package node

import (
	"regexp"
	"slices"
	"strings"
)

// ImageScheme begins an image's name where a URL could stand: image:debian-12.
const ImageScheme = "image:"

// Formats of images.
const (
	ImageRaw     = "raw"
	ImageQCOW2   = "qcow2"
	ImageISO     = "iso"
	ImageKernel  = "kernel"
	ImageRamdisk = "ramdisk"
)

// Image is an image that operators have given the conductor under a name. Its bytes are in a folder of a conductor.
type Image struct {
	Record
	Name        string `json:"name"`
	Owner       string `json:"owner,omitempty"`       // the project that may use it; "" for all nodes
	Source      string `json:"source,omitempty"`      // URL that it came from, without credentials; "" for an upload
	Digest      string `json:"digest"`                // sha256:hex of its bytes
	Checksum    string `json:"checksum,omitempty"`    // that it was verified by, algorithm:hex; "" for none
	Size        int64  `json:"size"`                  // bytes
	VirtualSize int64  `json:"virtual_size"`          // bytes that it has on a disk; 0 for unknown
	Format      string `json:"format"`                // one of the formats above
	Compression string `json:"compression,omitempty"` // gzip, zstd or xz around it
	CreatedBy   string `json:"created_by,omitempty"`  // the user that added it
	Conductor   string `json:"conductor"`             // that has its bytes
}

// Kind returns the name of this kind of record for messages.
func (*Image) Kind() string { return "image" }

// Keys are the name, which is unique within a project and among the images for all nodes, and the digest, which several
// images may share.
func (i *Image) Keys() []Key {
	return []Key{{Column: "name", Value: i.Name}, {Column: "digest", Value: i.Digest},
		{Column: "owner_name", Value: i.Owner + "/" + i.Name, Taken: Exists("image", "name", i.Name)}}
}

// imageName is the form of an image's name: it can be a part of paths and URLs, and is no URL itself.
var imageName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$`)

// ValidImageName reports whether an image may have a name.
func ValidImageName(name string) bool { return imageName.MatchString(name) }

// digestForm is the form of a digest.
var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// Check refuses an image without a digest, or with a malformed name.
func (i *Image) Check() error {
	switch {
	case !ValidImageName(i.Name):
		return Refuse(Invalid, "%q cannot be the name of an image: expected 1 to 128 letters, digits, and ._~- after the "+
			"first.", i.Name)
	case !digestForm.MatchString(i.Digest):
		return Refuse(Invalid, "Image %s has the digest %q, expected sha256: and 64 hex digits.", i.Name, i.Digest)
	}
	return nil
}

// NamedImage is the name in the place of a URL; "" for none.
func NamedImage(source string) string {
	name, ok := strings.CutPrefix(source, ImageScheme)
	if !ok || !ValidImageName(name) {
		return ""
	}
	return name
}

// GlanceScheme may begin an image of OpenStack's Glance; Nova writes its UUID alone.
const GlanceScheme = "glance://"

// glanceID is a UUID as OpenStack writes it.
var glanceID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// GlanceImage is the UUID of an image of Glance in the place of a URL; "" for none.
func GlanceImage(source string) string {
	id := strings.ToLower(strings.TrimPrefix(source, GlanceScheme))
	if !glanceID.MatchString(id) {
		return ""
	}
	return id
}

// KeptImage reports whether source names an image that the conductor keeps or fetches: by the name that operators gave
// it, or by its UUID in Glance. Other sources are URLs.
func KeptImage(source string) bool { return NamedImage(source) != "" || GlanceImage(source) != "" }

// OnDisk reports whether an image is one of a disk, or of a root file system.
func (i *Image) OnDisk() bool { return i.Format == ImageRaw || i.Format == ImageQCOW2 }

// PickImage picks the one of some images that projects mean by ref: theirs before one of all. The images of other
// projects do not count. ErrConflict: several of the projects have one.
func PickImage(ref string, images []Image, projects ...string) (Image, error) {
	for _, owners := range [][]string{projects, {""}} {
		var found []Image
		var known []string
		for _, i := range images {
			if slices.Contains(owners, i.Owner) {
				found, known = append(found, i), append(known, i.UUID+" (project "+i.Owner+")")
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0], nil
		default:
			slices.Sort(known)
			return Image{}, Refuse(Conflict, "%d images have the name %.140s: say which one is meant by its UUID, %s.",
				len(found), ref, strings.Join(known, " or "))
		}
	}
	return Image{}, Refuse(NotFound, "Image %.140s could not be found.", ref)
}

// Projects are the projects with images for a node: its owner, and its lessee.
func (n *Node) Projects() []string {
	return slices.DeleteFunc([]string{n.Owner, n.Lessee}, func(project string) bool { return project == "" })
}

// OfOwner is the node as driver_info sees it, which a lessee cannot write: no image of a lessee takes the place of the
// ramdisk that knows the BMC.
func (n Node) OfOwner() Node {
	n.Lessee = ""
	return n
}
