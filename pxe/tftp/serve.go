// Package tftp serves boot loaders over TFTP, read-only, from one folder (RFC 1350, with blksize, tsize and
// windowsize: RFC 2347, 2348, 2349, 7440). A request without a place waits for one, and is not turned away: see
// waiting.go.
//
// It must not accept writes, leave the folder, or give different clients different files.
package tftp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/loader"
	"github.com/ferrite-metal/ferrite/pxe/socket"
)

const (
	defaultPort  = 69
	transferTime = 5 * time.Minute // for a whole file: loaders are under 1 MB
	blockTime    = time.Second     // until a block is sent again
	blockTries   = 6
	maxBlock     = 1468 // fits an Ethernet frame: fragments get lost where boot ROMs live
)

// Config configures a server. Server, Loaders, Booter and Log are required.
type Config struct {
	Interface string     // the only one served; empty: all
	Server    netip.Addr // our address
	Port      uint16     // 0: 69
	Loaders   loader.Folder
	Booter    pxe.Booter                          // receives StageTFTP, is never asked
	Client    func(netip.Addr) (pxe.Client, bool) // finds the machine with an address; nil: no machine is known
	Transfers int                                 // at a time; 0: 1024
	Recorder  pxe.Recorder                        // of all requests; nil: none
	Log       *slog.Logger
}

// Server is a TFTP server with an open port.
type Server struct {
	conf Config
	udp  *net.UDPConn

	wg sync.WaitGroup
	mu sync.Mutex // guards the fields below
	places
}

// Listen opens the port. Serve must follow.
func Listen(ctx context.Context, c Config) (*Server, error) {
	if c.Port == 0 {
		c.Port = defaultPort
	}
	if c.Transfers == 0 {
		c.Transfers = defaultTransfers
	}
	if c.Recorder == nil {
		c.Recorder = pxe.NoRecorder{}
	}
	udp, err := socket.UDP(ctx, "tftp", c.Interface, netip.AddrPortFrom(c.Server, c.Port))
	if err != nil {
		return nil, err
	}
	if err := socket.Queue(udp); err != nil {
		c.Log.Warn("tftp has a short queue", "err", err)
	}
	return &Server{conf: c, udp: udp, places: newPlaces()}, nil
}

// Addr is where the server listens.
func (s *Server) Addr() netip.AddrPort { return s.udp.LocalAddr().(*net.UDPAddr).AddrPort() }

// Close frees the port of a server that was never served.
func (s *Server) Close() error { return s.udp.Close() }

// Serve answers requests until ctx ends, then cuts the transfers under way
// and closes the port. It returns nil when ctx ended it.
func (s *Server) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = s.udp.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	s.wg.Go(func() { s.admit(ctx) })
	buf := make([]byte, maxRequest+1)
	for ctx.Err() == nil {
		n, peer, err := s.udp.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			break
		}
		if err != nil {
			if ctx.Err() == nil { // the interface went down, say: it may come back
				s.conf.Log.Debug("tftp cannot read", "err", err)
				time.Sleep(100 * time.Millisecond)
			}
			continue
		}
		s.handle(ctx, buf[:n], netip.AddrPortFrom(peer.Addr().Unmap(), peer.Port()))
	}
	s.wg.Wait()
	return s.udp.Close()
}

// handle answers one request: with an ERROR, with a transfer, or, when it has to wait or is a repetition, not at all.
func (s *Server) handle(ctx context.Context, b []byte, peer netip.AddrPort) {
	log := s.conf.Log.With("from", peer)
	req, err := parseRequest(b)
	var refused *requestError
	switch {
	case errors.As(err, &refused):
		s.record(peer, pxe.Event{Reason: pxe.ReasonReadOnly, Answer: "ERROR", Detail: refused.text})
		s.refuse(log, peer, refused.code, refused.text)
		return
	case err != nil:
		s.record(peer, pxe.Event{Reason: pxe.ReasonMalformed, Detail: err.Error()})
		log.Debug("tftp packet ignored", "err", err)
		return
	}
	file, _, err := s.conf.Loaders.Open(req.name)
	if err != nil { // no place is needed to say so
		s.refuseFile(log.With("file", req.name), peer, req.name, err)
		return
	}
	_ = file.Close() // nothing was written
	if ctx, mine := s.begin(ctx, peer, string(b), req); mine != nil {
		s.start(ctx, peer, req, mine)
	}
}

// start begins a transfer that has its place.
func (s *Server) start(ctx context.Context, peer netip.AddrPort, req request, mine *place) {
	log := s.conf.Log.With("from", peer, "file", req.name)
	file, info, err := s.conf.Loaders.Open(req.name)
	if err != nil {
		s.end(peer, mine)
		s.refuseFile(log, peer, req.name, err)
		return
	}
	s.reached(ctx, peer.Addr(), info.Name())
	answer := fmt.Sprintf("%d bytes", info.Size())
	if !strings.HasSuffix(req.name, info.Name()) {
		answer += " of " + info.Name()
	}
	s.record(peer, pxe.Event{File: req.name, Answer: answer})
	t := newTransfer(s.conf, log, peer, req, file, info.Size())
	t.onAck = func(moved int64) {
		mine.acked.Store(true)
		mine.moved.Store(moved)
	}
	s.wg.Go(func() {
		defer s.end(peer, mine)
		t.run(ctx)
	})
}

// record completes the event of a request with its machine.
func (s *Server) record(peer netip.AddrPort, e pxe.Event) {
	e.Service, e.Message, e.IP = pxe.TFTP, "READ", peer.Addr()
	if s.conf.Client != nil {
		if c, ok := s.conf.Client(e.IP); ok {
			e.MAC, e.Firmware, e.Arch = c.MAC, c.Firmware, c.Arch
		}
	}
	s.conf.Recorder.Record(e)
}

func (s *Server) refuse(log *slog.Logger, peer netip.AddrPort, code uint16, text string) {
	log.Debug("tftp request refused", "why", text)
	if _, err := s.udp.WriteToUDPAddrPort(errorPacket(code, text), peer); err != nil {
		log.Debug("tftp error not sent", "err", err)
	}
}

func (s *Server) refuseFile(log *slog.Logger, peer netip.AddrPort, name string, err error) {
	e := pxe.Event{File: name, Answer: "ERROR", Reason: pxe.ReasonNoFile}
	switch {
	case errors.Is(err, loader.ErrName):
		s.refuse(log, peer, codeAccess, "not a file name here")
	case errors.Is(err, fs.ErrNotExist):
		s.refuse(log, peer, codeNotFound, "file not found")
	default:
		log.Warn("boot loader not served", "err", err)
		e.Reason, e.Detail = pxe.ReasonUnreadable, err.Error()
		s.refuse(log, peer, codeAccess, "file cannot be read")
	}
	s.record(peer, e)
}

func (s *Server) reached(ctx context.Context, ip netip.Addr, file string) {
	if s.conf.Client == nil {
		return
	}
	if c, ok := s.conf.Client(ip); ok {
		c.Detail = file
		s.conf.Booter.Reached(ctx, c, pxe.StageTFTP)
	}
}
