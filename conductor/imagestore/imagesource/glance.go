package imagesource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/images/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Glance is OpenStack's catalogue of images.
type Glance interface {
	Image(ctx context.Context, id string) (GlanceImage, error)
	// Member reports whether a project may have an image that is shared.
	Member(ctx context.Context, id, project string) (bool, error)
	// Data is the URL of an image's bytes, which the client of HTTP may read.
	Data(ctx context.Context, id string) (string, error)
	HTTP() *http.Client
}

// notActive has the remedies for images without bytes, by their status (Image API v2, image statuses).
var notActive = map[string]string{
	"queued":         "nothing was uploaded: openstack image create --file, or stage and import it",
	"saving":         "its bytes are on their way: try again when openstack image show says active",
	"uploading":      "its bytes are on their way: try again when openstack image show says active",
	"importing":      "its bytes are on their way: try again when openstack image show says active",
	"deactivated":    "an admin has taken it out of use: openstack image set --activate",
	"killed":         "its upload has failed: upload it again",
	"deleted":        "name another image",
	"pending_delete": "name another image",
}

// diskFormats are the formats of disks that agents write, under the names they know them by. An ami is the root file
// system of Amazon's form.
var diskFormats = map[string]string{"raw": "raw", "qcow2": "qcow2", "ami": "raw"}

// containers are the container formats without anything around the image.
var containers = []string{"", "bare", "ami", "aki", "ari"}

// inGlance finds an active image that n may use. from is Glance or its cache, recent.
func (s *Sources) inGlance(ctx context.Context, from Glance, n node.Node, source string) (i GlanceImage, err error) {
	id := node.GlanceImage(source)
	switch {
	case id == "":
		return i, permanent{fmt.Errorf("%q is no image of Glance: expected a UUID", source)}
	case s.glance == nil:
		return i, permanent{errors.New("this conductor knows no Glance: start it with --auth keystone and an image " +
			"service in the catalogue, or with --glance-url")}
	case s.served == "":
		return i, errNotServed
	}
	if i, err = from.Image(ctx, id); err != nil {
		return i, err
	}
	if err = lentTo(ctx, from, n, i); err != nil {
		return i, err
	}
	switch {
	case i.Status != glanceActive:
		return i, permanent{fmt.Errorf("image %s of Glance is %.20q, expected %q: %s", id, i.Status, glanceActive,
			cmp.Or(notActive[i.Status], "see openstack image show"))}
	case i.Size <= 0:
		return i, permanent{fmt.Errorf("image %s of Glance has %d bytes: upload it again", id, i.Size)}
	case !slices.Contains(containers, i.ContainerFormat):
		return i, permanent{fmt.Errorf("image %s of Glance has the container format %.20q, expected bare: unpack it, and "+
			"upload its content", id, i.ContainerFormat)}
	}
	return i, nil
}

// lentTo refuses an image that n's projects may not use. The conductor's user sees all images, so the membership of the
// projects is checked here.
func lentTo(ctx context.Context, from Glance, n node.Node, i GlanceImage) error {
	if i.Visibility == glancePublic || i.Visibility == glanceCommunity {
		return nil
	}
	projects := borrowers(n, i.ID)
	if owner, named := n.ImageNamer(i.ID); named { // any user may write any UUID into the properties of an image
		projects = append(projects, owner)
	}
	for _, project := range projects {
		if project == i.Owner {
			continue
		}
		var in bool
		if i.Visibility == glanceShared && project != "" {
			var err error
			if in, err = from.Member(ctx, i.ID, project); err != nil {
				return err
			}
		}
		if !in {
			return permanent{fmt.Errorf("image %s of Glance is not for project %s: make it public, or share it: openstack "+
				"image add project", i.ID, project)}
		}
	}
	return nil
}

// borrowers are the projects that must all have an image. There are none for the image with which a user of the whole
// system, such as Nova, has begun a deploy. If a user of a project began the deploy, it is that project alone: an owner
// may name any project as the lessee, and the images of the deploy belong to its project until the instance ends. Every
// other image must be for both owner and lessee, since either may have named it.
func borrowers(n node.Node, image string) (projects []string) {
	if run := n.Run; run != nil && run.Activity == "deploy" {
		switch {
		case run.Project != "":
			return []string{run.Project}
		case strings.EqualFold(run.Image, image):
			return nil
		}
	}
	if project := n.ImageDeployer(image); project != "" {
		return []string{project}
	}
	for _, project := range []string{n.Owner, n.Lessee} {
		if project != "" {
			projects = append(projects, project)
		}
	}
	return projects
}

// diskInGlance is inGlance for an image of a disk, with its checksum.
func (s *Sources) diskInGlance(ctx context.Context, n node.Node, source, given, algo, value string,
) (i GlanceImage, sum disk.Checksum, err error) {
	if i, err = s.inGlance(ctx, s.glance, n, source); err != nil {
		return i, sum, err
	}
	if diskFormats[i.DiskFormat] == "" {
		return i, sum, permanent{fmt.Errorf("image %s of Glance has the disk format %.20q, expected raw or qcow2: convert "+
			"it with qemu-img convert -O qcow2", i.ID, i.DiskFormat)}
	}
	sum, err = sumInGlance(i, given, algo, value)
	return i, sum, err
}

// sumInGlance is the checksum to verify an image with: Glance's, else the operator's. If both give one of the same
// algorithm, they must agree.
func sumInGlance(i GlanceImage, given, algo, value string) (sum disk.Checksum, err error) {
	var asked disk.Checksum
	switch {
	case value != "":
		asked, err = disk.NewChecksum(algo, value)
	case given != "":
		asked, err = disk.ParseChecksum(given)
	}
	if err != nil {
		return sum, permanent{fmt.Errorf("the checksum in instance_info: %w", err)}
	}
	if i.HashValue != "" {
		sum, err = disk.NewChecksum(i.HashAlgo, i.HashValue)
	}
	switch {
	case err != nil, sum.Algorithm == disk.MD5:
		return sum, permanent{fmt.Errorf("image %s of Glance has the os_hash_algo %.20q and os_hash_value %.140q, expected "+
			"a sha256 or sha512: set hashing_algorithm of Glance, and upload the image again", i.ID, i.HashAlgo, i.HashValue)}
	case sum.Sum == "" && asked.Sum != "":
		return asked, nil
	case sum.Sum == "":
		return sum, permanent{fmt.Errorf("image %s of Glance has no os_hash_value (its checksum is MD5, which can be forged)"+
			": upload it again with Glance 17 (Rocky) or newer, or set instance_info/image_os_hash_algo and "+
			"image_os_hash_value", i.ID)}
	case asked.Algorithm == sum.Algorithm && asked.Sum != sum.Sum:
		return sum, permanent{fmt.Errorf("image %s of Glance has the %s %s, and instance_info asks for %s: it is another "+
			"one than was meant, or the checksum is wrong; leave the checksum out to take the image as it is", i.ID,
			sum.Algorithm, sum.Sum, asked.Sum)}
	}
	return sum, nil
}

// checkGlance refuses an image that is unavailable for n, or that could not be verified.
func (s *Sources) checkGlance(ctx context.Context, n node.Node, source string) (found node.ImageFound, err error) {
	if n.DeployInterface() == "ramdisk" {
		return s.ramdiskInGlance(ctx, n, source)
	}
	i, _, err := s.diskInGlance(ctx, n, source, text(n.InstanceInfo, "image_checksum"),
		text(n.InstanceInfo, "image_os_hash_algo"), text(n.InstanceInfo, "image_os_hash_value"))
	if err != nil {
		return found, err
	}
	found = node.ImageFound{Size: i.VirtualSize, Type: typeOf(i)}
	if diskFormats[i.DiskFormat] == "raw" {
		found.Size = i.Size
	}
	return found, nil
}

// typeOf says whether an image is of a whole disk, as Ironic finds it out (glance_utils.is_whole_disk_image).
func typeOf(i GlanceImage) string {
	switch {
	case i.Type == agentapi.PartitionImage || i.Type == agentapi.WholeDisk:
		return i.Type
	case i.KernelID != "" || i.RamdiskID != "":
		return agentapi.PartitionImage
	}
	return agentapi.WholeDisk
}

// locateGlance is where Handler serves an image of Glance's to the agent of n: from the cache, or as it is read.
func (s *Sources) locateGlance(ctx context.Context, n node.Node, info agentapi.ImageInfo) (agentapi.ImageInfo, error) {
	i, sum, err := s.diskInGlance(ctx, n, info.URLs[0], info.Checksum, info.OSHashAlgo, info.OSHashValue)
	if err != nil {
		return info, err
	}
	path, what := "glance/"+n.UUID+"/"+i.ID, "glance "+i.ID
	if s.pulled != nil {
		src, err := s.originInGlance(ctx, i, sum)
		if err != nil {
			return info, err
		}
		switch err := s.begin(ctx, src); {
		case err == nil:
			path, what = "pulled/"+n.UUID+"/"+src.Key(), src.Key()
			s.remember(src)
		case !noRoom(err):
			return info, err
		default:
			s.log.Warn("an image of Glance is not kept: it is read again for each agent", "node", n.UUID, "image", i.ID,
				"err", err)
		}
	}
	at, err := s.at(n, path, what)
	if err != nil {
		return info, err
	}
	info.URLs, info.RequestAuthorize = []string{at}, ""
	if info.Checksum == "" && info.OSHashValue == "" {
		info.OSHashAlgo, info.OSHashValue = string(sum.Algorithm), sum.Sum
	}
	info.DiskFormat = cmp.Or(info.DiskFormat, diskFormats[i.DiskFormat])
	return info, nil
}

// originInGlance is where the bytes of an image come from.
func (s *Sources) originInGlance(ctx context.Context, i GlanceImage, sum disk.Checksum) (imagestore.Source, error) {
	at, err := s.glance.Data(ctx, i.ID)
	return imagestore.Source{URLs: []string{at}, Client: s.glance.HTTP(), Authorized: true, Called: "glance://" + i.ID,
		Sum: sum, Size: i.Size}, err
}

// begin has an image pulled.
func (s *Sources) begin(ctx context.Context, src imagestore.Source) error {
	content, err := s.pulled.Pull(ctx, src)
	if err != nil {
		return err
	}
	return content.Close()
}

func noRoom(err error) bool {
	var full *imagestore.NoRoomError
	return errors.As(err, &full)
}
