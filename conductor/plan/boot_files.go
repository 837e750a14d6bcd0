package plan

import (
	"net/url"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

func noPasswords(d *decision, _ Request) error { return CheckBootFiles(d.n) }

// CheckBootFiles refuses a ramdisk of the node's own with a password in its URL: iPXE would receive it over the
// machine's network, in the clear. A BMC is given the password of a medium apart from its URL.
func CheckBootFiles(n node.Node) error {
	for _, key := range []string{"deploy_kernel", "deploy_ramdisk", "rescue_kernel", "rescue_ramdisk"} {
		if WithPassword(text(n.DriverInfo, key)) {
			return node.Refuse(node.Invalid,
				"node %s: the URL in driver_info/%s holds a user or password, which the machine's network and console would "+
					"show: serve the file without", n.UUID, key)
		}
	}
	return checkAgentISO(n)
}

// WithPassword reports whether a URL holds a user or a password.
func WithPassword(at string) bool {
	u, err := url.Parse(at)
	return err == nil && u.User != nil
}
