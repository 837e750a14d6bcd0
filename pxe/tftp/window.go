package tftp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"time"
)

// errTimeout means that nothing came in within blockTime.
var errTimeout = errors.New("no answer from the client")

// windowed is the state of a transfer with a window (RFC 7440): up to window
// blocks are sent, then one ACK says how many arrived in order.
type windowed struct {
	*transfer
	udp    *net.UDPConn
	block  int   // bytes to a block
	blocks int64 // in all; the last is shorter than block, if need be empty
	acked  int64 // blocks the client has
	buf    []byte
	in     []byte
}

// sendWindows sends the file by windows.
func (t *transfer) sendWindows(ctx context.Context, udp *net.UDPConn) error {
	block := defaultBlock
	if t.req.block > 0 {
		block = min(t.req.block, maxBlock)
	}
	w := &windowed{transfer: t, udp: udp, block: block, blocks: t.size/int64(block) + 1,
		buf: make([]byte, 4+block), in: make([]byte, maxRequest)}
	stop := context.AfterFunc(ctx, func() { _ = udp.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := w.until(ctx, 0, func() error { return w.write(w.oack()) }); err != nil {
		return fmt.Errorf("option acknowledgement: %w", err)
	}
	for w.acked < w.blocks {
		last := min(w.acked+int64(t.req.window), w.blocks)
		if err := w.until(ctx, last, func() error { return w.sendUpTo(last) }); err != nil {
			return fmt.Errorf("after block %d of %d: %w", w.acked, w.blocks, err)
		}
	}
	return nil
}

// until sends, and sends again, until an ACK moves the transfer on.
func (w *windowed) until(ctx context.Context, last int64, send func() error) error {
	obey := true
	for range blockTries {
		if err := send(); err != nil {
			return err
		}
		done, err := w.await(ctx, last, &obey)
		if done || err != nil {
			return err
		}
	}
	return fmt.Errorf("%w in %d tries", errTimeout, blockTries)
}

// await waits for progress; done is false when it is time to send again. An
// ACK that stands still says that the window's first block was lost. It is obeyed
// once: answering every repetition would double the traffic each time.
func (w *windowed) await(ctx context.Context, last int64, obey *bool) (done bool, err error) {
	if err := w.udp.SetReadDeadline(time.Now().Add(blockTime)); err != nil {
		return false, err
	}
	for {
		moved, err := w.ack(ctx, last)
		switch {
		case errors.Is(err, errTimeout):
			return false, nil
		case err != nil:
			return false, err
		case moved || last == 0:
			return true, nil
		case *obey:
			*obey = false
			return false, nil
		}
	}
}

// sendUpTo sends the blocks after the acknowledged ones.
func (w *windowed) sendUpTo(last int64) error {
	for n := w.acked + 1; n <= last; n++ {
		binary.BigEndian.PutUint16(w.buf, opData)
		binary.BigEndian.PutUint16(w.buf[2:], uint16(n)) // rolls over, as clients expect
		got, err := w.file.ReadAt(w.buf[4:], (n-1)*int64(w.block))
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read block %d: %w", n, err)
		}
		if n < w.blocks && got < w.block {
			return fmt.Errorf("read block %d: the file became shorter", n)
		}
		if err := w.write(w.buf[:4+got]); err != nil {
			return err
		}
	}
	return nil
}

// ack reads up to the next ACK of a block not yet acknowledged (moved) or of
// the last one that was (not moved).
func (w *windowed) ack(ctx context.Context, last int64) (moved bool, err error) {
	for {
		n, from, err := w.udp.ReadFromUDPAddrPort(w.in)
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case errors.Is(err, os.ErrDeadlineExceeded):
			return false, errTimeout
		case err != nil:
			return false, err
		case netip.AddrPortFrom(from.Addr().Unmap(), from.Port()) != w.peer || n < 4:
			continue
		}
		number := binary.BigEndian.Uint16(w.in[2:])
		switch binary.BigEndian.Uint16(w.in) {
		case opError:
			return false, fmt.Errorf("the client says: error %d %q", number, w.in[4:n])
		case opAck:
			ahead := int64(number - uint16(w.acked)) // in the window's terms, whatever the roll-over
			if ahead <= last-w.acked {
				w.onAck()
				w.acked += ahead
				return ahead > 0, nil
			}
		}
	}
}

// oack accepts the options the client asked for, as far as they are met.
func (w *windowed) oack() []byte {
	options := []string{"windowsize", strconv.Itoa(w.req.window)}
	if w.req.block > 0 {
		options = append(options, "blksize", strconv.Itoa(w.block))
	}
	if w.req.size {
		options = append(options, "tsize", strconv.FormatInt(w.size, 10))
	}
	b := []byte{0, opOACK}
	for _, o := range options {
		b = append(append(b, o...), 0)
	}
	return b
}

func (w *windowed) write(b []byte) error {
	_, err := w.udp.WriteToUDPAddrPort(b, w.peer)
	return err
}
