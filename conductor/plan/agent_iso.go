package plan

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// A node that boots from a virtual drive may name a medium of its site's, with an agent on it, in place of the medium
// that this conductor makes: driver_info/deploy_iso, and rescue_iso for a rescue. Nothing can be added to such a
// medium. With config_via_removable the agent finds its settings, and the one-time token of its boot, in a second
// virtual drive, as Ironic's agent does.

// AgentISO is the medium that n boots its next agent from: an http(s) URL, image:NAME or a UUID in Glance; "" for the
// conductor's own.
func AgentISO(n node.Node) string {
	if !BootsByMedium(n) {
		return ""
	}
	deploy, rescue := n.AgentISOs()
	if Rescuing(n) {
		return rescue
	}
	return deploy
}

// SettingsByDrive reports whether the agent of n gets its settings in a second virtual drive.
func SettingsByDrive(n node.Node) bool {
	return BootsByMedium(n) &&
		(truth(n.DriverInfo["config_via_removable"]) || truth(n.DriverInfo["config_via_floppy"]))
}

// ByLeaseAlone reports whether the agent that the run of n waits for has no token to prove its node with: it is on a
// medium of the site's, without settings. Then the address that was lent to the machine is the proof.
func ByLeaseAlone(n node.Node) bool {
	return AgentISO(n) != "" && !SettingsByDrive(n) && WantsRamdisk(n)
}

// truth reads a flag that may be written as text, or as a number: Ironic's client makes numbers of digits.
func truth(v any) bool {
	is, _ := nodeapi.Truth(fmt.Sprint(v))
	return is
}

// checkAgentISO refuses a medium that no BMC can be given.
func checkAgentISO(n node.Node) error {
	deploy, rescue := n.AgentISOs()
	for _, at := range []string{deploy, rescue} {
		u, err := url.Parse(at)
		if at == "" || node.KeptImage(at) || err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
			continue
		}
		return node.Refuse(node.Invalid, "node %s: driver_info/deploy_iso or rescue_iso is %q, expected an http(s) URL, "+
			"image:NAME or the UUID of an image of Glance", n.UUID, withoutPassword(at))
	}
	return nil
}

func withoutPassword(at string) string {
	if WithPassword(at) {
		return "a URL with a password"
	}
	return at
}

// checkAgentProof refuses a run with an agent that could not prove that it runs on the machine: it would be turned away
// until the run's time limit.
func (d *decision) checkAgentProof() error {
	if AgentISO(d.n) == "" || SettingsByDrive(d.n) || !d.f.Words || d.f.OwnDHCP {
		return nil
	}
	return fmt.Errorf("node %s boots its agent from a medium of its own (deploy_iso, rescue_iso), which has no one-time "+
		"token, and other DHCP servers give addresses here: set driver_info/config_via_removable to true, so that the "+
		"agent finds the token in a second virtual drive", d.n.UUID)
}

// CheckMediumURL refuses to insert a medium by another protocol than driver_info/vmedia_transport_protocol.
func CheckMediumURL(n node.Node, at string) error {
	want := text(n.DriverInfo, "vmedia_transport_protocol")
	scheme, _, _ := strings.Cut(at, "://")
	if want == "" || strings.EqualFold(want, scheme) {
		return nil
	}
	return node.Refuse(node.Invalid, "driver_info/vmedia_transport_protocol of node %s is %s, and its medium is served "+
		"by %s: set --media-url of the conductor or external_http_url of the node to such a URL, or remove the key", n.UUID,
		want, strings.ToUpper(scheme))
}
