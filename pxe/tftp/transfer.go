package tftp

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/ferrite-metal/ferrite/pxe/socket"
)

// transfer is one file on its way to one client: up to window blocks are sent, then one ACK says how many arrived in
// order (RFC 7440). A window of one block is RFC 1350.
type transfer struct {
	conf   Config
	log    *slog.Logger
	peer   netip.AddrPort
	req    request
	file   *os.File
	size   int64
	onAck  func(moved int64) // called when the client has acknowledged so many bytes in all, which may be none
	udp    *net.UDPConn
	window int
	block  int   // bytes to a block
	blocks int64 // in all; the last is shorter than block, if need be empty
	acked  int64 // blocks the client has
	buf    []byte
	in     []byte
}

func newTransfer(c Config, log *slog.Logger, peer netip.AddrPort, r request, file *os.File, size int64) *transfer {
	block := defaultBlock
	if r.block > 0 {
		block = min(r.block, maxBlock)
	}
	return &transfer{conf: c, log: log, peer: peer, req: r, file: file, size: size, window: max(r.window, 1), block: block,
		blocks: size/int64(block) + 1, buf: make([]byte, 4+block), in: make([]byte, maxRequest), onAck: func(int64) {}}
}

// run sends the file from a port of its own (RFC 1350 section 4) and returns
// when it is there, the client gave up, time is up, or ctx ended.
func (t *transfer) run(ctx context.Context) {
	start := time.Now()
	err := t.send(ctx)
	log := t.log.With("bytes", t.size, "took", time.Since(start).Round(time.Millisecond))
	if err != nil {
		// Firmware often asks for the size only, and ends the transfer with an error of its own.
		log.Debug("tftp transfer ended early", "err", err)
		return
	}
	log.Debug("tftp transfer done", "window", t.window)
}

func (t *transfer) send(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, t.file.Close()) }()
	t.udp, err = socket.UDP(ctx, "tftp transfer", t.conf.Interface, netip.AddrPortFrom(t.conf.Server, 0))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.udp.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, transferTime)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = t.udp.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	err = t.sendWindows(ctx)
	if errors.Is(context.Cause(ctx), errSlow) && t.acked > 0 {
		err = errors.Join(errSlow, t.write(errorPacket(0, errSlow.Error()+": ask again")))
	}
	return err
}
