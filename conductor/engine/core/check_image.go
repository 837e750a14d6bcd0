package core

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// CheckImage refuses a deploy if the conductor itself must find the image and cannot, or if the image would not boot
// with this conductor's settings. If the boot mode of a machine is not known, its agent finds it out and refuses the
// same. With begin, the conductor starts to fetch the images that it needs itself.
func (e *Core) CheckImage(ctx context.Context, n node.Node, begin bool) (found node.ImageFound, err error) {
	if err := e.checkBootMode(n); err != nil {
		return found, err
	}
	key, source := "image_source", cmp.Or(plan.ImageSource(n), plan.RamdiskSource(n))
	if iso := plan.NamedISO(n); iso != "" {
		key, source = "boot_iso", iso
	}
	if plan.FoundByConductor(source) {
		if found, err = e.findImage(ctx, n, key, source, begin); err != nil {
			return found, err
		}
		if n = plan.WithImage(n, found); found.Type != "" { // of which there are more checks than by the node alone
			if err := cmp.Or(plan.CheckInstance(n), e.checkBootMode(n)); err != nil {
				return found, err
			}
		}
	}
	return found, e.checkBootFiles(ctx, n, begin)
}

// findImage has an image found that agents or firmware cannot find by themselves.
func (e *Core) findImage(ctx context.Context, n node.Node, key, source string, begin bool) (found node.ImageFound,
	err error) {
	if e.Images == nil {
		return found, node.Refuse(node.Invalid,
			"node %s cannot be deployed: this conductor takes images from http(s) URLs only, and instance_info/%s is %q",
			n.UUID, key, source)
	}
	if key == "boot_iso" {
		err = e.Images.CheckISO(ctx, n, source, begin)
	} else {
		found, err = e.Images.Check(ctx, n, source)
	}
	if err != nil {
		return found, node.Refuse(node.Invalid, "node %s cannot be deployed: instance_info/%s: %v", n.UUID, key, err)
	}
	return found, nil
}

// CheckImageFor is CheckImage for a deploy that a user of a project asks for; "" is the whole system.
func (e *Core) CheckImageFor(ctx context.Context, n node.Node, project string, begin bool) (node.ImageFound, error) {
	run := plan.DeployFor(n, project)
	n.Run = &run
	found, err := e.CheckImage(ctx, n, begin)
	found.Source = run.Image
	return found, err
}

// checkBootMode refuses a partition image for BIOS unless the settings let agents install a BIOS boot loader.
func (e *Core) checkBootMode(n node.Node) error {
	if !plan.IsPartitionImage(n) || plan.BootModeOf(n) != "bios" || e.Settings.BIOSBootloader {
		return nil
	}
	return node.Refuse(node.Invalid,
		"node %s cannot be deployed: its partition image would have to run its own grub-install to boot by BIOS, which "+
			"agents do only with --enable-bios-bootloader-install; "+
			"have the machine boot by UEFI (capability boot_mode:uefi), or use a whole-disk image", n.UUID)
}

// checkBootFiles refuses a deploy if a kernel or ramdisk that the node names is missing.
func (e *Core) checkBootFiles(ctx context.Context, n node.Node, begin bool) error {
	for _, file := range plan.NamedBootFiles(n) {
		err := node.Refuse(node.Invalid, "this conductor keeps no images")
		if e.Images != nil {
			err = e.Images.CheckBootFile(ctx, file.Of, file.Source, begin)
		}
		if err != nil {
			return node.Refuse(node.Invalid, "node %s cannot be deployed: %s: %v", n.UUID, file.Field, err)
		}
	}
	return nil
}

// lookTime bounds the look at an image and its mirrors.
const lookTime = 6 * time.Second

// requestedImage is CheckImage for a request that would be taken otherwise, and a look at
// the image, where agents fetch it by themselves. Its answer for a deploy is never nil: the decision sees whether the
// image was changed since.
func (e *Core) requestedImage(ctx context.Context, ref string, r plan.Request) (*node.ImageFound, error) {
	if r.Verb != node.Deploy && r.Verb != node.Rebuild {
		return nil, nil
	}
	n, err := e.Node(ctx, ref)
	if err != nil || !node.Requestable(n.ProvisionState, r.Verb) {
		return &node.ImageFound{}, err
	}
	known, err := e.CheckImageFor(ctx, n, r.Project, true)
	if err != nil {
		return nil, err
	}
	if known != (node.ImageFound{}) {
		return &known, nil
	}
	urls := plan.ImageURLs(n)
	if e.Probe == nil || len(urls) == 0 || plan.CheckInstance(n) != nil {
		return &known, nil
	}
	if holder, err := e.Reserved(ctx, n.UUID); err != nil || holder != "" {
		return &known, err // refused as locked, without a wait
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	seen := e.lookAt(ctx, urls)
	return &seen, nil
}

// lookAt looks at an image and, until one is seen that is not refused, at its mirrors.
func (e *Core) lookAt(ctx context.Context, urls []string) node.ImageFound {
	var why []string
	unseen := false
	for _, at := range urls {
		found := e.Probe.Probe(ctx, at)
		if reason := cmp.Or(found.Gone, found.Doubt); reason != "" {
			why = append(why, reason)
		}
		if found.Gone == "" && !found.Unseen {
			found.Doubt = strings.Join(why, "; ")
			return found
		}
		unseen = unseen || found.Unseen
	}
	if unseen { // machines may reach it
		return node.ImageFound{Doubt: strings.Join(why, "; "), Unseen: true}
	}
	return node.ImageFound{Gone: strings.Join(why, "; ")}
}
