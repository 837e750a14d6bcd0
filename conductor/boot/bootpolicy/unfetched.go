package bootpolicy

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// unfetched is the policy for a machine that asks for an address, and not yet for its boot files. It looks for no
// image: any host can send such a request with the MAC of a machine. A running system keeps its address when an image,
// or Glance, is unavailable.
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
