// Package tlspolicy reads the oldest version of TLS and the cipher suites that a connection may use, as operators write
// them: the options tls_minimum_version and tls_ciphers of Ironic, which also names them redfish_tls_minimum_version
// and redfish_tls_ciphers in driver_info.
//
// It must not connect to anything.
package tlspolicy

import (
	"crypto/tls"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Policy is the oldest version and the cipher suites of a connection. The zero value is TLS 1.2 and Go's own suites.
type Policy struct {
	Minimum uint16   // tls.VersionTLS12; 0: TLS 1.2
	Suites  []uint16 // of TLS 1.2 and older; nil: Go's own
}

// versions are Ironic's words for them.
var versions = map[string]uint16{"1.1": tls.VersionTLS11, "1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}

// Versions are the words for the versions from one on.
func Versions(least string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(versions)), func(v string) bool { return v < least })
}

// Error is a word that is not known, or that has no effect. Of is the part of the policy that it is in.
type Error struct {
	Of     Part
	Reason string
}

// Part is a part of a policy.
type Part int

// The parts of a policy.
const (
	Minimum Part = iota
	Ciphers
)

func (e *Error) Error() string { return e.Reason }

// Parse reads a policy. An empty minimum or list of ciphers is the default. least is the oldest version that may be
// named. The error is an *Error.
func Parse(minimum, ciphers, least string) (p Policy, err error) {
	if minimum != "" {
		known := Versions(least)
		if !slices.Contains(known, minimum) {
			return Policy{}, &Error{Minimum, fmt.Sprintf("must be one of %s, not %q", strings.Join(known, ", "), minimum)}
		}
		p.Minimum = versions[minimum]
	}
	if ciphers == "" {
		return p, nil
	}
	if p.Suites, err = suites(ciphers); err != nil {
		return Policy{}, err
	}
	if p.Minimum == tls.VersionTLS13 {
		return Policy{}, &Error{Ciphers, "has no effect with the minimum version 1.3: its suites cannot be chosen; leave " +
			"it out, or set the minimum version to 1.2"}
	}
	return p, nil
}

// suites reads names with colons, commas or spaces between, as OpenSSL's lists have them; a name is OpenSSL's or
// IANA's.
func suites(list string) (all []uint16, err error) {
	known := names()
	for _, name := range strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(":, ", r) }) {
		id, ok := known[OpenSSLName(name)]
		switch {
		case ok:
			all = append(all, id)
		case strings.HasPrefix(strings.ToUpper(name), "TLS_AES_"), strings.HasPrefix(strings.ToUpper(name), "TLS_CHACHA20_"):
			return nil, &Error{Ciphers, fmt.Sprintf("has %s, which is of TLS 1.3: its suites are always offered, remove it",
				name)}
		default:
			return nil, &Error{Ciphers, fmt.Sprintf("has %q, which is not known: choose from %s (groups such as HIGH and "+
				"exclusions are not read)", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))}
		}
	}
	if len(all) == 0 {
		return nil, &Error{Ciphers, "names no cipher suite: remove it, or name at least one"}
	}
	return all, nil
}

// Suites are the suites of TLS 1.2 and older that may be chosen. RC4 is broken, and stays out (RFC 7465).
func Suites() (all []uint16) {
	for _, s := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		if !strings.Contains(s.Name, "RC4") && s.SupportedVersions[0] != tls.VersionTLS13 {
			all = append(all, s.ID)
		}
	}
	return all
}

// names are OpenSSL's names of Suites.
func names() map[string]uint16 {
	all := map[string]uint16{}
	for _, id := range Suites() {
		all[OpenSSLName(tls.CipherSuiteName(id))] = id
	}
	return all
}

// OpenSSLName is OpenSSL's name of a suite of TLS 1.2 or older, from IANA's name or its own. OpenSSL leaves out the
// words TLS, WITH and CBC, and the exchange of keys by RSA; its 3DES has a name of its own (OpenSSL, ciphers(1)).
func OpenSSLName(name string) string {
	name = strings.ToUpper(name)
	iana, is := strings.CutPrefix(name, "TLS_")
	if !is {
		return name
	}
	exchange, rest, _ := strings.Cut(iana, "_WITH_")
	rest = strings.NewReplacer("AES_128", "AES128", "AES_256", "AES256", "CBC_", "", "3DES_EDE", "DES-CBC3",
		"CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305").Replace(rest)
	if exchange != "RSA" {
		rest = exchange + "-" + rest
	}
	return strings.ReplaceAll(rest, "_", "-")
}

// OpenSSLList is the suites in OpenSSL's form: its names with colons between; "" for Go's own.
func (p Policy) OpenSSLList() string {
	var list []string
	for _, id := range p.Suites {
		list = append(list, OpenSSLName(tls.CipherSuiteName(id)))
	}
	return strings.Join(list, ":")
}

// MinimumWord is Ironic's word for the oldest version.
func (p Policy) MinimumWord() string {
	for word, version := range versions {
		if version == p.Minimum {
			return word
		}
	}
	return "1.2"
}

// Apply sets the versions and suites of a configuration.
func (p Policy) Apply(c *tls.Config) {
	c.MinVersion, c.CipherSuites = max(p.Minimum, tls.VersionTLS12), p.Suites
	if p.Minimum == tls.VersionTLS11 {
		c.MinVersion = tls.VersionTLS11
	}
}
