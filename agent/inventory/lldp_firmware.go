package inventory

import (
	"errors"
	"io/fs"
	"log/slog"
	"path"

	"golang.org/x/sys/unix"
)

// Switches are ethtool's private flags, which depend on the driver of a network card.
type Switches interface {
	// PrivateFlag sets one and reports whether it was otherwise before. The error is
	// unix.EOPNOTSUPP where the driver has none of that name.
	PrivateFlag(name, flag string, on bool) (changed bool, err error)
}

// privateFlag is a switch, and its position that lets LLDP through.
type privateFlag struct {
	name string
	on   bool
}

// firmwareLLDP has the drivers of cards with firmware that answers LLDP itself and passes none on: Intel X710 and its
// kin (Linux's i40e.rst), and E810 (ice.rst). ironic-python-agent writes "lldp stop" to debugfs for the first, which
// later firmware refuses.
func firmwareLLDP() map[string]privateFlag {
	return map[string]privateFlag{"i40e": {"disable-fw-lldp", true}, "ice": {"fw-lldp-agent", false}}
}

// LetLLDPThrough switches off the LLDP agents in the firmware of these interfaces.
func LetLLDPThrough(fsys fs.FS, s Switches, interfaces []string, log *slog.Logger) {
	for _, name := range interfaces {
		flag, ok := firmwareLLDP()[path.Base(linkOf(fsys, path.Join("sys/class/net", name), "device/driver"))]
		if !ok {
			continue
		}
		changed, err := s.PrivateFlag(name, flag.name, flag.on)
		switch {
		case errors.Is(err, unix.EOPNOTSUPP):
			log.Warn("the card's firmware may keep LLDP for itself: its driver has no switch for that",
				"interface", name, "flag", flag.name)
		case err != nil:
			log.Warn("the card's firmware may keep LLDP for itself", "interface", name, "err", err)
		case changed:
			log.Info("LLDP of the card's firmware switched off, to receive the switch's", "interface", name)
		}
	}
}
