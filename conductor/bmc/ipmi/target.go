package ipmi

import (
	"cmp"
	"math"
	"net"
	"strconv"
	"strings"

	"github.com/bougou/go-ipmi/pkg/types"

	"github.com/ferrite-metal/ferrite/conductor/bmc/driverinfo"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// target is where a node's BMC is and how to be let in: driver_info, read.
type target struct {
	address string // host:port
	account account

	keepBootTimeout bool // let the BMC forget a boot device after a minute
}

// account is the login at a BMC: user, password and the session's security settings.
type account struct {
	user, password string
	level          string              // one of levels
	cipher         types.CipherSuiteID // anyCipher for the best that the BMC takes
}

const anyCipher = types.CipherSuiteIDReserved

// Limits of RAKP messages (IPMI v2.0, 13.20 and 13.31).
const (
	maxUser     = 16
	maxPassword = 20
)

// levels are Ironic's names of the privilege levels.
var levels = map[string]types.PrivilegeLevel{
	"ADMINISTRATOR": types.PrivilegeLevelAdministrator, "OPERATOR": types.PrivilegeLevelOperator,
	"USER": types.PrivilegeLevelUser, "CALLBACK": types.PrivilegeLevelCallback,
}

// parse reads Ironic's ipmi_* settings. Its errors are permanent and hold no
// secret.
func parse(n node.Node) (t target, err error) {
	host, err := driverinfo.Required(n, "ipmi_address", "the BMC's host name or address, such as 10.0.0.1")
	if err != nil {
		return target{}, err
	}
	if strings.ContainsAny(host, "/@[] \x00") {
		return target{}, driverinfo.Wrong("ipmi_address",
			"must be a host name or an address such as 10.0.0.1, without scheme, brackets or port")
	}
	port, err := driverinfo.Number(n, "ipmi_port", 623)
	if err != nil {
		return target{}, err
	}
	if port < 1 || port > 65535 {
		return target{}, driverinfo.Wrong("ipmi_port", "must be a UDP port from 1 to 65535, not %d", port)
	}
	t.address = net.JoinHostPort(host, strconv.Itoa(port))
	if t.account, err = parseAccount(n); err != nil {
		return target{}, err
	}
	disable, err := driverinfo.Bool(n, "ipmi_disable_boot_timeout", true)
	if err != nil {
		return target{}, err
	}
	t.keepBootTimeout = !disable
	return t, checkDefaults(n)
}

func parseAccount(n node.Node) (a account, err error) {
	for _, s := range []struct {
		key string
		to  *string
		max int
	}{
		{"ipmi_username", &a.user, maxUser}, {"ipmi_password", &a.password, maxPassword},
	} {
		if *s.to, err = driverinfo.Text(n, s.key); err != nil {
			return account{}, err
		}
		if len(*s.to) > s.max {
			return account{}, driverinfo.Wrong(s.key, "must be at most %d bytes long, not %d: IPMI has no room for more",
				s.max, len(*s.to))
		}
	}
	level, err := driverinfo.Text(n, "ipmi_priv_level")
	if err != nil {
		return account{}, err
	}
	a.level = cmp.Or(strings.ToUpper(level), "ADMINISTRATOR")
	if _, ok := levels[a.level]; !ok {
		return account{}, driverinfo.Wrong("ipmi_priv_level",
			"must be ADMINISTRATOR, OPERATOR, USER or CALLBACK, not %q", level)
	}
	a.cipher, err = parseCipher(n)
	return a, err
}

func parseCipher(n node.Node) (types.CipherSuiteID, error) {
	const unset = math.MinInt
	id, err := driverinfo.Number(n, "ipmi_cipher_suite", unset)
	if err != nil || id == unset {
		return anyCipher, err
	}
	for _, c := range ciphers {
		if int(c.id) == id {
			return c.id, nil
		}
	}
	return 0, driverinfo.Wrong("ipmi_cipher_suite",
		"must be 17 or 3, not %d: the others do without authentication, integrity or a sound cipher", id)
}

// onlyDefault are settings of Ironic that work only with their default value: the value that each may have, and advice
// for other values.
var onlyDefault = []struct {
	key, allowed, advice string
}{
	{"ipmi_protocol_version", "2.0", "IPMI 1.5 sends commands unencrypted; enable IPMI 2.0 (RMCP+) on the BMC"},
	{"ipmi_bridging", "no", "bridged commands are not supported; set ipmi_address to the BMC of the machine itself"},
	{"ipmi_hex_kg_key", "", "BMC keys (Kg) are not supported; clear the key of the BMC's LAN channel"},
}

// checkDefaults refuses settings that would otherwise be ignored silently.
func checkDefaults(n node.Node) error {
	for _, u := range onlyDefault {
		v, err := driverinfo.Text(n, u.key)
		switch {
		case err != nil:
			return err
		case v == "" || v == u.allowed:
		case u.allowed == "": // its value is a secret
			return driverinfo.Wrong(u.key, "must not be set: %s", u.advice)
		default:
			return driverinfo.Wrong(u.key, "must be %s, not %q: %s", u.allowed, v, u.advice)
		}
	}
	force, err := driverinfo.Bool(n, "ipmi_force_boot_device", false)
	if err == nil && force {
		err = driverinfo.Wrong("ipmi_force_boot_device",
			"must be false: the boot device is set before every boot that needs one, and is not repeated for others; put the "+
				"disk first in the machine's boot order")
	}
	return err
}

// refusedCipher is the error of a BMC that does not take the offered cipher suites.
func (a account) refusedCipher(cause error) error {
	if a.cipher == anyCipher {
		return driverinfo.Wrong("ipmi_cipher_suite",
			"cannot be chosen: the BMC takes neither 17 nor 3 (%v); enable one of them on its LAN channel", cause)
	}
	return driverinfo.Wrong("ipmi_cipher_suite", "is %d, which the BMC does not take (%v): remove it, or choose another",
		a.cipher, cause)
}

// refusedLevel is the error for a user without the privilege level.
func (a account) refusedLevel(cause error) error {
	return driverinfo.Wrong("ipmi_priv_level",
		"is %s, which the BMC does not give user %q (%v): lower it, or raise the user's privileges", a.level, a.user, cause)
}
