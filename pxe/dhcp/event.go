package dhcp

import (
	"cmp"
	"errors"
	"net/netip"
	"path"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/insomniacslk/dhcp/dhcpv4"
)

// reasonedError is an error with the reason that the events report.
type reasonedError struct {
	reason pxe.Reason
	error
}

func (e *reasonedError) Unwrap() error { return e.error }

func because(r pxe.Reason, err error) error { return &reasonedError{r, err} }

// reasonOf is the reason for an answer that failed.
func reasonOf(err error) pxe.Reason {
	var known *reasonedError
	var exhausted *ExhaustedError
	switch {
	case errors.As(err, &known):
		return known.reason
	case !errors.As(err, &exhausted):
		return pxe.ReasonPolicy
	case !exhausted.Subnet.First.IsValid():
		return pxe.ReasonNoPool
	case exhausted.Stranger:
		return pxe.ReasonStrangers
	}
	return pxe.ReasonPoolEmpty
}

// leftToOther is the answer to a request for another DHCP server that is expected.
const leftToOther = "left to the DHCP server"

// eventOf fills an event from a request to the server own.
func eventOf(service pxe.Service, c pxe.Client, req *dhcpv4.DHCPv4, own netip.Addr) pxe.Event {
	e := pxe.Event{Service: service, MAC: c.MAC, IP: c.IP, Relay: addr(req.GatewayIPAddr),
		Message: messageType(req).String(), Firmware: c.Firmware, Arch: c.Arch, Detail: c.Detail}
	if id := addr(req.ServerIdentifier()); id.IsValid() && id != own {
		e.Server = id
	}
	return e
}

// answered completes the event of a decided request. bootless is why a reply names no boot file; "" if it names one.
func answered(e *pxe.Event, reply *dhcpv4.DHCPv4, reason, bootless pxe.Reason) {
	e.Reason = reason
	if reply == nil {
		return
	}
	e.Reason = cmp.Or(reason, bootless)
	e.Answer = messageType(reply).String()
	if file := reply.BootFileNameOption(); file != "" {
		if e.Firmware == pxe.IPXE {
			file = "script"
		}
		e.Answer += " " + path.Base(file)
	}
}

// bootless is why a client is named no boot file; "" where it is named one, or is no firmware.
func bootless(c pxe.Client, boot pxe.Boot, base string) pxe.Reason {
	if c.Firmware == pxe.System {
		return ""
	}
	if !boot.Action.Boots() {
		return cmp.Or(boot.Why, pxe.ReasonNotToBoot)
	}
	if _, ok := bootFile(c, boot, base); !ok {
		return pxe.ReasonNoLoader
	}
	return ""
}
