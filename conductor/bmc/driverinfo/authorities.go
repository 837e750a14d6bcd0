package driverinfo

import (
	"cmp"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/cacert"
)

// AuthorityKeys are the settings that name trusted certificate authorities: for the node's BMC, and for an agent that
// announces no certificate of its own.
func AuthorityKeys() []string { return []string{"redfish_verify_ca", "agent_verify_ca"} }

// Authorities reads one of these settings as Ironic does. It returns "true", also when the key is not set, "false", or
// a value for package cacert. Only the form of such a value is checked.
func Authorities(n node.Node, key string) (string, error) {
	switch v := n.DriverInfo[key].(type) {
	case nil:
		return "true", nil
	case bool:
		return fmt.Sprint(v), nil
	case string:
		if word, ok := Word(v); ok {
			return fmt.Sprint(word), nil
		}
		if err := cacert.Check(v); err != nil {
			return "", Wrong(key, "%v", err)
		}
		return v, nil
	default:
		return "", Wrong(key, "must be true, false, PEM text, or the path of a file in --ca-folder, not %T", v)
	}
}

// CheckForm refuses settings of a node that are wrong in form, without a look at files or BMCs. Missing settings may
// come later.
func CheckForm(n node.Node) error {
	for _, key := range AuthorityKeys() {
		if _, err := Authorities(n, key); err != nil {
			return err
		}
	}
	if _, _, err := TLS(n); err != nil {
		return err
	}
	_, prefix := RootPrefix(n)
	_, silent := Silent(n)
	_, patience := n.Patience(node.Patience{})
	return cmp.Or(prefix, silent, patience)
}
