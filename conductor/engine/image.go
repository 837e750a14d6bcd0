package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// checkImage refuses a deploy whose image the conductor itself would have to
// find, and cannot, and one that would not boot as this conductor is set. Where
// it is not known how a machine boots, its agent finds out, and refuses the same.
func (e *Engine) checkImage(n node.Node) error {
	if plan.IsPartitionImage(n) && plan.BootModeOf(n) == "bios" && !e.Settings.BIOSBootloader {
		return node.Refuse(node.Invalid, "node %s cannot be deployed: its partition image would have to run its own grub-install to boot by BIOS, which agents do only with --enable-bios-bootloader-install; "+
			"have the machine boot by UEFI (capability boot_mode:uefi), or use a whole-disk image", n.UUID)
	}
	source := plan.ImageSource(n)
	if !plan.FoundByConductor(source) {
		return nil
	}
	if e.Images == nil {
		return node.Refuse(node.Invalid, "node %s cannot be deployed: this conductor takes images from http(s) URLs only, and instance_info/image_source is %q", n.UUID, source)
	}
	if err := e.Images.Check(n, source); err != nil {
		return node.Refuse(node.Invalid, "node %s cannot be deployed: instance_info/image_source: %v", n.UUID, err)
	}
	return nil
}

// checkRequestedImage is checkImage for a request that would be taken otherwise.
func (e *Engine) checkRequestedImage(ctx context.Context, ref string, r plan.Request) error {
	if r.Verb != node.Deploy && r.Verb != node.Rebuild {
		return nil
	}
	n, err := e.node(ctx, ref)
	if err != nil || !node.Requestable(n.ProvisionState, r.Verb) {
		return err
	}
	return e.checkImage(n)
}

// locateImage tells the agent where it gets an image that it could not find. It
// is found only as the step is sent: what lets the agent have it does not
// last long, and is kept nowhere.
func (j *job) locateImage(ctx context.Context, s *node.Step) error {
	given, _ := s.Args["image_info"].(map[string]any)
	urls, _ := given["urls"].([]any)
	if len(urls) != 1 {
		return nil
	}
	source, _ := urls[0].(string)
	if j.Images == nil || !plan.FoundByConductor(source) {
		return nil
	}
	var info agentapi.ImageInfo
	if err := convert(given, &info); err != nil {
		return node.Refuse(node.Invalid, "image_info of the step %s: %v", s, err)
	}
	info, err := j.Images.Locate(ctx, j.n, info)
	if err != nil {
		return fmt.Errorf("image %s: %w", source, err)
	}
	var found map[string]any
	if err := convert(info, &found); err != nil {
		return err
	}
	maps.Copy(given, found)
	return nil
}

// convert reads one form of a document as another.
func convert(from, into any) error {
	raw, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}
