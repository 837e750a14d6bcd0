package redfish

import (
	"net/url"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/driverinfo"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// target is where a node's BMC is and how to be let in: driver_info, read.
type target struct {
	base     string // scheme://host[:port]
	root     string // path of the service root
	system   string // path of the ComputerSystem, "" for the only one
	user     string
	password string
	auth     string // auto, basic or session
	verify   string // "true", "false", or the authorities as PEM or path
	tls      string // "" or tlsLegacy
	minimum  string // the oldest version of TLS; "" as the driver is set
	ciphers  string // with colons between; "" as the driver is set

	connect, request time.Duration // 0: as the driver is set
}

// account is the node's login at its BMC.
func (t *target) account() account {
	return account{t.user, t.password, t.auth, t.verify, t.root, t.tls, t.minimum, t.ciphers, t.connect, t.request}
}

// defaultRoot is where DSP0266 puts the service root.
const defaultRoot = "/redfish/v1/"

// parse reads Ironic's redfish_* settings. Its errors are permanent and hold
// no secret.
func parse(n node.Node) (t target, err error) {
	var address string
	for _, s := range []struct {
		key string
		to  *string
	}{
		{"redfish_address", &address}, {"redfish_system_id", &t.system},
		{"redfish_username", &t.user}, {"redfish_password", &t.password}, {"redfish_auth_type", &t.auth},
		{tlsKey, &t.tls},
	} {
		if *s.to, err = driverinfo.BMCText(n, s.key); err != nil {
			return target{}, err
		}
	}
	if t.base, t.root, err = parseAddress(address); err != nil {
		return target{}, err
	}
	if t.system != "" && !strings.HasPrefix(t.system, "/") {
		return target{}, driverinfo.Wrong("redfish_system_id",
			"must be a path such as /redfish/v1/Systems/1, not %q", t.system)
	}
	switch t.auth {
	case "":
		t.auth = "auto"
	case "auto", "basic", "session":
	default:
		return target{}, driverinfo.Wrong("redfish_auth_type", "must be auto, basic or session, not %q", t.auth)
	}
	if err := t.parseConnection(n); err != nil {
		return target{}, err
	}
	patience, err := n.Patience(node.Patience{})
	if err != nil {
		return target{}, err
	}
	t.connect, t.request = patience.Connect, patience.Request
	written, _ := n.BMCSettingOf(verifyKey)
	t.verify, err = driverinfo.Authorities(n, written)
	return t, err
}

// parseConnection reads the settings of TLS, and the path of the service root, which is in redfish_address or in
// redfish_root_prefix.
func (t *target) parseConnection(n node.Node) (err error) {
	if t.tls != "" && t.tls != tlsLegacy {
		return driverinfo.Wrong(tlsKey, "must be legacy, or not set, not %q", t.tls)
	}
	if t.minimum, t.ciphers, err = driverinfo.TLS(n); err != nil {
		return err
	}
	if t.tls == tlsLegacy && (t.minimum != "" || t.ciphers != "") {
		return driverinfo.Wrong(tlsKey, "is legacy, which takes every version and cipher suite: remove it, or remove "+
			"%s and %s", driverinfo.MinimumKey, driverinfo.CiphersKey)
	}
	prefix, err := driverinfo.RootPrefix(n)
	switch {
	case err != nil || prefix == "":
		return err
	case t.root != defaultRoot && t.root != prefix:
		return driverinfo.Wrong(driverinfo.PrefixKey, "is %s, but redfish_address ends with %s: remove one of them", prefix,
			t.root)
	}
	t.root = prefix
	return nil
}

func parseAddress(address string) (base, root string, err error) {
	const key = "redfish_address"
	if address == "" {
		return "", "", driverinfo.Wrong(key, "is missing: set it to the BMC's URL, such as https://10.0.0.1")
	}
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(withZone(address))
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", "", driverinfo.Wrong(key,
			"must be a URL such as https://10.0.0.1: it has no host, or no scheme of http and https")
	case u.User != nil:
		return "", "", driverinfo.Wrong(key, "must not hold credentials: use redfish_username and redfish_password")
	case u.RawQuery != "" || u.Fragment != "":
		return "", "", driverinfo.Wrong(key, "must end with the path: remove the rest")
	}
	root = defaultRoot
	if path := strings.Trim(u.Path, "/"); path != "" {
		root = "/" + path + "/"
	}
	return origin(u), root, nil
}

// origin is the part of a URL before its path; the zone of an address is escaped in it.
func origin(u *url.URL) string { return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String() }

// withZone escapes the zone of a link-local address, fe80::1%eth0, which URLs write with
// %25 (RFC 6874) and people do not.
func withZone(address string) string {
	before, rest, ok := strings.Cut(address, "%")
	if !ok || !strings.Contains(before, "[") || strings.HasPrefix(rest, "25") || strings.Contains(before, "]") {
		return address
	}
	return before + "%25" + rest
}
