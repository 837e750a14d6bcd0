package sys

import (
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/mdlayher/packet"
)

// frames are an interface's frames of one type.
type frames struct{ conn *packet.Conn }

// Frames receives the Ethernet frames of one type that come to an interface,
// those to the multicast groups too: each Read is a frame with its header.
// Close wakes it.
func (Linux) Frames(name string, etherType uint16, groups []net.HardwareAddr) (io.ReadCloser, error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return nil, fmt.Errorf("frames of %s: %w", name, err)
	}
	conn, err := packet.Listen(i, packet.Raw, int(etherType), nil)
	if err != nil {
		return nil, fmt.Errorf("frames of %s: %w", name, err)
	}
	for _, g := range groups {
		if err := conn.JoinGroup(g); err != nil {
			return nil, errors.Join(fmt.Errorf("frames of %s: join %s: %w", name, g, err), conn.Close())
		}
	}
	return frames{conn}, nil
}

// Read waits for the next frame, and cuts it to the length of b.
func (f frames) Read(b []byte) (int, error) {
	n, _, err := f.conn.ReadFrom(b)
	return n, err
}

// Close ends the reception.
func (f frames) Close() error { return f.conn.Close() }
