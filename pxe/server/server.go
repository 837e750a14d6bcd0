// Package server wires the boot service: DHCP, TFTP, boot HTTP and router advertisements on one interface, from one
// Config.
//
// It must not hold policy: pxe.Booter decides about machines. (It is not package pxe itself, since the protocols
// import that for the contract.)
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/dhcp"
	"github.com/ferrite-metal/ferrite/pxe/httpboot"
	"github.com/ferrite-metal/ferrite/pxe/loader"
	"github.com/ferrite-metal/ferrite/pxe/ra"
	"github.com/ferrite-metal/ferrite/pxe/socket"
	"github.com/ferrite-metal/ferrite/pxe/tftp"
	"github.com/ferrite-metal/ferrite/pxe/watch"
)

// Defaults of Config.
const (
	DefaultLoaderDir = "/usr/lib/ipxe" // Debian's package ipxe
	DefaultHTTPPort  = 8088
)

// Config configures the boot service. Interface, Address, Subnets, Booter, Leases and Log are required; zero values
// elsewhere mean the default.
type Config struct {
	Interface string     // the only one served; empty (tests, relays alone): no broadcasts, no router advertisements
	Address   netip.Addr // this server's, on Interface: machines fetch everything from it
	Subnets   []dhcp.Subnet
	LoaderDir string                  // folder of boot loaders; DefaultLoaderDir
	HTTPAddr  netip.AddrPort          // where boot HTTP listens; Address and DefaultHTTPPort. With port 0 any free one
	Extra     map[string]http.Handler // more handlers on boot HTTP, by path prefix ("/deploy/")
	Booter    pxe.Booter
	Leases    pxe.Leases
	DHCP      DHCPMode
	Foreign   bool         // machines may have their addresses from another DHCP server: boot HTTP serves them at any
	Recorder  pxe.Recorder // receives every request, besides the watch; nil: none does
	Log       *slog.Logger
	Now       func() time.Time  // the clock of leases; nil: time.Now
	Proxies   connlimit.Proxies // before boot HTTP; nil for none

	DHCPPort       uint16 // 67, DHCPClientPort 68, TFTPPort 69: others are for tests
	DHCPClientPort uint16
	TFTPPort       uint16
	ProxyPort      uint16 // 4011
}

// DHCPMode is how a boot service takes part in DHCP.
type DHCPMode string

// The modes. The zero value is DHCPFull.
const (
	DHCPFull  DHCPMode = "full"  // it gives the addresses
	DHCPProxy DHCPMode = "proxy" // it names boot files, beside a server that gives the addresses (PXE 2.1)
	DHCPOff   DHCPMode = "off"   // the other server does both
)

// DHCPModes are all there are.
func DHCPModes() []string { return []string{string(DHCPFull), string(DHCPProxy), string(DHCPOff)} }

// Server is a boot service with open sockets. Its methods are safe for concurrent use.
type Server struct {
	conf Config
	url  string
	web  net.Listener
	tftp *tftp.Server
	dhcp *dhcp.Server // nil where another server gives the addresses

	proxy *dhcp.Proxy // nil but in DHCPProxy
	ra    *ra.Server  // nil where the interface has no IPv6

	others *dhcp.Listener // of other DHCP servers; nil where it cannot be had
	watch  *watch.Log
}

// Listen checks the configuration and opens every socket, or none: machines
// can be served from then on, once Serve is called.
func Listen(ctx context.Context, c Config) (*Server, error) {
	if c.LoaderDir == "" {
		c.LoaderDir = DefaultLoaderDir
	}
	if c.DHCP == "" {
		c.DHCP = DHCPFull
	}
	if c.DHCP != DHCPFull {
		c.Foreign = true
	}
	if !c.HTTPAddr.IsValid() {
		c.HTTPAddr = netip.AddrPortFrom(c.Address, DefaultHTTPPort)
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &Server{conf: c, watch: watch.New(time.Now, c.Foreign)}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	c.Log.Info("boot service listens", "interface", c.Interface, "dhcp", c.DHCP, "tftp", s.tftp.Addr(), "http", s.url)
	return s, nil
}

// recorder takes note of every request on the boot network.
func (s *Server) recorder() pxe.Recorder {
	if s.conf.Recorder == nil {
		return s.watch
	}
	return both{s.watch, s.conf.Recorder}
}

// both takes note twice.
type both [2]pxe.Recorder

// Record gives the event to both.
func (b both) Record(e pxe.Event) {
	b[0].Record(e)
	b[1].Record(e)
}

func (c Config) check() error {
	if !c.Address.Is4() || c.Address.IsUnspecified() {
		return fmt.Errorf("boot service: address %v: expected the IPv4 address machines reach this server under",
			c.Address)
	}
	if !slices.Contains(DHCPModes(), string(c.DHCP)) {
		return fmt.Errorf("boot service: DHCP mode %q: expected one of %s", c.DHCP, strings.Join(DHCPModes(), ", "))
	}
	if len(c.Subnets) == 0 && c.DHCP == DHCPFull {
		return errors.New("boot service: no subnet is configured: name at least the one of the boot interface")
	}
	if err := loader.Folder(c.LoaderDir).Check(); err != nil {
		return fmt.Errorf("boot service: %w", err)
	}
	return nil
}

func (s *Server) open(ctx context.Context) (err error) {
	c := s.conf
	if s.web, err = socket.TCP(ctx, "boot http", "", c.HTTPAddr); err != nil {
		return err
	}
	port := s.web.Addr().(*net.TCPAddr).AddrPort().Port()
	s.url = "http://" + netip.AddrPortFrom(c.Address, port).String()
	if err := s.openDHCP(ctx); err != nil {
		return err
	}
	s.tftp, err = tftp.Listen(ctx, tftp.Config{
		Interface: c.Interface, Server: c.Address, Port: c.TFTPPort, Loaders: loader.Folder(c.LoaderDir),
		Booter: c.Booter, Client: s.holder, Recorder: s.recorder(), Log: c.Log,
	})
	if err != nil {
		return err
	}
	s.openRA()
	s.openListener()
	return nil
}

func (s *Server) dhcpConfig() dhcp.Config {
	c := s.conf
	return dhcp.Config{
		Interface: c.Interface, Server: c.Address, URL: s.url, Subnets: c.Subnets,
		Port: c.DHCPPort, ClientPort: c.DHCPClientPort, Booter: c.Booter, Leases: c.Leases,
		OtherDHCP: c.Foreign, Recorder: s.recorder(), Log: c.Log, Now: c.Now,
	}
}

// openDHCP opens the sockets of the configured mode.
func (s *Server) openDHCP(ctx context.Context) (err error) {
	c, conf := s.conf, s.dhcpConfig()
	switch c.DHCP {
	case DHCPFull:
		s.dhcp, err = dhcp.Listen(ctx, conf)
	case DHCPProxy:
		s.proxy, err = dhcp.ListenProxy(ctx, conf, c.ProxyPort)
	case DHCPOff:
	}
	return err
}

// openRA is the one part the service can do without.
func (s *Server) openRA() {
	if s.conf.Interface == "" {
		return
	}
	answerer, err := ra.Listen(ra.Config{Interface: s.conf.Interface, Booter: s.conf.Booter, Log: s.conf.Log})
	if err != nil {
		s.conf.Log.Info("no router advertisements: some iPXE builds will wait for one", "err", err)
		return
	}
	s.ra = answerer
}

// openListener is the other part that the service can do without.
func (s *Server) openListener() {
	if s.conf.Interface == "" {
		return
	}
	l, err := dhcp.Overhear(s.dhcpConfig())
	if err != nil {
		s.conf.Log.Warn("other DHCP servers are noticed only when a machine names one", "err", err)
		return
	}
	s.others = l
}

// Close frees the sockets of a service that was never served.
func (s *Server) Close() error {
	var errs []error
	if s.web != nil {
		errs = append(errs, s.web.Close())
	}
	if s.dhcp != nil {
		errs = append(errs, s.dhcp.Close())
	}
	if s.proxy != nil {
		errs = append(errs, s.proxy.Close())
	}
	if s.tftp != nil {
		errs = append(errs, s.tftp.Close())
	}
	if s.ra != nil {
		errs = append(errs, s.ra.Close())
	}
	if s.others != nil {
		errs = append(errs, s.others.Close())
	}
	return errors.Join(errs...)
}

// Serve serves machines until ctx ends or a part fails; then all of it is
// closed. It returns nil when ctx ended it.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	web := httpboot.New(httpboot.Config{
		URL: s.url, Loaders: loader.Folder(s.conf.LoaderDir), Booter: s.conf.Booter,
		Client: s.Client, Foreign: s.conf.Foreign, Extra: s.conf.Extra, Recorder: s.recorder(), Log: s.conf.Log,
	})
	parts := []func(context.Context) error{
		s.tftp.Serve,
		func(ctx context.Context) error { return httpboot.Serve(ctx, s.web, web, s.conf.Proxies, s.conf.Log) },
	}
	if s.dhcp != nil {
		parts = append(parts, s.dhcp.Serve)
	}
	if s.proxy != nil {
		parts = append(parts, s.proxy.Serve)
	}
	if s.ra != nil {
		parts = append(parts, s.ra.Serve)
	}
	if s.others != nil {
		parts = append(parts, s.others.Serve)
	}
	errs := make([]error, len(parts))
	var wg sync.WaitGroup
	for i, part := range parts {
		wg.Go(func() {
			defer cancel()
			errs[i] = part(ctx)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Watch returns the latest requests on the boot network and their answers.
func (s *Server) Watch() *watch.Log { return s.watch }

// URL is the base of boot HTTP as machines reach it, no slash at the end.
func (s *Server) URL() string { return s.url }

// DHCPAddr is where DHCP listens; zero for DHCPOff. A proxy listens at ProxyAddr too.
func (s *Server) DHCPAddr() netip.AddrPort {
	switch {
	case s.dhcp != nil:
		return s.dhcp.Addr()
	case s.proxy != nil:
		return s.proxy.Addr()
	}
	return netip.AddrPort{}
}

// ProxyAddr is where firmware asks a proxyDHCP server once it has its address; zero but for DHCPProxy.
func (s *Server) ProxyAddr() netip.AddrPort {
	if s.proxy == nil {
		return netip.AddrPort{}
	}
	return s.proxy.BootAddr()
}

// TFTPAddr is where TFTP listens.
func (s *Server) TFTPAddr() netip.AddrPort { return s.tftp.Addr() }

// Client returns the machine that DHCP leased ip to, as its last request showed it; none where another server gives
// the addresses. mac is the MAC that the caller claims, or nil: it decides where machines in several racks have the
// address.
func (s *Server) Client(ip netip.Addr, mac net.HardwareAddr) (pxe.Client, bool) {
	if s.dhcp == nil {
		return pxe.Client{}, false
	}
	return s.dhcp.Client(ip, mac)
}

// holder is Client for a protocol that names no MAC.
func (s *Server) holder(ip netip.Addr) (pxe.Client, bool) { return s.Client(ip, nil) }

// Reservable finds the subnet, by its name or by the address, that ip is to be reserved in, and says why a
// reservation could never be honoured.
func (s *Server) Reservable(subnet string, ip netip.Addr) (string, error) {
	if s.dhcp == nil {
		return "", fmt.Errorf("this conductor gives no addresses (--dhcp %s): reserve %v at the DHCP server that does",
			s.conf.DHCP,
			ip)
	}
	return s.dhcp.Reservable(subnet, ip)
}

// Reload reads the leases on record again: to be called when reservations changed.
func (s *Server) Reload(ctx context.Context) error {
	if s.dhcp == nil {
		return nil
	}
	return s.dhcp.Reload(ctx)
}
