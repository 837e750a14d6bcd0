package serve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ferrite-metal/ferrite/conductor/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/store"
	bootserver "github.com/ferrite-metal/ferrite/pxe/server"
)

// lookAtData says whether a conductor would take the folder up.
func lookAtData(ctx context.Context, p patient) []finding {
	d := datafolder.Folder{Dir: p.conf.DataDir, Server: p.conf.server()}
	switch {
	case d.Server.URL != "":
		return []finding{good("the database is on a server: %s", store.PostgresName(d.Server.URL))}
	case !d.Has(datafolder.DatabaseFile):
		if err := d.LostDatabase(); err != nil {
			return []finding{bad("ferrite docs data-folder", "%v", err)}
		}
		return []finding{good("%s is empty: the first start makes a database", d.Dir)}
	}
	schema, err := store.SchemaVersion(ctx, d.Path(datafolder.DatabaseFile))
	if err != nil {
		return []finding{bad("ferrite store check", "%v", err)}
	}
	if missing := d.MissingKeys(schema); len(missing) > 0 {
		return []finding{bad("ferrite docs data-folder", "%v", missing[0])}
	}
	return []finding{good("database and keys are in %s, schema version %d", d.Dir, schema)}
}

// How little room is too little: for a few hours of writes, and for the rewrite of a database.
const (
	scarce = 1 << 30
	tooFew = 100 << 20
)

func lookAtDisk(_ context.Context, p patient) []finding {
	dir := p.conf.DataDir
	var s unix.Statfs_t
	err := unix.Statfs(dir, &s)
	for errors.Is(err, unix.ENOENT) && dir != filepath.Dir(dir) { // the first start makes it
		dir = filepath.Dir(dir)
		err = unix.Statfs(dir, &s)
	}
	if err != nil {
		return []finding{bad("mount it", "%s: %v", dir, err)}
	}
	free := int64(s.Bavail) * s.Bsize
	const try = "make room: a full disk refuses writes"
	switch text := fmt.Sprintf("%.1f GB free at %s", float64(free)/1e9, dir); {
	case free < tooFew:
		return []finding{bad(try, "%s", text)}
	case free < scarce:
		return []finding{warn(try, "%s", text)}
	default:
		return []finding{good("%s", text)}
	}
}

// lookAtPorts binds what a conductor would; those of a running one are in use as they should be.
func lookAtPorts(ctx context.Context, p patient) (all []finding) {
	if p.running {
		return []finding{good("a conductor runs, and has its ports")}
	}
	wanted := []struct{ network, address string }{{"tcp", p.conf.APIAddress}}
	if p.conf.Boot {
		if at, _, err := p.conf.subnet(); err == nil {
			wanted = append(wanted, struct{ network, address string }{"udp4", ":67"},
				struct{ network, address string }{"udp4", net.JoinHostPort(at.String(), "69")},
				struct{ network, address string }{"tcp", fmt.Sprintf("%s:%d", at, bootserver.DefaultHTTPPort)})
		}
	}
	var conf net.ListenConfig
	for _, w := range wanted {
		var err error
		if w.network == "tcp" {
			var l net.Listener
			if l, err = conf.Listen(ctx, w.network, w.address); err == nil {
				err = l.Close()
			}
		} else {
			var c net.PacketConn
			if c, err = conf.ListenPacket(ctx, w.network, w.address); err == nil {
				err = c.Close()
			}
		}
		switch {
		case err == nil:
			all = append(all, good("%s %s is free", w.network, w.address))
		case errors.Is(err, syscall.EADDRINUSE):
			all = append(all, bad("stop the program that has it: ss -lntup", "%s %s is in use", w.network, w.address))
		case errors.Is(err, syscall.EACCES):
			all = append(all, warn("run as root", "%s %s: this user may not look", w.network, w.address))
		default:
			all = append(all, bad("give this host the address, or change the setting", "%v", err))
		}
	}
	return all
}

// lookAtAPI asks a running conductor whether it can serve.
func lookAtAPI(ctx context.Context, p patient) []finding {
	if !p.running {
		return []finding{warn("systemctl start ferrite, or: ferrite serve", "no conductor runs in %s", p.conf.DataDir)}
	}
	url := p.conf.scheme() + p.conf.APIAddress + "/readyz"
	// Whether the certificate is good is another look; this is the conductor of this host's configuration.
	client := http.Client{Timeout: 5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // see above
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return []finding{bad("correct --api-address", "%v", err)}
	}
	answer, err := client.Do(req)
	if err != nil {
		return []finding{bad("journalctl -u ferrite", "%v", err)}
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return []finding{bad("journalctl -u ferrite", "%s answers %s", url, answer.Status)}
	}
	return []finding{good("%s answers", url)}
}

func lookAtInterface(_ context.Context, p patient) []finding {
	if !p.conf.Boot {
		return nil
	}
	name := p.conf.BootInterface
	i, err := net.InterfaceByName(name)
	if err != nil {
		return []finding{bad("ip link; ferrite setup --overwrite", "%s: %v", name, err)}
	}
	if i.Flags&net.FlagUp == 0 {
		return []finding{bad("ip link set "+name+" up", "%s is down", name)}
	}
	if i.Flags&net.FlagRunning == 0 {
		return []finding{bad("look at cable and switch", "%s has no link", name)}
	}
	at, own, err := p.conf.subnet()
	if err != nil {
		return []finding{bad("ip address", "%v", err)}
	}
	return []finding{good("%s is up, %s, %s", name, at, own.Prefix)}
}

// lookAtRamdisk looks for what machines boot.
func lookAtRamdisk(_ context.Context, p patient) (all []finding) {
	if !p.conf.Boot {
		return nil
	}
	if p.conf.Kernel == "" {
		all = append(all, bad("ferrite image build --profile metal --out /srv/ferrite, then set --ramdisk-kernel and "+
			"--ramdisk-initrd", "no ramdisk is configured: machines boot nothing"))
	} else {
		all = append(all, good("%s and %s are there", p.conf.Kernel, p.conf.Initrd))
	}
	for _, loader := range []string{"undionly.kpxe", "snponly.efi"} {
		if _, err := os.Stat(filepath.Join(p.conf.LoaderDir, loader)); errors.Is(err, fs.ErrNotExist) {
			return append(all, bad("apt-get install ipxe, or set --loader-dir", "%s is not in %s", loader, p.conf.LoaderDir))
		}
	}
	return append(all, good("boot loaders are in %s", p.conf.LoaderDir))
}

// expiresSoon is when a certificate is to be renewed.
const expiresSoon = 30 * 24 * time.Hour

func lookAtCertificate(_ context.Context, p patient) []finding {
	if p.conf.TLSCert == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(p.conf.TLSCert, p.conf.TLSKey)
	if err != nil {
		return []finding{bad("ferrite docs tls", "%v", err)}
	}
	cert, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return []finding{bad("ferrite docs tls", "%s: %v", p.conf.TLSCert, err)}
	}
	left, until := cert.NotAfter.Sub(p.now()), cert.NotAfter.UTC().Format(time.DateOnly)
	const try = "renew it: ferrite docs tls"
	switch {
	case left <= 0:
		return []finding{bad(try, "%s ended on %s", p.conf.TLSCert, until)}
	case p.now().Before(cert.NotBefore):
		return []finding{bad("set the clock", "%s begins on %s", p.conf.TLSCert, cert.NotBefore.UTC().Format(time.DateOnly))}
	case left < expiresSoon:
		return []finding{warn(try, "%s ends on %s", p.conf.TLSCert, until)}
	}
	return []finding{good("%s is valid until %s", p.conf.TLSCert, until)}
}

// lookAtClock asks the kernel whether something keeps its clock (adjtimex(2)).
func lookAtClock(_ context.Context, p patient) []finding {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	now := p.now().UTC().Format(time.RFC3339)
	switch {
	case err != nil:
		return []finding{warn("run as root", "the clock says %s; whether it is kept is not known: %v", now, err)}
	case state == unix.TIME_ERROR || t.Status&unix.STA_UNSYNC != 0:
		return []finding{warn("timedatectl set-ntp true, or install chrony",
			"the clock says %s, and nothing keeps it right", now)}
	}
	return []finding{good("the clock says %s, and is kept right", now)}
}
