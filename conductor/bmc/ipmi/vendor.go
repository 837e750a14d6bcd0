package ipmi

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/bougou/go-ipmi/pkg/client"
	"github.com/bougou/go-ipmi/pkg/types"

	"github.com/ferrite-metal/ferrite/conductor/bmc/vendor"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// vendorMethods has the names and descriptions of Ironic's ipmitool interface.
func vendorMethods() vendor.Methods[func(ctx context.Context, s *session, args map[string]any) error] {
	return vendor.Methods[func(ctx context.Context, s *session, args map[string]any) error]{
		{VendorMethod: node.VendorMethod{Name: "send_raw", HTTPMethods: []string{"POST"}, Async: true,
			Description: "Send raw bytes to the BMC. Required argument: 'raw_bytes' - a string of raw bytes (e.g. " +
				"'0x00 0x01')."}, Check: checkRaw, Do: sendRaw},
		{VendorMethod: node.VendorMethod{Name: "bmc_reset", HTTPMethods: []string{"POST"}, Async: true,
			Description: "Reset the BMC. Required argument: 'warm' (Boolean) - for warm (True) or cold (False) reset."},
			Check: checkReset, Do: resetBMC},
	}
}

// VendorMethods lists the methods of CallVendor.
func (d *Driver) VendorMethods() []node.VendorMethod { return vendorMethods().List() }

// rawOff is the reason why a conductor sends no raw commands (Ironic forbids them by default since its bug 2150458).
const rawOff = "raw commands reach past every check of this conductor, and may change the BMC's users or brick it: " +
	"they are off unless the conductor is started with --ipmi-send-raw"

// CheckVendor refuses calls that no BMC could carry out, and raw commands where they are off.
func (d *Driver) CheckVendor(_ context.Context, n node.Node, method string, args map[string]any) error {
	if method == "send_raw" && !d.o.SendRaw {
		return node.Refuse(node.Invalid, "vendor method send_raw is refused: %s", rawOff)
	}
	return vendorMethods().Check(method, args, d.Validate(n))
}

// CallVendor does a method; none has a result.
func (d *Driver) CallVendor(ctx context.Context, n node.Node, method string, args map[string]any) (any, error) {
	m, err := vendorMethods().Find(method)
	if err == nil && method == "send_raw" {
		err = d.CheckVendor(ctx, n, method, args) // the switch may be another by now
	}
	if err != nil {
		return nil, err
	}
	return nil, d.call(ctx, n, "do the vendor method "+method, func(ctx context.Context, s *session) error {
		once := *s
		once.tries = 1 // the effect of a second try is unknown
		return m.Do(ctx, &once, args)
	})
}

// rawBytes reads the bytes of send_raw: the network function, the command, and
// its data.
func rawBytes(args map[string]any) ([]byte, error) {
	text, ok := args["raw_bytes"].(string)
	if !ok || text == "" {
		return nil, node.Refuse(node.Invalid, "Parameter raw_bytes (string of bytes) was not specified.")
	}
	var raw []byte
	for word := range strings.FieldsSeq(text) {
		b, err := strconv.ParseUint(word, 0, 8)
		if err != nil {
			return nil, node.Refuse(node.Invalid, "raw_bytes must be bytes such as 0x06 0x01, not %q", word)
		}
		raw = append(raw, byte(b))
	}
	const netFn, command, most = 0, 1, 64 // a network function has six bits; no BMC takes longer messages
	if len(raw) <= command || raw[netFn] > 0x3f || len(raw) > most {
		return nil, node.Refuse(node.Invalid,
			"raw_bytes must be a network function (0x00 to 0x3f), a command and its data, %d bytes at the most", most)
	}
	return raw, nil
}

func checkRaw(args map[string]any) error {
	_, err := rawBytes(args)
	return err
}

func sendRaw(ctx context.Context, s *session, args map[string]any) error {
	raw, err := rawBytes(args)
	if err != nil {
		return err
	}
	c := types.Command{
		ID: raw[1], NetFn: types.NetFn(raw[0]), Name: fmt.Sprintf("raw command %#02x %#02x", raw[0], raw[1]),
	}
	_, err = ask(ctx, s, c, func(ctx context.Context) (*client.CommandRawResponse, error) {
		return s.client.RawCommand(ctx, c.NetFn, c.ID, raw[2:], c.Name)
	})
	return err
}

// warm is the argument of bmc_reset, true when it is left out.
func warm(args map[string]any) (bool, error) {
	switch v := args["warm"].(type) {
	case nil:
		return true, nil
	case bool:
		return v, nil
	case string:
		if b, err := strconv.ParseBool(strings.ToLower(v)); err == nil {
			return b, nil
		}
	}
	return false, node.Refuse(node.Invalid, "warm must be true for a warm reset or false for a cold one, not %v",
		args["warm"])
}

func checkReset(args map[string]any) error {
	_, err := warm(args)
	return err
}

// resetBMC restarts the BMC.
func resetBMC(ctx context.Context, s *session, args map[string]any) error {
	kept, err := warm(args)
	if err != nil {
		return err
	}
	c, do := types.CommandColdReset, s.client.ColdReset
	if kept {
		c, do = types.CommandWarmReset, s.client.WarmReset
	}
	_, err = ask(ctx, s, c, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) })
	return err
}
