package dhcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/insomniacslk/dhcp/dhcpv4"
)

// proxyPort is where firmware asks a proxyDHCP server once it has its address (PXE 2.1, section 2.2.3).
const proxyPort = 4011

// Proxy is a proxyDHCP server with open sockets: it names boot files, and another server on the link gives the
// addresses. Of Config it needs neither Subnets nor Leases. Its methods are safe for concurrent use.
type Proxy struct {
	*complainer
	conf       Config
	ports      ports
	wires      []*wire // of DHCP's port and of proxyPort
	neighbours *neighbours
}

// ListenProxy opens the sockets. Serve must follow. bootPort is 4011, others are for tests.
func ListenProxy(ctx context.Context, c Config, bootPort uint16) (*Proxy, error) {
	c = c.filled()
	if bootPort == 0 {
		bootPort = proxyPort
	}
	p := &Proxy{complainer: newComplainer(c), conf: c, neighbours: newNeighbours(c),
		ports: ports{server: c.Port, client: c.ClientPort}}
	for _, port := range []uint16{c.Port, bootPort} {
		w, err := openWire(ctx, c.Interface, c.Server, port, true)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("proxyDHCP: %w; a DHCP server on this host keeps port %d to itself: move it, "+
				"or let it name the boot file (--dhcp off)", err, port), p.Close())
		}
		p.wires = append(p.wires, w)
	}
	return p, nil
}

// Addr is where the proxy listens for DISCOVER; BootAddr is where it listens for firmware that has
// its address.
func (p *Proxy) Addr() netip.AddrPort { return p.wires[0].udp.LocalAddr().(*net.UDPAddr).AddrPort() }

// BootAddr is described at Addr.
func (p *Proxy) BootAddr() netip.AddrPort {
	return p.wires[1].udp.LocalAddr().(*net.UDPAddr).AddrPort()
}

// Close frees the sockets of a proxy that was never served.
func (p *Proxy) Close() error {
	var errs []error
	for _, w := range p.wires {
		errs = append(errs, w.close())
	}
	return errors.Join(errs...)
}

// Serve answers requests until ctx ends, then closes the sockets. It returns nil when ctx ended it.
func (p *Proxy) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		for _, w := range p.wires {
			_ = w.udp.SetReadDeadline(time.Unix(1, 0))
		}
	})
	defer stop()
	var wg sync.WaitGroup
	for i := range p.wires {
		wg.Go(func() {
			p.wires[i].requests(ctx, p.complainer, p.conf.Recorder, func(all []incoming) {
				for _, in := range all {
					p.handle(ctx, in, i == 1, p.wires[i])
				}
			})
		})
	}
	wg.Wait()
	return p.Close()
}

// handle answers one request and reports how far its machine got.
func (p *Proxy) handle(ctx context.Context, in incoming, bootPort bool, w *wire) {
	req := in.req
	c := clientOf(req)
	c.IP = addr(req.ClientIPAddr)
	e := eventOf(pxe.ProxyDHCP, c, req, p.conf.Server)
	defer func() { p.conf.Recorder.Record(e) }()
	p.neighbours.noted(e, "named in a "+e.Message)
	reply := p.answer(ctx, req, c, bootPort, &e)
	if reply == nil {
		return
	}
	stage := pxe.StageOffer
	if bootPort {
		stage = pxe.StageAck
	}
	p.conf.Booter.Reached(ctx, c, stage) // before the reply is out, so that stages are reported in their order
	r := outgoing{route: proxyDestination(reply, in.peer, bootPort, p.ports), bytes: p.bytesOf(req, reply), peer: in.peer}
	if w.send(&r); r.unsent != nil {
		e.Answer, e.Reason, e.Detail = "", pxe.ReasonNotSent, r.unsent.Error()
		p.complain("proxyDHCP reply not sent", "mac", c.MAC.String(), "to", r.to, "err", r.unsent)
		return
	}
	p.conf.Log.Debug("proxyDHCP reply", "mac", c.MAC.String(), "firmware", c.Firmware, "file", reply.BootFileNameOption(),
		"to", r.to)
}

// answer asks the Booter and builds the reply; nil means silence. The event gets the reason.
func (p *Proxy) answer(ctx context.Context, req *dhcpv4.DHCPv4, c pxe.Client, bootPort bool,
	e *pxe.Event) *dhcpv4.DHCPv4 {
	if c.Firmware == pxe.System {
		e.Reason = pxe.ReasonSystem
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	boot, err := p.conf.Booter.Boot(ctx, c)
	if err != nil {
		p.complain("boot policy gave no answer, so proxyDHCP gives none", "mac", c.MAC.String(), "err", err)
		e.Reason, e.Detail = pxe.ReasonPolicy, err.Error()
		return nil
	}
	e.Known = boot.Action != pxe.Ignore && !boot.Stranger
	reply, reason := ProxyReply(req, boot, Answer{Server: p.conf.Server, URL: p.conf.URL}, bootPort)
	if reason == pxe.ReasonNoLoader {
		c.Detail = p.noLoader(c)
		p.conf.Booter.Reached(ctx, c, pxe.StageNone)
	}
	answered(e, reply, reason, "")
	if reason == pxe.ReasonOtherServer { // as it should be: that one gives the addresses
		e.Answer, e.Reason = leftToOther, ""
	}
	return reply
}
