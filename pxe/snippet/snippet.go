// Package snippet writes the settings for a site's own DHCP server, so that its machines boot from this boot service
// (ferrite serve --dhcp off).
//
// It is pure text: a table of DHCP servers, and a table of boot files. It opens no files or sockets.
package snippet

import (
	"bytes"
	"embed"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"text/template"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/loader"
)

//go:embed *.tmpl
var texts embed.FS

// servers are the templates of the DHCP servers, by the name that a user gives.
var servers = map[string]string{
	"kea": "kea.tmpl", "isc": "isc.tmpl", "dnsmasq": "dnsmasq.tmpl", "windows": "windows.tmpl",
}

// Servers are the names of the DHCP servers, sorted.
func Servers() []string { return slices.Sorted(maps.Keys(servers)) }

// Boot names a machine's boot files and their server.
type Boot struct {
	Server     netip.Addr // next server, for TFTP
	Script     string     // URL for iPXE
	BIOS, UEFI string     // files by TFTP
	HTTP       string     // URL for UEFI HTTP boot
}

// Text is the snippet for a DHCP server. base is the URL of boot HTTP, http://ADDRESS:PORT.
func Text(server, base string) (string, error) {
	file, known := servers[server]
	if !known {
		return "", fmt.Errorf("there is no snippet for the DHCP server %.40q: expected one of %s", server,
			strings.Join(Servers(), ", "))
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" || u.Path != "" || u.RawQuery != "" {
		return "", fmt.Errorf("the URL of boot HTTP is %.100q: expected http://ADDRESS:PORT", base)
	}
	at, err := netip.ParseAddr(u.Hostname())
	if err != nil || !at.Is4() {
		return "", fmt.Errorf("the URL of boot HTTP is %.100q: expected an IPv4 address as its host", base)
	}
	b := Boot{Server: at, Script: base + pxe.StartPath()}
	b.BIOS, _ = loader.For(pxe.BIOS, 0)
	b.UEFI, _ = loader.For(pxe.UEFI, 7)
	web, _ := loader.For(pxe.UEFIHTTP, 16)
	b.HTTP = base + pxe.LoaderPath(web)
	t, err := template.New(file).ParseFS(texts, file)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, b); err != nil {
		return "", err
	}
	return out.String(), nil
}
