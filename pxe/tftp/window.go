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

// sendWindows sends the file by windows.
func (t *transfer) sendWindows(ctx context.Context) error {
	if oack := t.oack(); oack != nil {
		if err := t.until(ctx, 0, func() error { return t.write(oack) }); err != nil {
			return fmt.Errorf("option acknowledgement: %w", err)
		}
	}
	for t.acked < t.blocks {
		last := min(t.acked+int64(t.window), t.blocks)
		if err := t.until(ctx, last, func() error { return t.sendUpTo(last) }); err != nil {
			return fmt.Errorf("after block %d of %d: %w", t.acked, t.blocks, err)
		}
	}
	return nil
}

// until sends, and sends again, until an ACK moves the transfer on.
func (t *transfer) until(ctx context.Context, last int64, send func() error) error {
	obey := t.window > 1 // else a repeated ACK would have every block sent twice from then on (RFC 1123, section 4.2.3.1)
	for range blockTries {
		if err := send(); err != nil {
			return err
		}
		done, err := t.await(ctx, last, &obey)
		if done || err != nil {
			return err
		}
	}
	return fmt.Errorf("%w in %d tries", errTimeout, blockTries)
}

// await waits for progress; done is false when it is time to send again. An
// ACK that stands still says that the window's first block was lost. It is obeyed
// once: answering every repetition would double the traffic each time.
func (t *transfer) await(ctx context.Context, last int64, obey *bool) (done bool, err error) {
	if err := t.udp.SetReadDeadline(time.Now().Add(blockTime)); err != nil {
		return false, err
	}
	for ctx.Err() == nil { // its end may have come before the deadline was set
		moved, err := t.ack(ctx, last)
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
	return false, ctx.Err()
}

// sendUpTo sends the blocks after the acknowledged ones.
func (t *transfer) sendUpTo(last int64) error {
	for n := t.acked + 1; n <= last; n++ {
		binary.BigEndian.PutUint16(t.buf, opData)
		binary.BigEndian.PutUint16(t.buf[2:], uint16(n)) // rolls over, as clients expect
		got, err := t.file.ReadAt(t.buf[4:], (n-1)*int64(t.block))
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read block %d: %w", n, err)
		}
		if n < t.blocks && got < t.block {
			return fmt.Errorf("read block %d: the file became shorter", n)
		}
		if err := t.write(t.buf[:4+got]); err != nil {
			return err
		}
	}
	return nil
}

// ack reads up to the next ACK: of a new block (moved), or again of the last acknowledged block (not moved).
func (t *transfer) ack(ctx context.Context, last int64) (moved bool, err error) {
	for {
		n, from, err := t.udp.ReadFromUDPAddrPort(t.in)
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case errors.Is(err, os.ErrDeadlineExceeded):
			return false, errTimeout
		case err != nil:
			return false, err
		case netip.AddrPortFrom(from.Addr().Unmap(), from.Port()) != t.peer || n < 4:
			continue
		}
		number := binary.BigEndian.Uint16(t.in[2:])
		switch binary.BigEndian.Uint16(t.in) {
		case opError:
			return false, fmt.Errorf("the client says: error %d %q", number, t.in[4:n])
		case opAck:
			ahead := int64(number - uint16(t.acked)) // relative to the window, also after a roll-over
			if ahead <= last-t.acked {
				t.acked += ahead
				t.onAck(t.acked * int64(t.block))
				return ahead > 0, nil
			}
		}
	}
}

// oack accepts the options the client asked for, as far as they are met; nil for none.
func (t *transfer) oack() []byte {
	var options []string
	if t.req.window > 0 {
		options = append(options, "windowsize", strconv.Itoa(t.window))
	}
	if t.req.block > 0 {
		options = append(options, "blksize", strconv.Itoa(t.block))
	}
	if t.req.size {
		options = append(options, "tsize", strconv.FormatInt(t.size, 10))
	}
	if options == nil {
		return nil
	}
	b := []byte{0, opOACK}
	for _, o := range options {
		b = append(append(b, o...), 0)
	}
	return b
}

// write sends a packet. A packet that cannot be sent is as good as lost.
func (t *transfer) write(b []byte) error {
	if _, err := t.udp.WriteToUDPAddrPort(b, t.peer); errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
