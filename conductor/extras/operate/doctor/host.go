package doctor

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

	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// lookAtData reports whether a conductor would start on the folder.
func lookAtData(ctx context.Context, h Host) []Finding {
	d := h.Folder
	switch {
	case d.Server.URL != "":
		return []Finding{good("the database is on a server: %s", store.PostgresName(d.Server.URL))}
	case !d.Has(datafolder.DatabaseFile):
		if err := d.LostDatabase(); err != nil {
			return []Finding{bad("ferrite docs data-folder", "%v", err)}
		}
		return []Finding{good("%s is empty: the first start makes a database", d.Dir)}
	}
	schema, err := store.SchemaVersion(ctx, d.Path(datafolder.DatabaseFile))
	if err != nil {
		return []Finding{bad("ferrite server store check", "%v", err)}
	}
	if missing := d.MissingKeys(schema); len(missing) > 0 {
		return []Finding{bad("ferrite docs data-folder", "%v", missing[0])}
	}
	return []Finding{good("database and keys are in %s, schema version %d", d.Dir, schema)}
}

// How little room is too little: for a few hours of writes, and for the rewrite of a database.
const (
	scarce = 1 << 30
	tooFew = 100 << 20
)

func lookAtDisk(_ context.Context, h Host) []Finding {
	dir := h.Folder.Dir
	var s unix.Statfs_t
	err := unix.Statfs(dir, &s)
	for errors.Is(err, unix.ENOENT) && dir != filepath.Dir(dir) { // the first start makes it
		dir = filepath.Dir(dir)
		err = unix.Statfs(dir, &s)
	}
	if err != nil {
		return []Finding{bad("mount it", "%s: %v", dir, err)}
	}
	free := int64(s.Bavail) * s.Bsize
	const try = "make room: a full disk refuses writes"
	switch text := fmt.Sprintf("%.1f GB free at %s", float64(free)/1e9, dir); {
	case free < tooFew:
		return []Finding{bad(try, "%s", text)}
	case free < scarce:
		return []Finding{warn(try, "%s", text)}
	default:
		return []Finding{good("%s", text)}
	}
}

// lookAtPorts binds the ports that a conductor would bind. A running conductor has them in use, as it should.
func lookAtPorts(ctx context.Context, h Host) (all []Finding) {
	if h.Running {
		return []Finding{good("a conductor runs, and has its ports")}
	}
	wanted := []struct{ network, address string }{{"tcp", h.APIAddress}}
	if h.Boot != nil {
		if at, _, err := h.Boot.Address(); err == nil {
			wanted = append(wanted, struct{ network, address string }{"udp4", ":67"},
				struct{ network, address string }{"udp4", net.JoinHostPort(at.String(), "69")},
				struct{ network, address string }{"tcp", fmt.Sprintf("%s:%d", at, h.Boot.HTTPPort)})
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
			all = append(all, bad("stop the program that uses it: ss -lntup", "%s %s is in use", w.network, w.address))
		case errors.Is(err, syscall.EACCES):
			all = append(all, warn("run as root", "%s %s: this user may not look", w.network, w.address))
		default:
			all = append(all, bad("give this host the address, or change the setting", "%v", err))
		}
	}
	return all
}

// lookAtAPI asks a running conductor whether it can serve.
func lookAtAPI(ctx context.Context, h Host) []Finding {
	if !h.Running {
		return []Finding{warn("systemctl start ferrite, or: ferrite serve", "no conductor runs in %s", h.Folder.Dir)}
	}
	url := h.APIURL + "/readyz"
	// Whether the certificate is good is another look; this is the conductor of this host's configuration.
	client := http.Client{Timeout: 5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // see above
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return []Finding{bad("correct --api-address", "%v", err)}
	}
	answer, err := client.Do(req)
	if err != nil {
		return []Finding{bad("journalctl -u ferrite", "%v", err)}
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return []Finding{bad("journalctl -u ferrite", "%s answers %s", url, answer.Status)}
	}
	all := []Finding{good("%s answers", url)}
	for header, text := range map[string]string{
		nodeapi.HeaderClock: "the clock of the conductor is %s from this host's, which was set while it ran: it " +
			"follows by a minute in an hour",
		nodeapi.HeaderDatabaseClock: "the clock of the cluster's database is %s from this host's",
	} {
		at, err := time.Parse(time.RFC3339, answer.Header.Get(header)) // a conductor has one of them
		if off := h.Now().Sub(at).Round(time.Second); err == nil && off.Abs() >= time.Minute {
			all = append(all, warn("check the clock, then: systemctl restart ferrite", text, off))
		}
	}
	return all
}

func lookAtInterface(_ context.Context, h Host) []Finding {
	if h.Boot == nil {
		return nil
	}
	name := h.Boot.Interface
	i, err := net.InterfaceByName(name)
	if err != nil {
		return []Finding{bad("ip link; ferrite server setup --overwrite", "%s: %v", name, err)}
	}
	if i.Flags&net.FlagUp == 0 {
		return []Finding{bad("ip link set "+name+" up", "%s is down", name)}
	}
	if i.Flags&net.FlagRunning == 0 {
		return []Finding{bad("check cable and switch", "%s has no link", name)}
	}
	at, own, err := h.Boot.Address()
	if err != nil {
		return []Finding{bad("ip address", "%v", err)}
	}
	return []Finding{good("%s is up, %s, %s", name, at, own)}
}

// lookAtRamdisk looks for the files that machines boot.
func lookAtRamdisk(_ context.Context, h Host) (all []Finding) {
	if h.Boot == nil {
		return nil
	}
	if h.Boot.Kernel == "" {
		all = append(all, bad("ferrite ramdisk build --profile metal --out /srv/ferrite, then "+
			"ferrite server setup --overwrite", "no ramdisk is configured: machines boot nothing"))
	} else {
		all = append(all, good("%s and %s are there", h.Boot.Kernel, h.Boot.Initrd))
	}
	for _, loader := range []string{"undionly.kpxe", "snponly.efi"} {
		if _, err := os.Stat(filepath.Join(h.Boot.LoaderDir, loader)); errors.Is(err, fs.ErrNotExist) {
			return append(all, bad("apt-get install ipxe, or set --loader-dir", "%s is not in %s", loader, h.Boot.LoaderDir))
		}
	}
	return append(all, good("boot loaders are in %s", h.Boot.LoaderDir))
}

// expiresSoon is when a certificate is to be renewed.
const expiresSoon = 30 * 24 * time.Hour

func lookAtCertificate(_ context.Context, h Host) []Finding {
	if h.TLSCert == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(h.TLSCert, h.TLSKey)
	if err != nil {
		return []Finding{bad("ferrite docs tls", "%v", err)}
	}
	cert, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return []Finding{bad("ferrite docs tls", "%s: %v", h.TLSCert, err)}
	}
	left, until := cert.NotAfter.Sub(h.Now()), cert.NotAfter.UTC().Format(time.DateOnly)
	const try = "renew it: ferrite docs tls"
	switch {
	case left <= 0:
		return []Finding{bad(try, "%s ended on %s", h.TLSCert, until)}
	case h.Now().Before(cert.NotBefore):
		return []Finding{bad("set the clock", "%s begins on %s", h.TLSCert, cert.NotBefore.UTC().Format(time.DateOnly))}
	case left < expiresSoon:
		return []Finding{warn(try, "%s ends on %s", h.TLSCert, until)}
	}
	return []Finding{good("%s is valid until %s", h.TLSCert, until)}
}

// lookAtClock asks the kernel whether something keeps its clock (adjtimex(2)).
func lookAtClock(_ context.Context, h Host) []Finding {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	now := h.Now().UTC().Format(time.RFC3339)
	switch {
	case err != nil:
		return []Finding{warn("run as root", "the clock says %s; whether it is kept is not known: %v", now, err)}
	case state == unix.TIME_ERROR || t.Status&unix.STA_UNSYNC != 0:
		return []Finding{warn("timedatectl set-ntp true, or install chrony",
			"the clock says %s, and nothing keeps it right", now)}
	}
	return []Finding{good("the clock says %s, and is kept right", now)}
}
