package clientaddr

import (
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
)

// hop is a proxy's statement about its peer.
type hop struct {
	addr  netip.Addr // zero: unknown, or hidden
	port  uint16
	proto string // http, https, or ""
}

// forwardedPair is a pair of RFC 7239, 4, which may be empty, and its end. A value without quotes may be an IPv6
// address, although the RFC wants quotes there: HAProxy's %[src] has none.
var forwardedPair = regexp.MustCompile("^[ \t]*(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)=" +
	"(?:([]!#$%&'*+.^_`|~0-9A-Za-z:[-]+)|\"((?:[^\"\\\\]|\\\\.)*)\"))?[ \t]*([;,]|$)")

var unquoted = regexp.MustCompile(`\\(.)`)

// Bounds of a header that names clients. Most of it may be a client's own words, which are to cost little.
const (
	maxHeader = 4 << 10 // bytes of all its lines
	maxParts  = 128     // elements, and pairs of them
)

func bounded(h http.Header, name string) error {
	bytes, parts := 0, len(h[name])
	for _, line := range h[name] {
		bytes += len(line)
		parts += strings.Count(line, ",") + strings.Count(line, ";")
	}
	if bytes > maxHeader || parts > maxParts {
		return fmt.Errorf("the header %s has %d bytes in %d parts, at most %d in %d are read: have the proxy replace its "+
			"client's header", name, bytes, parts, maxHeader, maxParts)
	}
	return nil
}

// parseForwarded reads the lines of a header Forwarded. An element ends with its line: proxies add lines, and a quote
// that a client leaves open in its own line must not swallow theirs.
func parseForwarded(lines []string) (hops []hop, err error) {
	for _, line := range lines {
		var h hop
		seen := map[string]bool{}
		for at := 0; ; {
			m := forwardedPair.FindStringSubmatch(line[at:])
			if m == nil {
				return nil, fmt.Errorf("expected for=, by=, host= or proto= and a value at byte %d of %.200q", at, line)
			}
			at += len(m[0])
			name, value := strings.ToLower(m[1]), m[2]+unquoted.ReplaceAllString(m[3], "$1")
			if name != "" && seen[name] {
				return nil, fmt.Errorf("%s is there twice before byte %d of %.200q", name, at, line)
			}
			seen[name] = true
			switch name {
			case "for":
				h.addr, h.port = node(value)
			case "proto":
				h.proto = strings.ToLower(value)
			}
			if m[4] == ";" {
				continue
			}
			if len(seen) > 1 || !seen[""] {
				hops = append(hops, h)
			}
			if m[4] == "" {
				break
			}
			h, seen = hop{}, map[string]bool{}
		}
	}
	return hops, nil
}

// parseXForwarded reads the lines of a header X-Forwarded-For.
func parseXForwarded(lines []string) (hops []hop) {
	for _, line := range lines {
		for text := range strings.SplitSeq(line, ",") {
			var h hop
			h.addr, h.port = node(strings.TrimSpace(text))
			hops = append(hops, h)
		}
	}
	return hops
}

// lastOf is the last word of a header that is a list.
func lastOf(lines []string) string {
	last := lines[len(lines)-1]
	return strings.ToLower(strings.TrimSpace(last[strings.LastIndex(last, ",")+1:]))
}

// node returns the address of a node (RFC 7239, 6); zero for unknown, for a name that hides it, and for malformed
// text.
func node(text string) (netip.Addr, uint16) {
	text, _, _ = strings.Cut(text, ":_") // a hidden port
	at, err := netip.ParseAddrPort(text)
	if err != nil {
		a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
		if err != nil {
			return netip.Addr{}, 0
		}
		at = netip.AddrPortFrom(a, 0)
	}
	if at.Addr().Zone() != "" { // of the proxy's own interfaces
		return netip.Addr{}, 0
	}
	return at.Addr().Unmap(), at.Port()
}
