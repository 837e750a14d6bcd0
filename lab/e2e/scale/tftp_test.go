//go:build e2e

package scale

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// Of TFTP (RFC 1350, RFC 2347). EDK2 asks for blocks and windows of these sizes.
const (
	opData, opAck, opError, opOACK = 3, 4, 5, 6
	tftpBlock, tftpWindow          = 1468, 4
	tftpPatience                   = 6 * time.Second // until firmware repeats itself
	tftpRepeats                    = 6               // until it gives up
)

// fetchTFTP gets a file as firmware does, and returns its size.
func (b *boots) fetchTFTP(ctx context.Context, from, server netip.Addr, file string) (size int64, err error) {
	var c *net.UDPConn
	if err := b.do(func() (err error) {
		c, err = net.ListenUDP("udp4", &net.UDPAddr{IP: from.AsSlice()})
		return err
	}); err != nil {
		return 0, err
	}
	defer c.Close()
	to := netip.AddrPortFrom(server, 69)
	last := fmt.Appendf([]byte{0, 1}, "%s\x00octet\x00tsize\x000\x00blksize\x00%d\x00windowsize\x00%d\x00",
		file, tftpBlock, tftpWindow)
	buf, block, in := make([]byte, tftpBlock+4), uint16(0), 0
	for repeats := 0; ctx.Err() == nil; {
		if last != nil {
			if _, err := c.WriteToUDPAddrPort(last, to); err != nil {
				return size, err
			}
		}
		if err := c.SetReadDeadline(time.Now().Add(tftpPatience)); err != nil {
			return size, err
		}
		n, peer, err := c.ReadFromUDPAddrPort(buf)
		if err != nil {
			if repeats++; repeats > tftpRepeats {
				return size, fmt.Errorf("no answer to %d requests after %d bytes", repeats, size)
			}
			last, in = orACK(last, block), 0
			continue
		}
		if n < 4 || buf[1] == opError {
			return size, fmt.Errorf("refused: %q", buf[:n])
		}
		to, repeats = peer, 0
		if buf[1] == opData && binary.BigEndian.Uint16(buf[2:]) == block+1 {
			block, in, size = block+1, in+1, size+int64(n-4)
		}
		whole := buf[1] == opData && n < len(buf)
		if last = nil; buf[1] == opOACK || in == tftpWindow || whole {
			last, in = orACK(nil, block), 0
		}
		if whole {
			_, err := c.WriteToUDPAddrPort(last, to)
			return size, err
		}
	}
	return size, ctx.Err()
}

// orACK is a packet that is not answered yet, or else the acknowledgement of a block.
func orACK(request []byte, block uint16) []byte {
	if request != nil && block == 0 {
		return request
	}
	return binary.BigEndian.AppendUint16([]byte{0, opAck}, block)
}
