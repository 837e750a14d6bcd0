package inventory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/proto/placeholder"
)

// IPMI sends a command to the machine's own BMC and returns the answer after
// the completion code; fs.ErrNotExist means that there is no BMC.
type IPMI interface {
	IPMI(netfn, cmd uint8, data []byte, timeout time.Duration) ([]byte, error)
}

// BMC has the addresses of the machine's BMC; empty fields are not known. Channel
// is the LAN channel that has them.
type BMC struct {
	IPv4, IPv6, MAC string
	Channel         byte
}

// IPMI 2.0: the commands and LAN parameters used (tables 22-24 and 23-4, and
// for IPv6 table 23-4 of errata 4).
const (
	netfnApp, netfnTransport = 0x06, 0x0c
	getChannelInfo           = 0x42
	getLANParams             = 0x02
	mediumLAN                = 4
	paramIP                  = 3
	paramMAC                 = 5
	paramIPv6Static          = 56
	paramIPv6Dynamic         = 59
	lastChannel              = 0x0b
)

// A BMC may be slow; all of the search together has this long.
const (
	ipmiTimeout = time.Second
	bmcPatience = 5 * time.Second
)

// FindBMC asks the BMC for the address of its first LAN channel that has one.
func FindBMC(ctx context.Context, k IPMI, log *slog.Logger) BMC {
	ctx, cancel := context.WithTimeout(ctx, bmcPatience)
	defer cancel()
	for channel := byte(1); channel <= lastChannel && ctx.Err() == nil; channel++ {
		info, err := k.IPMI(netfnApp, getChannelInfo, []byte{channel}, ipmiTimeout)
		if errors.Is(err, fs.ErrNotExist) {
			return BMC{}
		}
		if err != nil || len(info) < 2 || info[1]&0x7f != mediumLAN {
			continue // most channels are not there
		}
		b, err := lanAddress(k, channel)
		if err != nil {
			log.Info("BMC channel does not say its address", "channel", channel, "err", err)
			continue
		}
		if b.IPv4 != "" || b.IPv6 != "" {
			b.Channel = channel
			return b
		}
	}
	return BMC{}
}

// lanAddress reads the parameters of one LAN channel.
func lanAddress(k IPMI, channel byte) (BMC, error) {
	var b BMC
	ip, err := lanParam(k, channel, paramIP, 4)
	if err != nil {
		return b, err
	}
	if a, ok := netip.AddrFromSlice(ip); ok && !a.IsUnspecified() {
		b.IPv4 = a.String()
	}
	if mac, err := lanParam(k, channel, paramMAC, 6); err == nil {
		b.MAC = placeholder.MAC(net.HardwareAddr(mac[:6]).String())
	}
	for _, param := range []byte{paramIPv6Static, paramIPv6Dynamic} {
		// Set selector, source and enable bits, the address, its prefix, status.
		v6, err := lanParam(k, channel, param, 18)
		if err != nil {
			continue // an older BMC
		}
		if a, ok := netip.AddrFromSlice(v6[2:18]); ok && !a.IsUnspecified() {
			b.IPv6 = a.String()
			break
		}
	}
	return b, nil
}

// lanParam reads one parameter's data, after its revision.
func lanParam(k IPMI, channel, param byte, least int) ([]byte, error) {
	answer, err := k.IPMI(netfnTransport, getLANParams, []byte{channel, param, 0, 0}, ipmiTimeout)
	if err != nil {
		return nil, err
	}
	if len(answer) < 1+least {
		return nil, fmt.Errorf("LAN parameter %d has %d bytes, expected %d", param, len(answer)-1, least)
	}
	return answer[1:], nil
}
