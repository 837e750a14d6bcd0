package tftp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/ferrite-metal/ferrite/pxe/socket"
	"github.com/pin/tftp/v3"
)

// transfer is one file on its way to one client.
type transfer struct {
	conf  Config
	log   *slog.Logger
	peer  netip.AddrPort
	req   request
	file  *os.File
	size  int64
	onAck func() // called when the client has acknowledged something
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
	log.Debug("tftp transfer done", "window", max(t.req.window, 1))
}

func (t *transfer) send(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, t.file.Close()) }()
	udp, err := socket.UDP(ctx, "tftp transfer", t.conf.Interface, netip.AddrPortFrom(t.conf.Server, 0))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, udp.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, transferTime)
	defer cancel()
	if t.req.window > 1 && t.req.octet {
		return t.sendWindows(ctx, udp)
	}
	return t.sendBlocks(ctx, udp)
}

// sendBlocks lets pin/tftp send the file, block by block. Each transfer has a server of
// its own on a socket of ours: one shared server would answer from whatever address the
// kernel picks, and firmware only listens to the one it asked.
func (t *transfer) sendBlocks(ctx context.Context, udp *net.UDPConn) error {
	sent := make(chan error, 1)
	srv := tftp.NewServer(func(_ string, rf io.ReaderFrom) error {
		if out, ok := rf.(tftp.OutgoingTransfer); ok {
			out.SetSize(t.size)
		}
		_, err := rf.ReadFrom(t.file)
		sent <- err
		return err
	}, nil)
	srv.SetBlockSize(maxBlock)
	srv.SetBlockSizeNegotiation(false) // it cannot see the MTU behind our socket; maxBlock bounds the size
	srv.SetTimeout(blockTime)
	srv.SetRetries(math.MaxInt32)                        // counted by lockstep
	srv.SetBackoff(func(int) time.Duration { return 0 }) // blockTime passed already
	srv.EnableSinglePort()
	conn := newLockstep(udp, t.peer, t.req.encode(maxBlock))
	conn.onAck = t.onAck
	served := make(chan error, 1)
	go func() { served <- srv.Serve(conn) }()
	stop := context.AfterFunc(ctx, conn.interrupt)
	err := <-sent
	stop()
	srv.Shutdown()
	close(conn.over)
	return errors.Join(ctx.Err(), err, <-served)
}
