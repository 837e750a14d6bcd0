package bootpolicy

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// unfetched is the policy for a machine that asks for an address, and for none of its boot files yet. No image is
// looked for: everybody can send such a request with the MAC of a machine, and a running system keeps its address when
// an image, or Glance, is away.
func (p *Policy) unfetched() *Policy {
	return &Policy{Engine: p.Engine, Log: p.Log, Kernel: p.Kernel, Initrd: p.Initrd, APIURL: p.APIURL, Append: p.Append,
		Local: p.Local, Pins: p.Pins, Images: anyImage{}}
}

// anyImage finds every image at its own name.
type anyImage struct{}

func (anyImage) ISOURL(_ context.Context, _ node.Node, source string) (string, error) {
	return source, nil
}

func (anyImage) BootFile(_ context.Context, _ node.Node, source string) (string, error) {
	return source, nil
}
