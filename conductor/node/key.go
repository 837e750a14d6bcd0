package node

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// KnownKey is one key of a node's free-form fields that Ironic or Ferrite knows: a row of Keys.
type KnownKey struct {
	Place     KeyPlace
	Name      string // a * at its end stands for any rest
	Kind      KeyKind
	Hardware  string // the hardware type that it is for, as BaseType names it; "" for all
	Interface string // the kind of interface under which GET validate names it
	Treatment KeyTreatment
	Text      string // the meaning of an Acted key, the readers of a Kept one, the reason and remedy for an Unbuilt one
}

// KeyPlace is the field that a key is in.
type KeyPlace string

// The places of keys. Capabilities are text or an object in properties and instance_info.
const (
	InDriverInfo   KeyPlace = "driver_info"
	InInstanceInfo KeyPlace = "instance_info"
	InProperties   KeyPlace = "properties"
	InCapabilities KeyPlace = "capabilities"
)

// KeyTreatment is the effect of a key.
type KeyTreatment string

// The treatments of keys. GET validate names an Unbuilt key with its reason, and an unknown one.
const (
	Acted   KeyTreatment = "acted upon" // by the conductor or its agent; a value that can never work is refused
	Kept    KeyTreatment = "kept"       // for schedulers, other tools and people; Ironic does not act upon it either
	Unbuilt KeyTreatment = "not built"  // Ironic acts upon it, and Ferrite does not
)

// KeyKind is the form of a key's value. null is none of any kind.
type KeyKind string

// The kinds of keys.
const (
	AnyKey        KeyKind = "any"
	TextKey       KeyKind = "text" // or a number: Ironic's client makes numbers of digits
	URLKey        KeyKind = "URL, path, image or UUID"
	NumberKey     KeyKind = "number"
	FlagKey       KeyKind = "true or false"
	ObjectKey     KeyKind = "object"
	ListKey       KeyKind = "list"
	KernelLineKey KeyKind = "kernel parameters"
	ProtocolKey   KeyKind = "HTTP or HTTPS"
	PersistKey    KeyKind = "Always, Never or Default"
	BaseURLKey    KeyKind = "http(s) URL without user and query"
	ProxyKey      KeyKind = "http(s) URL of a proxy"
	NoProxyKey    KeyKind = "list of hosts, as text"
)

// keyChecks refuse values that can never work, by kind. Values that a reader judges with more knowledge pass: GET
// validate names those.
var keyChecks = map[KeyKind]func(any) error{
	AnyKey:    func(any) error { return nil },
	TextKey:   ofJSON("text", "text", "a number"),
	URLKey:    ofJSON("text", "text"),
	NumberKey: ofJSON("a number", "text", "a number"),
	FlagKey:   ofJSON("true or false", "true or false", "text", "a number"),
	// Ironic takes "" for none.
	ObjectKey:     ofJSON("an object", "an object", "text"),
	ListKey:       ofJSON("a list", "a list", "text"),
	KernelLineKey: checkKernelLine,
	ProtocolKey:   checkProtocol,
	PersistKey:    checkPersist,
	BaseURLKey:    checkBaseURL,
	ProxyKey:      checkProxy,
	NoProxyKey:    ofJSON("a list of hosts, as text", "text"),
}

// jsonKind names the kind of a JSON value.
func jsonKind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "text"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	return "a number"
}

func ofJSON(expected string, kinds ...string) func(any) error {
	return func(v any) error {
		if kind := jsonKind(v); !slices.Contains(kinds, kind) {
			return fmt.Errorf("must be %s, not %s", expected, kind)
		}
		return nil
	}
}

// maxKernelLine is COMMAND_LINE_SIZE of Linux on x86 without its NUL.
const maxKernelLine = 2047

// checkKernelLine refuses parameters with which no boot loader starts a kernel as written. A line break would begin a
// line of the boot script (CVE-2026-46447).
func checkKernelLine(v any) error {
	line, ok := v.(string)
	switch {
	case !ok:
		return ofJSON("text", "text")(v)
	case len(line) > maxKernelLine:
		return fmt.Errorf("has %d bytes: a kernel takes %d in all, shorten it", len(line), maxKernelLine)
	case strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return errors.New("holds a line break or another control character: separate parameters by spaces")
	case strings.ContainsAny(line, `'"\`):
		return errors.New("holds a quote or a backslash, which boot loaders change: write the value without")
	case strings.Contains(line, "${"):
		return errors.New("holds ${, which iPXE would replace: write the value without")
	}
	return nil
}

// checkProtocol takes the protocols by which boot media are served.
func checkProtocol(v any) error {
	switch name, _ := v.(string); strings.ToUpper(name) {
	case "HTTP", "HTTPS":
		return nil
	case "NFS", "CIFS", "SMB":
		return fmt.Errorf("is %s: boot media are served by HTTP and HTTPS alone; remove the key, or set it to HTTP",
			strings.ToUpper(name))
	}
	return errors.New("must be HTTP or HTTPS")
}

// checkPersist takes Ironic's words, and the true and false of its older releases.
func checkPersist(v any) error {
	switch v := v.(type) {
	case bool:
		return nil
	case string:
		if _, ok := persistWords[strings.ToLower(v)]; ok {
			return nil
		}
	}
	return errors.New("must be Always, Never or Default")
}

// persistWords are the values of force_persistent_boot_device, in small letters: the word of today for each.
var persistWords = map[string]string{
	"always": "Always", "never": "Never", "default": "Default", "": "Default",
	"true": "Always", "t": "Always", "yes": "Always", "y": "Always", "on": "Always", "1": "Always",
	"false": "Default", "f": "Default", "no": "Default", "n": "Default", "off": "Default", "0": "Default",
}

// PersistWord reads a value of force_persistent_boot_device: Always, Never or Default.
func PersistWord(v any) string {
	switch v := v.(type) {
	case bool:
		if v {
			return "Always"
		}
	case string:
		if word, ok := persistWords[strings.ToLower(v)]; ok {
			return word
		}
	}
	return "Default"
}

func checkBaseURL(v any) error {
	at, ok := v.(string)
	if !ok {
		return ofJSON("text", "text")(v)
	}
	u, err := url.Parse(at)
	if at != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "") {
		return errors.New("must be an http(s) URL without user and query, such as http://192.0.2.1:7080")
	}
	return nil
}

// checkProxy takes a URL, or a host without a scheme, as Ironic does.
func checkProxy(v any) error {
	at, ok := v.(string)
	if !ok {
		return ofJSON("the URL of a proxy", "text")(v)
	}
	if !strings.Contains(at, "://") {
		at = "http://" + at
	}
	u, err := url.Parse(at)
	if at != "http://" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return errors.New("must be the URL of a proxy, such as http://192.0.2.1:3128")
	}
	return nil
}

// KeyNamed finds the row of a key of a node; nil for an unknown one. The keys of a vendor's hardware type, such as
// ilo_address, have the rows of redfish's.
func (n *Node) KeyNamed(place KeyPlace, name string) *KnownKey {
	if k := keyNamed(place, name); k != nil || place != InDriverInfo {
		return k
	}
	if rest, ok := strings.CutPrefix(name, n.vendorPrefix()); ok && n.vendorPrefix() != "" {
		return keyNamed(place, "redfish_"+rest)
	}
	return nil
}

func keyNamed(place KeyPlace, name string) *KnownKey {
	if k := keysByName[place][name]; k != nil {
		return k
	}
	for _, k := range openKeys {
		if k.Place == place && strings.HasPrefix(name, strings.TrimSuffix(k.Name, "*")) {
			return k
		}
	}
	return nil
}

// vendorPrefix is the prefix of driver_info keys of a vendor's hardware type; "" for the others.
func (n *Node) vendorPrefix() string {
	for _, v := range vendorTypes {
		if v.name == n.Driver {
			return v.settings
		}
	}
	return ""
}

var keysByName, openKeys = func() (map[KeyPlace]map[string]*KnownKey, []*KnownKey) {
	all, open := map[KeyPlace]map[string]*KnownKey{}, []*KnownKey{}
	for i := range Keys {
		k := &Keys[i]
		if all[k.Place] == nil {
			all[k.Place] = map[string]*KnownKey{}
		}
		all[k.Place][k.Name] = k
		if strings.HasSuffix(k.Name, "*") {
			open = append(open, k)
		}
	}
	return all, open
}()

// CheckKeys refuses a change of a node that gives a key a value which can never work. Keys that stay as they are pass,
// so that a node of an earlier release can still be edited. Errors contain no values: they may be secrets.
func CheckKeys(old, n Node) error {
	for _, place := range keyFields {
		before, now := *place.at(&old), *place.at(&n)
		for _, name := range slices.Sorted(maps.Keys(now)) {
			k, v := n.KeyNamed(place.name, name), now[name]
			if k == nil || k.Treatment != Acted || v == nil || reflect.DeepEqual(before[name], v) {
				continue
			}
			if err := keyChecks[k.Kind](v); err != nil {
				return Refuse(Invalid, "%s/%s %v", place.name, name, err)
			}
		}
	}
	return nil
}

// keyFields are the fields with keys.
var keyFields = []struct {
	name KeyPlace
	at   func(*Node) *map[string]any
}{
	{InDriverInfo, func(n *Node) *map[string]any { return &n.DriverInfo }},
	{InInstanceInfo, func(n *Node) *map[string]any { return &n.InstanceInfo }},
	{InProperties, func(n *Node) *map[string]any { return &n.Properties }},
}
