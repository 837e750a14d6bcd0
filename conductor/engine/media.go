package engine

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// mediaLoader finds a node and what loads its virtual drives.
func (e *Engine) mediaLoader(ctx context.Context, ref, what string) (node.Node, MediaLoader, error) {
	n, bmc, err := e.driver(ctx, ref)
	if err != nil {
		return n, nil, err
	}
	loader, ok := bmc.(MediaLoader)
	if !ok || n.Interfaces["management"] == "noop" {
		return n, nil, node.Refuse(node.Invalid, "Driver %s does not support %s (disabled or not implemented).", n.Driver, what)
	}
	if err := bmc.Validate(n); err != nil {
		return n, nil, node.Refuse(node.Invalid, "%v", err)
	}
	return n, loader, nil
}

// MediaSlots asks the BMC for its virtual drives and what is in them.
func (e *Engine) MediaSlots(ctx context.Context, ref string) ([]node.MediaSlot, error) {
	n, loader, err := e.mediaLoader(ctx, ref, "get_virtual_media")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, bmcCall)
	defer cancel()
	return loader.MediaSlots(ctx, n)
}

// AttachMedium lets an image be put into a virtual drive. It returns once that
// is under way; a failure shows in last_error and the history.
func (e *Engine) AttachMedium(ctx context.Context, ref string, m node.Medium) error {
	n, _, err := e.mediaLoader(ctx, ref, "attach_virtual_media")
	if err != nil {
		return err
	}
	_, err = e.act(ctx, n.UUID, plan.MediaRequest{Attach: &m})
	return err
}

// DetachMedia lets the virtual drives of the kinds named be emptied, all when
// none is named, as AttachMedium lets them be filled.
func (e *Engine) DetachMedia(ctx context.Context, ref string, devices []string) error {
	n, _, err := e.mediaLoader(ctx, ref, "detach_virtual_media")
	if err != nil {
		return err
	}
	_, err = e.act(ctx, n.UUID, plan.MediaRequest{Detach: devices})
	return err
}

func (j *job) attachMedium(ctx context.Context) (any, error) {
	var m node.Medium
	if err := j.args(&m); err != nil {
		return nil, err
	}
	return nil, j.onMedia(ctx, func(ctx context.Context, l MediaLoader) error { return l.AttachMedium(ctx, j.n, m) })
}

func (j *job) detachMedia(ctx context.Context) (any, error) {
	var a plan.DetachArgs
	if err := j.args(&a); err != nil {
		return nil, err
	}
	return nil, j.onMedia(ctx, func(ctx context.Context, l MediaLoader) error { return l.DetachMedia(ctx, j.n, a.Devices) })
}

// onMedia has its own limit: some BMCs answer only when they have the image.
func (j *job) onMedia(ctx context.Context, do func(context.Context, MediaLoader) error) error {
	loader, ok := j.bmc.(MediaLoader)
	if !ok {
		return node.Refuse(node.Invalid, "hardware type %q has no virtual media any more", j.n.Driver)
	}
	ctx, cancel := context.WithTimeout(ctx, stepCall)
	defer cancel()
	return do(ctx, loader)
}
