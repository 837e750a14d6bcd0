package siteconfig

import (
	"net"
	"net/netip"
)

// API is the URL of the conductor's API, and for https the file of the certificate to trust; both are empty where the
// default file is missing or names no address.
func API(path string) (url, certificate string, err error) {
	values, err := read(path)
	if err != nil {
		return "", "", err
	}
	certificate = values.text("tls-cert")
	host, port, err := net.SplitHostPort(values.text("api-address"))
	if err != nil {
		return "", "", nil //nolint:nilerr // ferrite serve refuses it, or listens at its default address
	}
	if at, err := netip.ParseAddr(host); host == "" || err == nil && at.IsUnspecified() {
		host = "localhost"
	}
	scheme := "http://"
	if certificate != "" {
		scheme = "https://"
	}
	return scheme + net.JoinHostPort(host, port), certificate, nil
}
