package redfish

import (
	"cmp"
	"regexp"
	"slices"
	"time"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/placeholder"
)

// maxCards bounds the Ethernet interfaces of a machine; those with many network
// cards have some thirty.
const maxCards = 256

// addresses returns the MAC addresses of the machine's network cards. They are the same as in its parts, with one
// exception: adapters, which take many requests, are read only where the system lists no Ethernet interface with an
// address.
func (s *session) addresses(sys *schemas.ComputerSystem) (all []string, err error) {
	p := &parts{session: s, now: time.Now, within: slowPart, brief: true}
	if err := s.reread(sys, &p.links); err != nil {
		return nil, err
	}
	p.begin()
	if err := p.readCards(); err != nil {
		return nil, err
	}
	for _, c := range p.out.Cards {
		all = append(all, c.MAC)
	}
	if len(p.out.Incomplete) > 0 {
		s.log.Warn("the BMC does not report a part of the machine", "part", "network cards", "reason", p.out.Incomplete[0])
	}
	return all, nil
}

// readCards reads the system's Ethernet interfaces, and the adapters of its chassis: some BMCs have only one of them
// (Lenovo's XCC: dsx-ai-factory/infra-controller#4436), and only adapters have makers and the speeds of HPE's ports.
// Where neither shows an address, boot options do.
func (p *parts) readCards() error {
	all, err := p.members(p.links.EthernetInterfaces.Path)
	if err != nil {
		p.missed("Ethernet interfaces", err)
		if err := p.optional("Ethernet interfaces", err); err != nil {
			return err
		}
	}
	if len(all) > maxCards {
		return broken("the BMC reports %d Ethernet interfaces, at most %d are taken: each becomes a port", len(all), maxCards)
	}
	if err := each(p, "Ethernet interfaces", all, p.takeInterface); err != nil {
		return err
	}
	if !p.brief || len(p.out.Cards) == 0 {
		for _, chassis := range paths(p.links.Links.Chassis) {
			if err := p.readAdapters(chassis); err != nil {
				p.missed("network adapters", err)
				if err := p.optional("network adapters", err); err != nil {
					return err
				}
			}
		}
	}
	if len(p.out.Cards) == 0 {
		if err := p.readBootOptions(); err != nil {
			return err
		}
	}
	p.nameCards()
	if !p.brief {
		p.readDellSwitches()
	}
	return nil
}

func (p *parts) takeInterface(_ string, e ethernetInterface) {
	if e.Status.absent() {
		return
	}
	if c := p.card(e.MACAddress, e.PermanentMACAddress); c != nil {
		c.Name = interfaceName(e)
		c.learn(int(e.SpeedMbps), e.LinkStatus)
	}
}

// card is the card with an address, made where it is new. used is the address in use, with which it boots; burnt is the
// burnt-in one. A known card is found by either, since other documents name only one of them. It is nil where both are
// placeholders, as for a disabled interface, all zeros or "Not Available".
func (p *parts) card(used, burnt string) *cardFound {
	inUse, burntIn := placeholder.MAC(used), placeholder.MAC(burnt)
	mac := cmp.Or(inUse, burntIn)
	if mac == "" {
		return nil
	}
	if known := p.burntIn[mac]; known != "" {
		mac = known
	}
	i := slices.IndexFunc(p.out.Cards, func(c node.Card) bool { return c.MAC == mac })
	if i < 0 {
		i = len(p.out.Cards)
		p.out.Cards = append(p.out.Cards, node.Card{MAC: mac})
	}
	if burntIn != "" && burntIn != mac {
		if p.burntIn == nil {
			p.burntIn = map[string]string{}
		}
		p.burntIn[burntIn] = mac
	}
	return (*cardFound)(&p.out.Cards[i])
}

// cardInPath finds the network card in a UEFI device path (UEFI 2.10, section 10.6.1.2), and the node before it, which
// names its bus.
var cardInPath = regexp.MustCompile(`/([A-Za-z]+)\([^)]*\)/MAC\(([0-9A-Fa-f]{12}),`)

// readBootOptions finds cards in the boot options, where the BMC lists them nowhere else: OpenBMC of NVIDIA GH200. A
// card on USB is the BMC's own.
func (p *parts) readBootOptions() error {
	all, err := p.members(p.links.Boot.BootOptions.Path)
	if err != nil {
		p.missed("boot options", err)
		return p.optional("boot options", err)
	}
	return each(p, "boot options", all, func(_ string, option struct{ UefiDevicePath string }) {
		if card := cardInPath.FindStringSubmatch(option.UefiDevicePath); card != nil && card[1] != "USB" {
			p.card(card[2], "")
		}
	})
}
