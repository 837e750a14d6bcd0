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
	ctx, cancel := context.WithTimeout(ctx, stepCall) // some BMCs answer only when they have the image
	defer cancel()
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
	if j.Media == nil {
		return "", node.Refuse(node.Invalid, "this conductor serves no boot media: start it with --boot")
	}
	return j.Media.MediumURL(ctx, j.n)
}

// ejectBootMedium empties the virtual CD drive of a node.
func (j *job) ejectBootMedium(ctx context.Context) (any, error) {
	bmc, err := core.Extension[core.MediaLoader](j.n, j.bmc, "management", "detach_virtual_media")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, stepCall)
	defer cancel()
	if err := bmc.DetachMedia(ctx, j.n, []string{"cdrom"}); err != nil {
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
