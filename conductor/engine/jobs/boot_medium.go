package jobs

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// insertBootMedium puts the boot medium of a node into its virtual CD drive.
func (j *job) insertBootMedium(ctx context.Context, a plan.MediumArgs) (any, error) {
	bmc, err := core.Extension[core.MediaLoader](j.n, j.bmc, "management", "attach_virtual_media")
	if err != nil {
		return nil, err
	}
	image, err := j.mediumURL(ctx, a.Medium)
	if err != nil {
		return nil, err
	}
	if err := plan.CheckMediumURL(j.n, image); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, stepCall) // some BMCs answer only when they have the image
	defer cancel()
	if a.Medium == plan.MediumRamdisk && plan.SettingsByDrive(j.n) {
		if err := j.insertSettings(ctx, bmc); err != nil {
			return nil, err
		}
	}
	if err := bmc.AttachMedium(ctx, j.n, node.Medium{Device: "cdrom", Image: image}); err != nil {
		return nil, err
	}
	slots, err := bmc.MediaSlots(ctx, j.n)
	return plan.ChoreDone{Note: oddAfterInsertion(slots, err, image)}, nil
}

// mediumURL is where the BMC reads the medium.
func (j *job) mediumURL(ctx context.Context, medium string) (string, error) {
	if medium == plan.MediumInstance {
		at, err := plan.InstanceMedium(j.n)
		if err == nil && plan.NamedISO(j.n) != "" && j.Images != nil {
			at, err = j.Images.ISOURL(ctx, j.n, at)
		}
		if err != nil || at != "" {
			return at, err
		}
	}
	if at := plan.AgentISO(j.n); at != "" && medium == plan.MediumRamdisk {
		if !node.KeptImage(at) {
			return at, nil
		}
		if j.Images == nil {
			return "", node.Refuse(node.Invalid, "this conductor serves no named images: start it with --boot")
		}
		return j.Images.ISOURL(ctx, j.n.OfOwner(), at)
	}
	if j.Media == nil {
		return "", node.Refuse(node.Invalid, "this conductor serves no boot media: start it with --boot")
	}
	return j.Media.MediumURL(ctx, j.n)
}

// insertSettings puts the settings of the agent into a second virtual drive, the one for USB sticks where there is one:
// newer BMCs have no floppies.
func (j *job) insertSettings(ctx context.Context, bmc core.MediaLoader) error {
	if j.Media == nil {
		return node.Refuse(node.Invalid, "this conductor serves no boot media: start it with --boot")
	}
	slots, err := bmc.MediaSlots(ctx, j.n)
	if err != nil {
		return err
	}
	device := ""
	for _, d := range []struct{ device, kind string }{{"floppy", "Floppy"}, {"disk", "USBStick"}} {
		if slices.ContainsFunc(slots, func(s node.MediaSlot) bool { return slices.Contains(s.Types, d.kind) }) {
			device = d.device
		}
	}
	if device == "" {
		return node.Refuse(node.Invalid, "driver_info/config_via_removable of node %s is true, and its BMC has no virtual "+
			"drive for a USB stick or floppy: remove the key", j.n.UUID)
	}
	settings, err := j.Media.SettingsURL(ctx, j.n)
	if err != nil {
		return err
	}
	if err := plan.CheckMediumURL(j.n, settings); err != nil {
		return err
	}
	return bmc.AttachMedium(ctx, j.n, node.Medium{Device: device, Image: settings})
}

// ejectBootMedium empties the virtual CD drive of a node, and the drive of its agent's settings.
func (j *job) ejectBootMedium(ctx context.Context) (any, error) {
	bmc, err := core.Extension[core.MediaLoader](j.n, j.bmc, "management", "detach_virtual_media")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, stepCall)
	defer cancel()
	drives := []string{"cdrom"}
	if plan.SettingsByDrive(j.n) {
		drives = append(drives, "disk", "floppy")
	}
	if err := bmc.DetachMedia(ctx, j.n, drives); err != nil {
		return nil, err
	}
	slots, err := bmc.MediaSlots(ctx, j.n)
	return plan.ChoreDone{Note: oddAfterEjection(slots, err)}, nil
}

// oddAfterInsertion says that the drive does not show the image that was inserted; "" where it
// does, or where the BMC shows no names of images. BMCs shorten URLs: the file name is compared.
func oddAfterInsertion(slots []node.MediaSlot, err error, image string) string {
	shown := imagesIn(slots)
	name := path.Base(strings.SplitN(image, "?", 2)[0])
	switch {
	case err != nil:
		return "the BMC took the boot medium, and does not report the content of its drives: " + err.Error()
	case slices.ContainsFunc(shown, func(s string) bool { return s == "" || strings.Contains(s, name) }):
		return ""
	case len(shown) == 0:
		return "the BMC took the boot medium, and shows no virtual CD drive with an image"
	}
	return fmt.Sprintf("the BMC took the boot medium %s, and its virtual CD drive shows %s: it may have kept an "+
		"older one", name, strings.Join(shown, ", "))
}

// oddAfterEjection says that the drive still shows an image.
func oddAfterEjection(slots []node.MediaSlot, err error) string {
	shown := imagesIn(slots)
	switch {
	case err != nil:
		return "the BMC ejected the boot medium, and does not report the content of its drives: " + err.Error()
	case len(shown) == 0:
		return ""
	}
	return "the BMC ejected the boot medium, and its virtual CD drive still shows " + strings.Join(shown, ", ")
}

// imagesIn returns the images of CD drives that have one; "" is an image without a name.
func imagesIn(slots []node.MediaSlot) (all []string) {
	for _, s := range slots {
		if !s.Inserted || !slices.ContainsFunc(s.Types, func(t string) bool { return t == "CD" || t == "DVD" }) {
			continue
		}
		name := ""
		if s.Image != nil {
			name = *s.Image
		}
		all = append(all, name)
	}
	return all
}
