package bootpolicy

import (
	"encoding/json"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/images/bootiso"
	"github.com/ferrite-metal/ferrite/proto/netconfig"
)

// overlay is the archive of a node's files for its ramdisk: its network_data. It is "" for a node
// without.
func overlay(n node.Node) (string, error) {
	if len(n.NetworkData) == 0 {
		return "", nil
	}
	text, err := json.Marshal(n.NetworkData)
	if err != nil {
		return "", err
	}
	return bootiso.Overlay(netconfig.Path, string(text))
}
