package ipmi

import (
	"bytes"
	"cmp"
	"context"
	"strings"
	"unicode"

	"github.com/bougou/go-ipmi/pkg/command/app"
	"github.com/bougou/go-ipmi/pkg/types"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// fruCommand is the reading of the inventory of the machine itself, FRU
// device 0, which takes a few commands.
var fruCommand = types.Command{Name: "Read FRU Data"}

// fruPatience is by how much reading an inventory may take longer than one
// command.
const fruPatience = 10

// System reads the BMC's description of the machine: IPMI knows its UUID and the text of its
// label, not its processors or its network.
func (d *Driver) System(ctx context.Context, n node.Node) (out node.System, err error) {
	err = d.call(ctx, n, "read the system", func(ctx context.Context, s *session) error {
		flags, err := s.flags(ctx)
		if err != nil {
			return err
		}
		guid, err := ask(ctx, s, types.CommandGetSystemGUID, s.client.GetSystemGUID)
		if err := s.optional("UUID", err); err != nil {
			return err
		}
		fru, err := s.fru(ctx)
		if err := s.optional("label", err); err != nil {
			return err
		}
		out = label(fru)
		out.UUID, out.BootMode = systemUUID(guid), modeOf(flags)
		return nil
	})
	if err != nil {
		return node.System{}, err
	}
	return out, nil
}

// SystemUUID reads the UUID of the machine; "" when the BMC has none.
func (d *Driver) SystemUUID(ctx context.Context, n node.Node) (uuid string, err error) {
	err = d.call(ctx, n, "read the system's UUID", func(ctx context.Context, s *session) error {
		guid, err := ask(ctx, s, types.CommandGetSystemGUID, s.client.GetSystemGUID)
		uuid = systemUUID(guid)
		return s.optional("UUID", err)
	})
	return uuid, err
}

func (s *session) fru(ctx context.Context) (*types.FRU, error) {
	patient := *s
	patient.timeout *= fruPatience
	patient.tries = 1
	return ask(ctx, &patient, fruCommand, func(ctx context.Context) (*types.FRU, error) {
		return s.client.GetFRU(ctx, 0, "")
	})
}

// optional lets a BMC lack a part, or have a part that it cannot show: a missing part is no reason to fail the whole.
func (s *session) optional(what string, err error) error {
	if err == nil || isWire(err) {
		return err
	}
	s.log.Warn("the BMC does not report a part of the machine", "part", what, "err", err)
	return nil
}

// systemUUID reads a GUID in SMBIOS byte order, as BMCs send it. It returns "" for all zeros and all ones, which mean
// none (DSP0134, 7.2.1).
func systemUUID(guid *app.GetSystemGUIDResponse) string {
	if guid == nil || guid.GUID == [16]byte{} || len(bytes.Trim(guid.GUID[:], "\xff")) == 0 {
		return ""
	}
	u, err := types.ParseGUID(guid.GUID[:], types.GUIDModeSMBIOS)
	if err != nil {
		return ""
	}
	return u.String()
}

// label returns the machine's maker, model and serial number from the product area of the FRU, or else from its board
// area.
func label(fru *types.FRU) (out node.System) {
	if fru == nil {
		return out
	}
	if p := fru.ProductInfoArea; p != nil {
		out.Manufacturer = text(p.ManufacturerTypeLength, p.Manufacturer)
		out.Model = text(p.NameTypeLength, p.Name)
		out.Serial = text(p.SerialNumberTypeLength, p.SerialNumber)
	}
	if b := fru.BoardInfoArea; b != nil {
		out.Manufacturer = cmp.Or(out.Manufacturer, text(b.ManufacturerTypeLength, b.Manufacturer))
		out.Model = cmp.Or(out.Model, text(b.ProductNameTypeLength, b.ProductName))
		out.Serial = cmp.Or(out.Serial, text(b.SerialNumberTypeLength, b.SerialNumber))
	}
	return out
}

// text decodes a field of a label, without characters that are not printable.
func text(code types.TypeLength, raw []byte) string {
	chars, err := code.Chars(raw)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, string(chars)))
}
