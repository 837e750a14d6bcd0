package redfish

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// ethernetInterface is EthernetInterface of a system.
type ethernetInterface struct {
	ID                              string `json:"Id"`
	Name                            string
	MACAddress, PermanentMACAddress string
	SpeedMbps                       int32
	LinkStatus                      string
	Status                          resourceStatus
}

// adapterDoc is NetworkAdapter of a chassis. Older BMCs have NetworkPorts, newer ones Ports.
type adapterDoc struct {
	Manufacturer, Model                         string
	NetworkPorts, Ports, NetworkDeviceFunctions reference
	Status                                      resourceStatus
}

// networkPort is NetworkPort, or Port of a NetworkAdapter.
type networkPort struct {
	ID                         string `json:"Id"`
	AssociatedNetworkAddresses []string
	Ethernet                   struct {
		AssociatedMACAddresses []string
		LLDPReceive            lldpReceive
	}
	CurrentLinkSpeedMbps int32
	CurrentSpeedGbps     float64
	LinkStatus           string
}

// networkFunction is NetworkDeviceFunction.
type networkFunction struct {
	ID       string `json:"Id"`
	Ethernet struct{ MACAddress, PermanentMACAddress string }
}

// interfaceName is a port's name for people: NIC.Embedded.1-1-1 of Dell is an Id, OnBoard LAN 1 of Supermicro a Name;
// HPE has neither.
func interfaceName(e ethernetInterface) string {
	name := tidy(e.Name)
	if numbered(tidy(e.ID)) && name != "" && !strings.Contains(name, "Ethernet Interface") {
		return name
	}
	return nicName(e.ID)
}

// nicName is an Id, with "nic" before an Id that is only a number.
func nicName(id string) string {
	if name := tidy(id); !numbered(name) {
		return name
	}
	return "nic" + tidy(id)
}

func numbered(id string) bool { return strings.Trim(id, "0123456789") == "" }

// cardFound is a card while it is learned of.
type cardFound node.Card

// learn takes a speed, and the state of a link in the words of EthernetInterface, NetworkPort or Port.
func (c *cardFound) learn(mbps int, link string) {
	c.SpeedMbps = max(c.SpeedMbps, mbps)
	up, down := strings.HasSuffix(link, "Up"), strings.HasSuffix(link, "Down") || link == "NoLink"
	if up || down {
		c.Link = &up
	}
}

func (p *parts) readAdapters(chassis string) error {
	var c struct{ NetworkAdapters reference }
	if _, err := p.get(chassis, &c); err != nil {
		return err
	}
	paths, err := p.members(c.NetworkAdapters.Path)
	if err != nil {
		p.missed("network adapters", err)
		return nil
	}
	return each(p, "network adapters", paths, func(_ string, a adapterDoc) {
		if a.Status.absent() {
			return
		}
		description := strings.TrimSpace(tidy(a.Manufacturer) + " " + tidy(a.Model))
		p.readFunctions(a.NetworkDeviceFunctions.Path, description)
		p.readPorts(a.NetworkPorts.Path, description)
		p.readPorts(a.Ports.Path, description)
	})
}

// readFunctions has the addresses of cards that the system does not list.
func (p *parts) readFunctions(path, description string) {
	paths, err := p.members(path)
	if err == nil {
		err = each(p, "network functions", paths, func(_ string, f networkFunction) {
			if c := p.card(f.Ethernet.MACAddress, f.Ethernet.PermanentMACAddress); c != nil {
				c.Name, c.Description = cmp.Or(c.Name, nicName(f.ID)), cmp.Or(c.Description, description)
			}
		})
	}
	if err != nil {
		p.missed("network functions", err)
	}
}

// readPorts has speeds and links, for the addresses that a port names.
func (p *parts) readPorts(path, description string) {
	paths, err := p.members(path)
	if err == nil {
		err = each(p, "network ports", paths, func(_ string, port networkPort) {
			for _, address := range slices.Concat(port.AssociatedNetworkAddresses, port.Ethernet.AssociatedMACAddresses) {
				c := p.card(address, "")
				if c == nil {
					continue
				}
				c.Name, c.Description = cmp.Or(c.Name, nicName(port.ID)), cmp.Or(c.Description, description)
				c.learn(max(int(port.CurrentLinkSpeedMbps), int(1000*min(port.CurrentSpeedGbps, math.MaxInt32))), port.LinkStatus)
				c.Switch = port.Ethernet.LLDPReceive.tlvs()
			}
		})
	}
	if err != nil {
		p.missed("network ports", err)
	}
}

// nameCards makes names unique.
func (p *parts) nameCards() {
	named := map[string]bool{}
	for i := range p.out.Cards {
		c := &p.out.Cards[i]
		c.Name = unique(cmp.Or(c.Name, "nic"), func(s string) bool { return named[s] })
		named[c.Name] = true
	}
}
