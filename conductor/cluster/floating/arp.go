package floating

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	"github.com/mdlayher/packet"
	"golang.org/x/sys/unix"
)

var broadcast = net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// announce gives the neighbours the MAC of the address, and the switches its port. It sends a gratuitous ARP request
// (RFC 5227, 3), which every implementation accepts.
func announce(a Address) error {
	i, err := net.InterfaceByName(a.Interface)
	if err != nil {
		return err
	}
	conn, err := packet.Listen(i, packet.Raw, unix.ETH_P_ARP, nil)
	if err != nil {
		return fmt.Errorf("announce %s on %s: %w", a.Prefix.Addr(), a.Interface, err)
	}
	_, err = conn.WriteTo(gratuitous(a, i.HardwareAddr), &packet.Addr{HardwareAddr: broadcast})
	if err = errors.Join(err, conn.Close()); err != nil {
		return fmt.Errorf("announce %s on %s: %w", a.Prefix.Addr(), a.Interface, err)
	}
	return nil
}

// gratuitous is the frame: RFC 826, with one address as sender and target.
func gratuitous(a Address, mac net.HardwareAddr) []byte {
	ip := a.Prefix.Addr().As4()
	frame := append(append([]byte{}, broadcast...), mac...)
	frame = binary.BigEndian.AppendUint16(frame, unix.ETH_P_ARP)
	frame = binary.BigEndian.AppendUint16(frame, 1) // Ethernet
	frame = binary.BigEndian.AppendUint16(frame, unix.ETH_P_IP)
	frame = append(frame, 6, 4, 0, 1) // lengths of MAC and IP, a request
	frame = append(append(frame, mac...), ip[:]...)
	return append(append(frame, 0, 0, 0, 0, 0, 0), ip[:]...)
}
