package imagelibrary

import (
	"context"
	"fmt"
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/images/disk"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// fromPeer gets the bytes of an image from another conductor. It reads from the first that has them, once for all
// waiting callers.
func (l *Library) fromPeer(ctx context.Context, i node.Image) (*imagestore.Content, error) {
	if l.Peers == nil {
		return nil, gone(i, "they are not in the folder of images (--image-folder) of this conductor")
	}
	urls, client := l.Peers.Sources(i.Conductor, i.Digest)
	if len(urls) == 0 {
		return nil, gone(i, "conductor "+i.Conductor+" has them, and no other conductor of the cluster can be asked")
	}
	content, err := l.Bytes.Pull(ctx, imagestore.Source{URLs: urls, Client: client, Stored: true,
		Sum: disk.Checksum{Algorithm: disk.SHA256, Sum: imagestore.KeyOf(i.Digest)}})
	if err != nil {
		return nil, gone(i, fmt.Sprintf("conductor %s has them, and did not send them: %v", i.Conductor, err))
	}
	return content, nil
}

func gone(i node.Image, why string) error {
	return nodeapi.NewFault(http.StatusServiceUnavailable, "The bytes of image %s are not available: %s. Start "+
		"that conductor, copy the file into its --image-folder, or delete the image and add it again.", i.Name, why)
}
