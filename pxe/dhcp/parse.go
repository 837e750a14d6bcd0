package dhcp

import (
	"encoding/hex"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// subnetKeys are the settings of a subnet, each with how it is read.
var subnetKeys = map[string]func(s *Subnet, value string) error{
	"subnet": func(s *Subnet, v string) (err error) {
		s.Prefix, err = netip.ParsePrefix(v)
		return err
	},
	"name": func(s *Subnet, v string) error {
		s.Name = v
		return nil
	},
	"pool": func(s *Subnet, v string) (err error) {
		if v == "none" {
			s.First, s.Last = netip.Addr{}, netip.Addr{}
			return nil
		}
		s.First, s.Last, err = ParseRange(v)
		return err
	},
	"router": func(s *Subnet, v string) (err error) {
		s.Router, err = netip.ParseAddr(v)
		return err
	},
	"dns":   func(s *Subnet, v string) (err error) { s.DNS, err = addresses(v); return err },
	"ntp":   func(s *Subnet, v string) (err error) { s.NTP, err = addresses(v); return err },
	"relay": func(s *Subnet, v string) (err error) { s.Relays, err = addresses(v); return err },
	"domain": func(s *Subnet, v string) error {
		s.Domain = v
		return nil
	},
	"lease": func(s *Subnet, v string) (err error) {
		s.Lease, err = time.ParseDuration(v)
		return err
	},
}

// addresses reads addresses separated by commas.
func addresses(text string) (all []netip.Addr, err error) {
	for word := range strings.SplitSeq(text, ",") {
		a, err := netip.ParseAddr(strings.TrimSpace(word))
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// ParseRange reads first-last.
func ParseRange(text string) (first, last netip.Addr, err error) {
	a, b, ok := strings.Cut(text, "-")
	first, err = netip.ParseAddr(strings.TrimSpace(a))
	if err == nil {
		last, err = netip.ParseAddr(strings.TrimSpace(b))
	}
	if !ok || err != nil {
		return first, last, fmt.Errorf("%q is not first-last, as 10.0.0.100-10.0.0.200", text)
	}
	return first, last, nil
}

// ParseSubnet reads a subnet as people write it, such as
// "10.2.0.0/24 pool=10.2.0.100-10.2.0.199 router=10.2.0.1". A subnet without a pool has one in its upper half.
func ParseSubnet(line string, lease time.Duration) (s Subnet, err error) {
	fields := map[string]string{}
	last := "subnet"
	for _, word := range strings.Fields(line) {
		key, value, begins := strings.Cut(word, "=")
		if begins {
			last, fields[key] = key, value
			continue
		}
		fields[last] = strings.TrimSpace(fields[last] + " " + word) // a name may have spaces
	}
	s.Lease = lease
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if code, is := strings.CutPrefix(key, "option-"); is {
			err = addOption(&s, code, fields[key])
		} else if set, known := subnetKeys[key]; known {
			err = set(&s, fields[key])
		} else {
			err = fmt.Errorf("is unknown: expected option-CODE or one of %s",
				strings.Join(slices.Sorted(maps.Keys(subnetKeys)), ", "))
		}
		if err != nil {
			return s, fmt.Errorf("%s: %s: %w", fields["subnet"], key, err)
		}
	}
	if !s.Prefix.IsValid() || !s.Prefix.Addr().Is4() {
		return s, fmt.Errorf("%s: expected an IPv4 subnet, as 10.2.0.0/24", line)
	}
	if _, set := fields["pool"]; !set {
		if s.Prefix.Bits() > 29 {
			return s, fmt.Errorf("%s is too small for a pool of its own: say pool=first-last, or pool=none", s.Prefix)
		}
		s.First, s.Last = UpperHalf(s.Prefix)
	}
	return s, nil
}

// addOption adds a DHCP option. Its value is in hexadecimal, as it goes over the wire.
func addOption(s *Subnet, code, value string) error {
	n, err := strconv.ParseUint(code, 10, 8)
	if err != nil {
		return fmt.Errorf("%q is no code of an option: expected 1 to 254", code)
	}
	b, err := hex.DecodeString(strings.ReplaceAll(value, ":", ""))
	if err != nil {
		return fmt.Errorf("expected the value in hexadecimal, as 05:dc: %w", err)
	}
	if s.Options == nil {
		s.Options = map[uint8][]byte{}
	}
	s.Options[uint8(n)] = b
	return nil
}
