package driverinfo

import (
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/cacert"
)

// AuthorityKeys are the settings by which a node says whose certificates are
// believed: its BMC's, and those of an agent that announces none of its own.
func AuthorityKeys() []string { return []string{"redfish_verify_ca", "agent_verify_ca"} }

// Authorities reads one of them as Ironic does: "true", as also when it is not
// set, "false", or what package cacert reads, of which only the form is looked at.
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

// CheckForm refuses settings of a node that cannot be right, whatever files and BMCs there
// are. Missing settings may come later.
func CheckForm(n node.Node) error {
	for _, key := range AuthorityKeys() {
		if _, err := Authorities(n, key); err != nil {
			return err
		}
	}
	_, err := n.Patience(node.Patience{})
	return err
}
