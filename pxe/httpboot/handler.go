// Package httpboot serves boot files over HTTP: the boot loaders (UEFI HTTP boot), each machine's iPXE script, and the
// kernel and ramdisk it names. Everything specific to a machine comes from pxe.Booter, asked anew for every request.
//
// It must not decide which machine boots, and it changes nothing: GET and HEAD only.
package httpboot

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/loader"
)

const askTimeout = 3 * time.Second // for one question to the Booter

// Holder finds the machine that has an address. mac is the MAC that the caller claims, or nil: it decides where
// machines in several racks have the address.
type Holder func(ip netip.Addr, mac net.HardwareAddr) (pxe.Client, bool)

// Config configures the handler. URL, Loaders, Booter and Log are required.
type Config struct {
	URL     string // base that machines reach this handler under, no slash at the end
	Loaders loader.Folder
	Booter  pxe.Booter
	Client  Holder                  // nil: no machine is known
	Foreign bool                    // another DHCP server gives the addresses: a machine is served at any
	Extra   map[string]http.Handler // more handlers by path prefix ("/deploy/"), which they see unstripped
	Log     *slog.Logger

	Recorder pxe.Recorder // of all requests; nil: none
}

type handler struct {
	Config
	warned warnings
}

// New returns the handler for boot HTTP.
func New(c Config) http.Handler {
	if c.Recorder == nil {
		c.Recorder = pxe.NoRecorder{}
	}
	h := &handler{Config: c}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+pxe.LoaderPath("{file...}"), h.loader)
	mux.HandleFunc("GET "+pxe.StartPath(), h.start)
	mux.HandleFunc("GET /ipxe/{mac}", h.machine(h.script, pxe.Client{Script: true, Files: true}))
	mux.HandleFunc("GET /boot/{mac}/kernel", h.machine(h.kernel, pxe.Client{Files: true}))
	mux.HandleFunc("GET /boot/{mac}/initrd", h.machine(h.initrd, pxe.Client{Files: true}))
	mux.HandleFunc("GET /boot/{mac}/overlay", h.machine(h.overlay, pxe.Client{}))
	mux.HandleFunc("GET /boot/{mac}/failed", h.machine(h.failed, pxe.Client{}))
	for prefix, extra := range c.Extra {
		mux.Handle(prefix, h.recorded(prefix, extra))
	}
	return unhurried(h.unserved(mux))
}

// machine resolves the {mac} of a path to the client and its boot, and answers 404 with the reason when it is not to
// boot. A boot script holds the boot's one-time token: only the address that DHCP leased to the machine gets it.
func (h *handler) machine(serve func(http.ResponseWriter, *http.Request, pxe.Client, pxe.Boot),
	asks pxe.Client) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		mac, err := net.ParseMAC(r.PathValue("mac"))
		if err != nil || len(mac) != 6 {
			h.record(r, pxe.Event{Reason: pxe.ReasonBadPath})
			h.refuse(w, r, http.StatusNotFound, fmt.Sprintf("%.40q is not a MAC address: expected one such as "+
				"52-54-00-77-00-01",
				r.PathValue("mac")))
			return
		}
		c := h.client(r, mac)
		if known, ok := h.known(c.IP, mac); !h.Foreign && (!ok || known.MAC.String() != mac.String()) {
			h.record(r, pxe.Event{MAC: mac, Claimed: true, Reason: pxe.ReasonNotLent})
			h.Log.Log(r.Context(), h.warned.level(c.IP, time.Now()),
				"boot file refused: the caller's address is not lent to the machine", "mac", mac.String(), "from", c.IP,
				"path", r.URL.Path)
			http.Error(w,
				fmt.Sprintf("%s is not the address that DHCP lent to %v; if another DHCP server gives the addresses, "+
					"start the conductor with --other-dhcp", c.IP, mac), http.StatusForbidden)
			return
		}
		c.Script, c.Files = asks.Script, asks.Files
		ctx, cancel := context.WithTimeout(r.Context(), askTimeout)
		defer cancel()
		boot, err := h.Booter.Boot(ctx, c)
		switch {
		case err != nil:
			h.record(r, pxe.Event{MAC: mac, Claimed: h.Foreign, Reason: pxe.ReasonPolicy, Detail: err.Error()})
			h.Log.Warn("boot policy gave no answer", "mac", mac.String(), "path", r.URL.Path, "err", err)
			http.Error(w, "the boot policy gave no answer, see the server's log; try again",
				http.StatusServiceUnavailable)
		case boot.Action == pxe.Ignore:
			h.record(r, pxe.Event{MAC: mac, Claimed: h.Foreign, Reason: boot.Why})
			h.refuse(w, r, http.StatusNotFound, fmt.Sprintf("%v is not a machine of ours", mac))
		default:
			serve(w, r, c, boot)
		}
	}
}

// client is the machine mac as DHCP last saw it, at the address that asks now.
func (h *handler) client(r *http.Request, mac net.HardwareAddr) pxe.Client {
	c := pxe.Client{MAC: mac, Firmware: pxe.IPXE, IP: clientaddr.Of(r), Detail: r.UserAgent()}
	if known, ok := h.known(c.IP, mac); ok && known.MAC.String() == mac.String() {
		c.Arch, c.Lent = known.Arch, known.Lent
	}
	return c
}

func (h *handler) known(ip netip.Addr, mac net.HardwareAddr) (pxe.Client, bool) {
	if h.Client == nil {
		return pxe.Client{}, false
	}
	return h.Client(ip, mac)
}

func (h *handler) refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	h.Log.Debug("boot http request refused", "from", clientaddr.Of(r), "path", r.URL.Path, "status", status, "why", why)
	http.Error(w, why, status)
}

// reached reports a stage once per download: a HEAD fetches nothing, and a
// later range belongs to a download already reported.
func (h *handler) reached(r *http.Request, c pxe.Client, s pxe.Stage) {
	if !begins(r) {
		return
	}
	h.Log.Debug("boot http", "mac", c.MAC.String(), "ip", c.IP, "path", r.URL.Path)
	h.Booter.Reached(r.Context(), c, s)
}
