package nodeapi

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"
)

// BootQuery asks for the requests on the boot network: GET /ferrite/v1/boot/watch. The answer is JSON, one BootLine a
// line. The other DHCP servers come first, then events in their order.
type BootQuery struct {
	Since  time.Duration // so far back; 0: from now on
	After  uint64        // after the event with this ID, in place of Since; 0: none
	MAC    string        // of this machine alone, in lower case with colons
	Node   string        // of the ports of this node alone: UUID or name
	Follow bool          // go on with new events
}

// Values is the query as a URL has it.
func (q BootQuery) Values() url.Values {
	v := url.Values{}
	if q.Since != 0 {
		v.Set("since", q.Since.String())
	}
	if q.After != 0 {
		v.Set("after", strconv.FormatUint(q.After, 10))
	}
	for key, value := range map[string]string{"mac": q.MAC, "node": q.Node} {
		if value != "" {
			v.Set(key, value)
		}
	}
	if q.Follow {
		v.Set("follow", "true")
	}
	return v
}

// ParseBootQuery reads a URL's query; errors are for the client.
func ParseBootQuery(v url.Values) (q BootQuery, err error) {
	for key, values := range v {
		value, wants := values[0], ""
		switch key {
		case "since":
			q.Since, err = time.ParseDuration(value)
			wants = "a duration such as 5m"
			if q.Since < 0 {
				err = strconv.ErrRange
			}
		case "after":
			q.After, err = strconv.ParseUint(value, 10, 64)
			wants = "the id of an event"
		case "mac":
			var mac net.HardwareAddr
			mac, err = net.ParseMAC(value)
			q.MAC, wants = mac.String(), "a MAC such as 52:54:00:12:34:56"
		case "node":
			q.Node, wants = value, "one name or UUID"
		case "follow":
			q.Follow, err = strconv.ParseBool(value)
			wants = "true or false"
		default:
			return q, fmt.Errorf("unexpected argument %s: expected since, after, mac, node and follow", key)
		}
		if err != nil || len(values) > 1 {
			return q, fmt.Errorf("%s=%s: expected %s, once", key, value, wants)
		}
	}
	return q, nil
}

// MediaLines is the type of an answer with one object of JSON a line.
const MediaLines = "application/x-ndjson"

// BootLine is one line of the answer. It has exactly one of its fields.
type BootLine struct {
	Event  *BootEvent  `json:"event,omitempty"`
	Server *BootServer `json:"server,omitempty"`
	Lost   int         `json:"lost,omitempty"` // events that went before they could be sent
}

// BootEvent is one request on the boot network, with its answer or the reason for having none.
type BootEvent struct {
	ID    uint64    `json:"id"`
	At    time.Time `json:"at"`
	Times int       `json:"times"` // the same in a row

	Service  string `json:"service"` // dhcp, proxydhcp, tftp, http; other-dhcp for answers of another server
	MAC      string `json:"mac,omitempty"`
	Node     string `json:"node,omitempty"` // UUID
	NodeName string `json:"node_name,omitempty"`
	IP       string `json:"ip,omitempty"`
	Relay    string `json:"relay,omitempty"`
	Subnet   string `json:"subnet,omitempty"`

	Asked    string `json:"asked"` // in words
	Message  string `json:"message"`
	Firmware string `json:"firmware,omitempty"`
	Arch     uint16 `json:"arch,omitempty"` // DHCP option 93
	File     string `json:"file,omitempty"`

	Answer string `json:"answer,omitempty"`
	Server string `json:"server,omitempty"` // the other DHCP server that this is about
	Reason string `json:"reason,omitempty"` // why not answered, or why nothing boots
	Why    string `json:"why,omitempty"`    // the reason in words
	Try    string `json:"try,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// BootServer is another DHCP server that was heard on the boot network.
type BootServer struct {
	Address  string    `json:"address"`
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
	Times    int       `json:"times"`
	Lends    bool      `json:"lends"` // it gives addresses; else it names boot files alone
	BootFile string    `json:"boot_file,omitempty"`
	Expected bool      `json:"expected"` // by --dhcp or --other-dhcp
}
