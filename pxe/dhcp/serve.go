package dhcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/socket"
	"github.com/insomniacslk/dhcp/dhcpv4"
)

const (
	// workers answer up to atOnce requests each at a time; the kernel queues the rest and drops the overflow. Most of
	// an answer is the flush of its lease, which requests answered together share.
	workers    = 64
	askTimeout = 3 * time.Second // for the questions to the Booter, and for the writes to the Leases
	slowAnswer = 5 * time.Millisecond
)

// Config configures a server. Interface, Server, Subnets, Booter, Leases and Log are required.
type Config struct {
	Interface  string     // the only one served; empty (tests, or relays alone): answers go where the request came from
	Server     netip.Addr // our address on it: server identifier and next server
	URL        string     // base of boot HTTP, e.g. http://10.77.0.1:8088
	Subnets    []Subnet
	Port       uint16 // 0: 67
	ClientPort uint16 // 0: 68
	Booter     pxe.Booter
	Leases     pxe.Leases
	OtherDHCP  bool         // another DHCP server on the boot network is expected
	Recorder   pxe.Recorder // of all requests; nil: none
	Log        *slog.Logger
	Now        func() time.Time // nil: time.Now
}

// Server is a DHCP server with open sockets. Its methods are safe for concurrent use.
//
// Requests of one machine are answered in order. Many workers share one flush of the leases (see answer.go): a lease
// is on record before its machine gets the ACK (RFC 2131 section 4.3.1). Reservations beat leases:
// docs/decisions/0016-reservation-beats-lease.md.
type Server struct {
	*complainer
	conf       Config
	wire       *wire
	neighbours *neighbours
	prober     *prober // nil: addresses are not probed

	machineMu [1 << 14]sync.Mutex // by MAC: a machine's requests are answered in order; taken before recordMu
	recordMu  sync.RWMutex        // read-locked while a lease goes on record, locked while all leases are read

	mu   sync.Mutex // guards pool; taken after recordMu
	pool *Pool
}

// filled is the configuration with its defaults.
func (c Config) filled() Config {
	if c.Port == 0 {
		c.Port = dhcpv4.ServerPort
	}
	if c.Recorder == nil {
		c.Recorder = pxe.NoRecorder{}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.ClientPort = c.clientPort()
	return c
}

// Listen reads the leases on record and opens the sockets. Serve must follow.
func Listen(ctx context.Context, c Config) (*Server, error) {
	c = c.filled()
	leases, err := c.Leases.Leases(ctx)
	if err != nil {
		return nil, fmt.Errorf("dhcp: read the leases on record: %w", err)
	}
	pool, err := NewPool(c.Subnets, []netip.Addr{c.Server}, resume(ctx, c, leases))
	if err != nil {
		return nil, fmt.Errorf("dhcp: %w", err)
	}
	pool.began = c.Now()
	aside, err := c.Leases.Declines(ctx)
	if err != nil {
		return nil, fmt.Errorf("dhcp: read the declined addresses on record: %w", err)
	}
	for _, d := range aside {
		pool.SetAside(d, pool.began)
	}
	w, err := openWire(ctx, c.Interface, c.Server, c.Port, false)
	if err != nil {
		return nil, err
	}
	if err := socket.Queue(w.udp); err != nil {
		c.Log.Warn("dhcp has a short queue", "err", err)
	}
	s := &Server{complainer: newComplainer(c), conf: c, wire: w, pool: pool, neighbours: newNeighbours(c)}
	if c.Interface != "" {
		if s.prober, err = newProber(c); err != nil {
			c.Log.Warn("dhcp does not look whether an address is in use before it offers it", "err", err)
		}
		pool.probing = s.prober != nil
	}
	return s, nil
}

// Addr is where the server listens.
func (s *Server) Addr() netip.AddrPort { return s.wire.udp.LocalAddr().(*net.UDPAddr).AddrPort() }

// Client returns the machine that has ip now, as its last DHCP request showed it. It is
// asked when that address calls, with the MAC that the caller gives, or nil.
func (s *Server) Client(ip netip.Addr, mac net.HardwareAddr) (pxe.Client, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pool.Use(ip, mac, s.conf.Now())
	return s.pool.Client(ip, mac, s.conf.Now())
}

// Reload reads the leases on record again: to be called when reservations changed. It waits for leases that are being
// written: otherwise it could read the record before such a write, and take it over after.
func (s *Server) Reload(ctx context.Context) error {
	s.recordMu.Lock()
	defer s.recordMu.Unlock()
	leases, err := s.conf.Leases.Leases(ctx)
	if err != nil {
		return fmt.Errorf("dhcp: read the leases on record: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.pool.Reload(leases); err != nil {
		return fmt.Errorf("dhcp: %w", err)
	}
	return nil
}

// Serve answers requests until ctx ends, then closes the sockets. It returns
// nil when ctx ended it.
func (s *Server) Serve(ctx context.Context) error {
	// The read deadline wakes the workers; the sockets close when none uses them any more.
	stop := context.AfterFunc(ctx, func() { _ = s.wire.udp.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() { s.logStrangers(ctx) })
	if s.prober != nil {
		s.probeRound(ctx, true) // requests wait for it in the kernel's queue
		wg.Go(func() { s.probe(ctx) })
	}
	for range workers {
		wg.Go(func() {
			s.wire.requests(ctx, s.complainer, s.conf.Recorder, func(in []incoming) { s.handle(ctx, in...) })
		})
	}
	wg.Wait()
	return s.Close()
}

// logStrangers asks of every lease that was on record whether its machine is still
// enrolled, so that strangers' leases count as theirs after a restart as well.
func (s *Server) logStrangers(ctx context.Context) {
	s.mu.Lock()
	leased := s.pool.leased()
	s.mu.Unlock()
	for _, c := range leased {
		boot, err := s.conf.Booter.Boot(ctx, c)
		if ctx.Err() != nil {
			return
		}
		if err != nil { // it is asked for again when the machine asks for its address
			s.complain("boot policy gave no answer", "mac", c.MAC.String(), "err", err)
			continue
		}
		s.mu.Lock()
		s.pool.mark(c.MAC, boot.Stranger || boot.Action == pxe.Ignore)
		s.pool.own(c.MAC, boot.Owner)
		s.mu.Unlock()
	}
}

// Close frees the sockets of a server that was never served.
func (s *Server) Close() error { return errors.Join(s.wire.close(), s.prober.close()) }

// handle answers requests and reports how far their machines got.
func (s *Server) handle(ctx context.Context, in ...incoming) {
	for len(in) > 0 {
		n, done := s.take(in)
		all, room := make([]*exchange, n), make([]exchange, n)
		for i := range all {
			all[i] = &room[i]
			all[i].peer, all[i].req = in[i].peer, in[i].req
		}
		s.answer(ctx, all)
		done()
		s.reply(ctx, all)
		in = in[n:]
	}
}

// take locks the turns of the requests' machines, up to the first repetition, and returns their number. It locks them
// in ascending order, so that workers cannot deadlock.
func (s *Server) take(in []incoming) (n int, done func()) {
	turns := make([]int, 0, atOnce)
	for _, one := range in {
		mac := one.req.ClientHWAddr
		turn := (int(mac[4])<<8 | int(mac[5])) % len(s.machineMu)
		if slices.Contains(turns, turn) {
			break
		}
		turns = append(turns, turn)
	}
	n = len(turns)
	slices.Sort(turns)
	for _, turn := range turns {
		s.machineMu[turn].Lock()
	}
	return n, func() {
		for _, turn := range turns {
			s.machineMu[turn].Unlock()
		}
	}
}

// reply sends the decided replies.
func (s *Server) reply(ctx context.Context, all []*exchange) {
	debug := s.conf.Log.Enabled(ctx, slog.LevelDebug) // a line's words cost more than an answer's
	out := make([]*outgoing, 0, len(all))
	for _, x := range all {
		s.neighbours.noted(x.event, "named in a ", x.event.Message)
		if x.decision.reply == nil {
			continue
		}
		// Before the reply is out, so that stages are reported in their order. An
		// operating system's DHCP is no step of a network boot.
		if stage, ok := stageOf(x.decision.reply); ok && x.client.Firmware != pxe.System {
			if x.event.Reason == pxe.ReasonNoLoader {
				stage, x.client.Detail = pxe.StageNone, s.noLoader(x.client)
			}
			s.conf.Booter.Reached(ctx, x.client, stage)
		}
		x.route = destination(x.decision.reply, ports{server: s.conf.Port, client: s.conf.ClientPort})
		x.bytes = s.bytesOf(x.req, x.decision.reply)
		out = append(out, &x.outgoing)
	}
	s.wire.send(out...)
	for _, x := range all {
		if x.unsent != nil {
			x.event.Answer, x.event.Reason, x.event.Detail = "", pxe.ReasonNotSent, x.unsent.Error()
			// a request names its relay, which may be anything
			s.complain("dhcp reply not sent", "mac", x.client.MAC.String(), "to", x.to, "err", x.unsent)
		}
		if debug {
			s.conf.Log.Debug("dhcp request", "mac", x.client.MAC.String(), "firmware", x.client.Firmware, "request",
				x.event.Message, "reply", x.event.Answer, "reason", x.event.Reason, "detail", x.client.Detail, "ip", x.client.IP,
				"from", x.peer, "to", x.to)
		}
		s.conf.Recorder.Record(x.event)
	}
}

func stageOf(reply *dhcpv4.DHCPv4) (pxe.Stage, bool) {
	switch {
	case messageType(reply) == dhcpv4.MessageTypeOffer:
		return pxe.StageOffer, true
	case messageType(reply) == dhcpv4.MessageTypeAck && addr(reply.YourIPAddr).IsValid():
		return pxe.StageAck, true
	default:
		return "", false
	}
}
