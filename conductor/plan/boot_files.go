package plan

import (
	"net/url"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// intoRamdisk are the verbs that may boot the ramdisk. Delete is not among them: the ramdisk's settings must not keep a
// tenant's system from being taken down.
var intoRamdisk = map[node.Event]bool{
	node.Provide: true, node.Clean: true, node.Inspect: true, node.Deploy: true, node.Rebuild: true, node.RescueIt: true,
	node.Service: true,
}

// CheckBootFiles refuses a ramdisk of the node's own with a password in its URL: iPXE would receive it over the
// machine's network, in the clear.
func CheckBootFiles(n node.Node) error {
	for _, key := range []string{"deploy_kernel", "deploy_ramdisk", "rescue_kernel", "rescue_ramdisk"} {
		if WithPassword(text(n.DriverInfo, key)) {
			return node.Refuse(node.Invalid,
				"node %s: the URL in driver_info/%s holds a user or password, which the machine's network and console would "+
					"show: serve the file without", n.UUID, key)
		}
	}
	return nil
}

// WithPassword reports whether a URL holds a user or a password.
func WithPassword(at string) bool {
	u, err := url.Parse(at)
	return err == nil && u.User != nil
}
