// Package ra answers IPv6 router solicitations with an advertisement that
// offers nothing (RFC 4861): no router, no prefix, no DHCPv6. iPXE waits some
// thirteen seconds for one on a link without an IPv6 router; any answer ends the wait.
//
// It must not announce itself unasked, nor answer machines that are not ours.
package ra

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
)

const (
	typeSolicit   = 133 // RFC 4861 section 4.1
	typeAdvertise = 134 // section 4.2
	optionSource  = 1   // source link-layer address, section 4.6.1
)

// errNotSolicit means a message that is not a router solicitation.
var errNotSolicit = errors.New("not a router solicitation")

// parse reads a router solicitation, ICMPv6 header included, and returns the
// MAC in its source link-layer option, nil when there is none.
func parse(b []byte) (net.HardwareAddr, error) {
	if len(b) < 8 || b[0] != typeSolicit || b[1] != 0 {
		return nil, errNotSolicit
	}
	for o := b[8:]; len(o) > 0; {
		if len(o) < 8 || o[1] == 0 || len(o) < int(o[1])*8 {
			return nil, fmt.Errorf("router solicitation of %d bytes with a malformed option", len(b))
		}
		if o[0] == optionSource && o[1] == 1 {
			return net.HardwareAddr(append([]byte(nil), o[2:8]...)), nil
		}
		o = o[int(o[1])*8:]
	}
	return nil, nil
}

// advert is a router advertisement with a router lifetime of zero ("not a
// default router") and all else unspecified. The kernel fills in the checksum.
func advert(own net.HardwareAddr) []byte {
	b := make([]byte, 16, 24)
	b[0] = typeAdvertise
	binary.BigEndian.PutUint16(b[6:], 0) // router lifetime
	if len(own) == 6 {
		b = append(append(b, optionSource, 1), own...)
	}
	return b
}
