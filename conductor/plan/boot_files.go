package plan

import (
	"net/url"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// intoRamdisk is the verbs that may boot the ramdisk. Delete is not among them:
// a tenant's system is taken down whatever the ramdisk is.
var intoRamdisk = map[node.Event]bool{
	node.Provide: true, node.Clean: true, node.Inspect: true, node.Deploy: true, node.Rebuild: true, node.RescueIt: true,
	node.Service: true,
}

// CheckBootFiles refuses a ramdisk of the node's own whose URL holds a password: iPXE would
// receive it over the machine's network, in the clear.
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
