package api

import (
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// destination is a setting that decides where a stored password is sent.
type destination struct {
	key, password string
	harmless      func(old any) bool // a change of it from old sends the password to no other receiver
}

// destinations covers all hardware types, as the node's type can change.
func destinations() []destination {
	return []destination{
		{"redfish_address", "redfish_password", nil},     // https and http included
		{"redfish_root_prefix", "redfish_password", nil}, // one host may stand for several BMCs
		{"redfish_verify_ca", "redfish_password", unverified},
		{"redfish_ssh_host_key", "redfish_password", nil}, // its removal, too: any key is believed then
		{"ipmi_address", "ipmi_password", nil},
		{"ipmi_port", "ipmi_password", nil},
		{"image_pull_registry", "image_pull_secret", nil},
	}
}

// unverified reports whether a redfish_verify_ca accepts any certificate. No other value accepts more.
func unverified(old any) bool {
	text, isText := old.(string)
	return old == false || isText && slices.Contains([]string{"false", "f", "no", "n", "off", "0"}, strings.ToLower(text))
}

// checkPasswordAgain refuses a patch that would send a stored password elsewhere. The API masks passwords even for
// callers that may edit a node, and a BMC of their own would receive it. A caller that knows the password gives it
// again.
func checkPasswordAgain(old, updated map[string]any, ops []rest.Operation) error {
	for _, key := range rest.SortedKeys(updated) {
		if nodeapi.Secret(key) && updated[key] == nodeapi.Masked && old[key] != nodeapi.Masked {
			return node.Refuse(node.Invalid,
				"driver_info/%s is %s, which stands for a secret in answers and is none: give the secret itself, or leave it out "+
					"of the patch", key, nodeapi.Masked)
		}
	}
	for _, d := range destinations() {
		stored, _ := updated[d.password].(string)
		if stored == "" || old[d.password] == nil || reflect.DeepEqual(old[d.key], updated[d.key]) ||
			d.harmless != nil && d.harmless(old[d.key]) || slices.ContainsFunc(ops, sets("driver_info", d.password)) {
			continue
		}
		return node.Refuse(node.Invalid,
			"driver_info/%s decides whom %s is shown to: to change it, set driver_info/%s in the same request", d.key,
			d.password, d.password)
	}
	return nil
}

// checkPullSecretAgain does the same for instance_info/image_pull_secret, which the
// registry of the image is shown.
func checkPullSecretAgain(old, updated map[string]any, ops []rest.Operation) error {
	const secret, more, source = "image_pull_secret", "image_pull_registry", "image_source"
	stored, _ := updated[secret].(string)
	if stored == "" || old[secret] == nil || slices.ContainsFunc(ops, sets("instance_info", secret)) {
		return nil
	}
	from, to := containerRegistry(old[source]), containerRegistry(updated[source])
	if (to == "" || to == from) && (updated[more] == nil || reflect.DeepEqual(old[more], updated[more])) {
		return nil
	}
	return node.Refuse(node.Invalid,
		"instance_info/%s and %s decide whom %s is shown to: to change them, set instance_info/%s in the same request, "+
			"or remove it", source, more, secret, secret)
}

// containerRegistry is the host of an oci:// URL, "" of any other.
func containerRegistry(source any) string {
	text, _ := source.(string)
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "oci" {
		return ""
	}
	return u.Host
}

// sets returns a filter for operations that set a key of an object of the node.
func sets(object, key string) func(rest.Operation) bool {
	return func(o rest.Operation) bool {
		if o.Op == "remove" {
			return false
		}
		if o.Path == "/"+object {
			whole, _ := o.Raw["value"].(map[string]any)
			return whole[key] != nil
		}
		return o.Path == "/"+object+"/"+key
	}
}
