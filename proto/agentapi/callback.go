package agentapi

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// CallbackPath is the path of the callback_url; "" for none. A conductor takes one only
// behind a flag: with a path of its choice the holder of a token could have any server on
// the network asked for something.
func (h Heartbeat) CallbackPath() string {
	u, err := url.Parse(h.CallbackURL)
	if err != nil {
		return ""
	}
	return strings.Trim(u.EscapedPath(), "/")
}

// checkCallback refuses a callback_url that is not the plain address of an agent. All parsers of the URL must read the
// same address in it.
func checkCallback(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("heartbeat: callback_url %q is not an http(s) URL", text)
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#") {
		return fmt.Errorf("heartbeat: callback_url %q names more than an agent's scheme, host, port and path", text)
	}
	if !isHost(u.Hostname()) {
		return fmt.Errorf("heartbeat: callback_url %q: the host %q is neither an IP address nor a DNS name in ASCII", text,
			u.Hostname())
	}
	if port, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && (err != nil || port == 0) ||
		strings.HasSuffix(u.Host, ":") {
		return fmt.Errorf("heartbeat: callback_url %q: the port %q is not one of 1 to 65535", text, u.Port())
	}
	for part := range strings.SplitSeq(strings.Trim(u.EscapedPath(), "/"), "/") {
		if part == "." || part == ".." || strings.Trim(part, letters+"-._~") != "" || part == "" &&
			strings.Trim(u.Path, "/") != "" {
			return fmt.Errorf("heartbeat: callback_url %q: the path may have letters, digits and -._~ between single slashes, "+
				"and none of its parts is . or .. alone", text)
		}
	}
	return nil
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// isHost recognises addresses and names of hosts (RFC 1123, 2.1; some have underscores).
func isHost(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return strings.Trim(a.Zone(), letters+"-._") == ""
	}
	return strings.Trim(host, letters+"-._") == ""
}
