package ironic

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/lab/network"
	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/dhcp"
)

// bootScript is Ironic's own first script: it asks for the one of the machine
// it runs on.
const bootScript = "boot.ipxe"

// Boot serves machines as the network of a Neutron or of a standalone dnsmasq would: an address for every machine,
// Ironic's boot script for network boots, and Ironic's files over HTTP. It serves until stop is called.
func (i *Ironic) Boot(ctx context.Context, log *slog.Logger) (addresses *Addresses, stop func() error, err error) {
	files, err := i.Files()
	if err != nil {
		return nil, nil, err
	}
	addresses = &Addresses{}
	var service *dhcp.Server
	err = i.lab.Network.Do(func() (err error) {
		service, err = dhcp.Listen(ctx, dhcp.Config{
			Interface: network.BridgeName, Server: i.Address, URL: i.BootURL(), Subnets: []dhcp.Subnet{i.subnet()},
			Booter: everybody{}, Leases: addresses, Log: log,
		})
		return err
	})
	if err != nil {
		return nil, nil, errors.Join(err, files())
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() { served <- service.Serve(ctx) }()
	return addresses, func() error {
		cancel()
		return errors.Join(<-served, files())
	}, nil
}

// Files serves Ironic's files over HTTP: for machines, and for BMCs that read virtual media. It serves until stop is
// called.
func (i *Ironic) Files() (stop func() error, err error) {
	web, err := i.lab.Network.Listen("tcp", netip.AddrPortFrom(i.Address, bootPort).String())
	if err != nil {
		return nil, fmt.Errorf("boot http: %w", err)
	}
	server := &http.Server{Handler: i.files(), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(web) }()
	return func() error {
		err := server.Close()
		if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
		return err
	}, nil
}

// files serves Ironic's folder. Our DHCP sends iPXE to a path of its own, from
// where it is sent on: the boot script names others as relative to itself.
func (i *Ironic) files() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(i.Root)))
	mux.Handle("/ipxe/{mac}", http.RedirectHandler("/"+bootScript, http.StatusFound))
	return mux
}

// subnet is the lab's, its upper half for machines.
func (i *Ironic) subnet() dhcp.Subnet {
	first, last := i.Address.As4(), i.Address.As4()
	first[3], last[3] = 128, 254
	return dhcp.Subnet{
		Prefix: i.lab.Network.Subnet, First: netip.AddrFrom4(first), Last: netip.AddrFrom4(last), Router: i.Address,
	}
}

// everybody boots every machine that asks: its BMC, set by Ironic, decides whether it starts
// from the network.
type everybody struct{}

func (everybody) Boot(context.Context, pxe.Client) (pxe.Boot, error) {
	return pxe.Boot{Action: pxe.Ramdisk}, nil
}

func (everybody) Reached(context.Context, pxe.Client, pxe.Stage) {}

// Addresses are the leases of a boot service that is started once: it reads
// none.
type Addresses struct {
	mu  sync.Mutex
	all map[string]netip.Addr
}

// Of is the address a machine was lent last.
func (a *Addresses) Of(mac string) (netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ip, lent := a.all[mac]
	if !lent {
		return ip, fmt.Errorf("%s has not been lent an address", mac)
	}
	return ip, nil
}

// Leases implements pxe.Leases.
func (a *Addresses) Leases(context.Context) ([]pxe.Lease, error) { return nil, nil }

// SaveLease implements pxe.Leases.
func (a *Addresses) SaveLease(_ context.Context, leases ...pxe.Lease) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[string]netip.Addr{}
	}
	for _, l := range leases {
		a.all[l.MAC.String()] = l.IP
	}
	return nil
}

// Declines implements pxe.Leases.
func (a *Addresses) Declines(context.Context) ([]pxe.Decline, error) { return nil, nil }

// SaveDecline implements pxe.Leases.
func (a *Addresses) SaveDecline(_ context.Context, d pxe.Decline) error {
	return a.EndLease(context.Background(), pxe.Lease{MAC: d.MAC})
}

// EndLease implements pxe.Leases.
func (a *Addresses) EndLease(_ context.Context, l pxe.Lease) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.all, l.MAC.String())
	return nil
}
