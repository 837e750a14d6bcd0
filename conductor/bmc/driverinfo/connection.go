package driverinfo

import (
	"errors"
	"net/url"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/tlspolicy"
)

// The settings of a connection to a Redfish BMC, besides its address and its login.
const (
	MinimumKey = "redfish_tls_minimum_version"
	CiphersKey = "redfish_tls_ciphers"
	PrefixKey  = "redfish_root_prefix"
	SilentKey  = "firmware_update_unresponsive_bmc_wait"
)

// TLS reads a node's own policy of the connections to its BMC, as text that Parse of package tlspolicy reads; "" for
// parts that are not set.
func TLS(n node.Node) (minimum, ciphers string, err error) {
	if minimum, err = Text(n, MinimumKey); err != nil {
		return "", "", err
	}
	if ciphers, err = Text(n, CiphersKey); err != nil {
		return "", "", err
	}
	_, err = tlspolicy.Parse(minimum, ciphers, "1.1")
	if odd, is := errors.AsType[*tlspolicy.Error](err); is {
		key := map[tlspolicy.Part]string{tlspolicy.Minimum: MinimumKey, tlspolicy.Ciphers: CiphersKey}[odd.Of]
		return "", "", Wrong(key, "%s", odd.Reason)
	}
	return minimum, ciphers, err
}

// RootPrefix reads the path of a BMC's service root, with a slash at its end; "" when it is not set.
func RootPrefix(n node.Node) (string, error) {
	prefix, err := Text(n, PrefixKey)
	if err != nil || prefix == "" {
		return "", err
	}
	u, err := url.Parse(prefix)
	if err != nil || !strings.HasPrefix(prefix, "/") || u.Path != prefix || strings.Contains(prefix, "//") ||
		strings.Contains(prefix, "/.") || strings.Trim(prefix, "/") == "" {
		return "", Wrong(PrefixKey, "must be the path of the service root, such as /redfish/v1, not %q", prefix)
	}
	return strings.TrimRight(prefix, "/") + "/", nil
}

// maxSilent is the longest wait for a BMC after an update, in seconds: a day.
const maxSilent = 24 * 60 * 60

// Silent reads how many seconds a BMC may need after an update of firmware; 0 when it is not set.
func Silent(n node.Node) (int, error) {
	seconds, err := Number(n, SilentKey, 0)
	if err == nil && (seconds < 0 || seconds > maxSilent) {
		err = Wrong(SilentKey, "must be from 0 to %d seconds, not %d", maxSilent, seconds)
	}
	return seconds, err
}
