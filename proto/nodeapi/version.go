package nodeapi

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Version spells a microversion: 1.minor.
func Version(minor int) string { return "1." + strconv.Itoa(minor) }

// ParseVersion reads "1.N" and returns N.
func ParseVersion(s string) (minor int, err error) {
	major, rest, ok := strings.Cut(s, ".")
	minor, bad := strconv.Atoi(rest)
	if !ok || bad != nil || major != "1" || !digits(rest) {
		return 0, fmt.Errorf("microversion %q: expected 1.N", s)
	}
	return minor, nil
}

// negotiate returns the minor version a request asked for, in either header; MinMinor when
// it asked for none. A version outside the range is a 406 Fault, worded as Ironic words it.
func negotiate(h http.Header) (minor int, fault *Fault) {
	asked, ok := askedVersion(h)
	if !ok {
		return MinMinor, nil
	}
	if strings.EqualFold(asked, "latest") {
		return MaxMinor, nil
	}
	major, rest, ok := strings.Cut(asked, ".")
	ma, err1 := strconv.Atoi(major)
	mi, err2 := strconv.Atoi(rest)
	if !ok || err1 != nil || err2 != nil || !digits(rest) {
		return 0, Routing(http.StatusNotAcceptable, "Invalid value for X-OpenStack-Ironic-API-Version header")
	}
	supported := fmt.Sprintf("The supported version range is: [%s, %s].", Version(MinMinor), Version(MaxMinor))
	if ma != 1 {
		return 0, Routing(http.StatusNotAcceptable,
			"Mutually exclusive versions requested. Version %s requested but not supported by this service. %s",
			asked, supported)
	}
	if mi < MinMinor || mi > MaxMinor {
		return 0, Routing(http.StatusNotAcceptable,
			"Version %s was requested but the minor version is not supported by this service. %s", asked, supported)
	}
	return mi, nil
}

// Begin begins the answer to a request under /v1: it negotiates the microversion and sets
// the headers that announce it. The error is a Fault.
func Begin(w http.ResponseWriter, r *http.Request) (minor int, err error) {
	header := w.Header()
	header[HeaderMinVersion], header[HeaderMaxVersion] = []string{Version(MinMinor)}, []string{Version(MaxMinor)}
	minor, fault := negotiate(r.Header)
	if fault != nil {
		delete(header, HeaderRequestID) // as Ironic: refused before it was a request
		return 0, fault
	}
	header[HeaderVersion] = []string{Version(minor)}
	if minor >= 107 {
		header[HeaderRequestIDX] = header[HeaderRequestID]
	}
	return minor, nil
}

// digits: no sign, which strconv would take.
func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// askedVersion finds the version text. The OpenStack-wide header lists
// services; those that are not ours are none of our business.
func askedVersion(h http.Header) (string, bool) {
	if v, ok := h[HeaderVersion]; ok && len(v) > 0 {
		return strings.TrimSpace(v[0]), true
	}
	for _, line := range h[HeaderServiceVersion] {
		for item := range strings.SplitSeq(line, ",") {
			service, version, ok := strings.Cut(strings.TrimSpace(item), " ")
			if ok && strings.EqualFold(service, "baremetal") {
				return strings.TrimSpace(version), true
			}
		}
	}
	return "", false
}
