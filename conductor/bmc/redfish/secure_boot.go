package redfish

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// keyReset is a way to reset the keys, and how it shows that it was done. With
// no keys the firmware is in setup mode, with keys in any other (UEFI 2.10,
// 32.3). A firmware that shows no mode has to be believed.
type keyReset struct {
	kind string // SecureBoot, ResetKeysType
	is   func(mode string) bool
	want string
}

// clearSecureBootKeys does management.clear_secure_boot_keys.
func clearSecureBootKeys(r *stepCall) (node.StepReport, error) {
	return r.resetKeys(keyReset{"DeleteAllKeys", func(mode string) bool { return mode == "SetupMode" }, "SetupMode"})
}

// defaultSecureBootKeys does management.reset_secure_boot_keys_to_default.
func defaultSecureBootKeys(r *stepCall) (node.StepReport, error) {
	return r.resetKeys(keyReset{"ResetAllKeysToDefault", func(mode string) bool { return mode != "SetupMode" },
		"any but SetupMode"})
}

// secureBootEnabled is the property of SecureBoot that can be set.
type secureBootEnabled struct {
	On *bool `json:"SecureBootEnable"`
}

// SecureBoot reads whether the firmware starts only signed programs; nil where the BMC does not report it, as
// Supermicro's do without a licence.
func (d *Driver) SecureBoot(ctx context.Context, n node.Node) (*bool, error) {
	var sb secureBootEnabled
	err := d.call(ctx, n, "read secure boot", func(s *session) error {
		l, err := s.systemLinks()
		if err != nil || l.SecureBoot.Path == "" {
			return err
		}
		if _, err := s.get(l.SecureBoot.Path, &sb); err != nil {
			return s.optional("secure boot", err)
		}
		return nil
	})
	return sb.On, err
}

// SetSecureBoot asks for secure boot, which only UEFI has. A setting that is right already
// is not written.
func (d *Driver) SetSecureBoot(ctx context.Context, n node.Node, on bool) error {
	return d.call(ctx, n, fmt.Sprintf("set secure boot to %t", on), func(s *session) error {
		l, err := s.systemLinks()
		if err != nil {
			return err
		}
		if l.SecureBoot.Path == "" {
			return node.Unsupported(n, "set_secure_boot_state")
		}
		var sb secureBootEnabled
		if _, err := s.get(l.SecureBoot.Path, &sb); err != nil {
			return err
		}
		if sb.On != nil && *sb.On == on {
			return nil
		}
		if l.Boot.Mode == schemas.LegacyBootSourceOverrideMode {
			return node.Refuse(node.Invalid, "Configuring secure boot requires UEFI for node %s: set its boot mode first",
				n.UUID)
		}
		return s.patch(l.SecureBoot.Path, secureBootEnabled{&on})
	})
}

// resetKeys asks for the reset and a start of the machine, which is when
// firmware writes its variables, and reads back. Asking twice does no harm.
func (r *stepCall) resetKeys(k keyReset) (node.StepReport, error) {
	if err := r.arguments(&struct{}{}); err != nil {
		return node.StepReport{}, err
	}
	l, err := r.systemLinks()
	if err != nil {
		return node.StepReport{}, err
	}
	if l.SecureBoot.Path == "" {
		return node.StepReport{},
			broken("the BMC does not offer secure boot for %s: update its firmware, or leave the step out", *r.system)
	}
	var sb struct {
		Mode    string `json:"SecureBootMode"`
		Actions struct {
			Reset struct {
				Target string   `json:"target"`
				OneOf  []string `json:"ResetKeysType@Redfish.AllowableValues"`
			} `json:"#SecureBoot.ResetKeys"`
		}
	}
	if _, err := r.get(l.SecureBoot.Path, &sb); err != nil {
		return node.StepReport{}, err
	}
	if r.memory.Stage != "" {
		if sb.Mode != "" && !k.is(sb.Mode) {
			return node.StepReport{}, broken("the BMC did not reset the secure boot keys: expected the mode %s after a start, "+
				"found %s; look into the BMC's log, and reset them in the firmware's setup", k.want, sb.Mode)
		}
		return done("secure boot keys are reset, the mode is %q", sb.Mode)
	}
	if k.kind == "DeleteAllKeys" && k.is(sb.Mode) {
		return done("there are no secure boot keys")
	}
	if offered := sb.Actions.Reset.OneOf; len(offered) > 0 && !slices.Contains(offered, k.kind) {
		return node.StepReport{}, broken("the BMC cannot reset the keys so: it takes %v, %s is wanted", offered, k.kind)
	}
	if _, err := r.ask(http.MethodPost, sb.Actions.Reset.Target, map[string]any{"ResetKeysType": k.kind}); err != nil {
		return node.StepReport{}, err
	}
	r.enter("start")
	return r.reboot("a start of the machine for its secure boot keys")
}
