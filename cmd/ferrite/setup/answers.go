package setup

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strings"
)

// Where `ferrite ramdisk build --profile metal --out /srv/ferrite` puts the ramdisk.
const (
	ramdiskKernel = "/srv/ferrite/metal.vmlinuz"
	ramdiskInitrd = "/srv/ferrite/metal.initramfs"
)

const apiPort = "6385"

// answers are the values that make a configuration. An empty value has its default.
type answers struct {
	Interface, APIAddress, DataDir string
	Pool, Router, DHCP             string
	DNS                            []string
	Kernel, Initrd                 string
	Admin, password                string
	generated                      bool   // the password was made here
	Certificate, CertificateKey    string // make, none or the path of one; then the path of its key
	Names                          []string
	made                           bool // the certificate has an authority of ours
}

// The values of --certificate that are no file.
const (
	makeCertificate = "make"
	noCertificate   = "none"
)

// fill sets defaults that no question depends on, and refuses flags that contradict each other.
func (o *options) fill() error {
	if o.Admin == "" || strings.ContainsAny(o.Admin, ":\r\n") {
		return fmt.Errorf("--admin %q: a name is not empty and holds no colon and no line break", o.Admin)
	}
	file := o.Certificate != "" && o.Certificate != makeCertificate && o.Certificate != noCertificate
	if file != (o.CertificateKey != "") {
		return errors.New("--certificate FILE and --certificate-key go together: one of them is missing")
	}
	if (o.Kernel == "") != (o.Initrd == "") {
		return errors.New("--ramdisk-kernel and --ramdisk-initrd go together: one of them is missing")
	}
	if _, err := os.Stat(ramdiskKernel); o.Kernel == "" && err == nil {
		o.Kernel, o.Initrd = ramdiskKernel, ramdiskInitrd
	}
	return nil
}

// complete sets the values that are still open, once all questions are asked.
func (o *options) complete() error {
	if o.Interface == "" && (o.Pool != "" || o.Router != "" || len(o.DNS) > 0 || o.DHCP != "") {
		return errors.New("--pool, --router, --dns and --dhcp are for the boot service: say --interface, too")
	}
	if o.APIAddress == "" {
		at := "127.0.0.1"
		if o.Interface != "" {
			prefix, err := addressOf(o.Interface)
			if err != nil {
				return err
			}
			at = prefix.Addr().String()
		}
		o.APIAddress = net.JoinHostPort(at, apiPort)
	}
	if err := o.chooseCertificate(); err != nil {
		return err
	}
	if known, err := o.knowsAdmin(); err != nil || known || o.password != "" {
		return err
	}
	o.password, o.generated = rand.Text(), true
	return nil
}

// chooseCertificate uses an existing certificate. It makes none for the loopback, and one for any other address.
func (o *options) chooseCertificate() error {
	if o.Certificate != "" {
		return nil
	}
	if _, err := os.Stat(o.path(certificateFile)); err == nil {
		o.Certificate, o.CertificateKey = o.path(certificateFile), o.path(keyFile)
		_, err = os.Stat(o.path(authorityFile))
		o.made = err == nil
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	o.Certificate = makeCertificate
	if loopback(o.APIAddress) {
		o.Certificate = noCertificate
	}
	return nil
}

// tls reports whether the API is https.
func (a *answers) tls() bool { return a.Certificate != noCertificate }

func loopback(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return false
	}
	at, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && at.IsLoopback()
}

// addressOf is the first IPv4 address of an interface.
func addressOf(name string) (netip.Prefix, error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("--interface %s: there is no such interface; this host has %s", name, interfaces())
	}
	addrs, err := i.Addrs()
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("--interface %s: %w", name, err)
	}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() {
			return p, nil
		}
	}
	return netip.Prefix{}, fmt.Errorf("--interface %s has no IPv4 address: give it one of the machines' network", name)
}

// interfaces are the interfaces that machines could boot from, each with its address, in words.
func interfaces() string {
	all, err := net.Interfaces()
	if err != nil {
		return "interfaces that cannot be listed: " + err.Error()
	}
	var names []string
	for _, i := range all {
		if i.Flags&net.FlagLoopback != 0 {
			continue
		}
		if p, err := addressOf(i.Name); err == nil {
			names = append(names, i.Name+" ("+p.String()+")")
		}
	}
	if len(names) == 0 {
		return "none with an IPv4 address but lo"
	}
	return strings.Join(names, ", ")
}
