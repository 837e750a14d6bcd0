package node

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
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

func ofJSON(expected string, kinds ...string) func(any) error {
	return func(v any) error {
		if kind := nodeapi.JSONKind(v); !slices.Contains(kinds, kind) {
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
	if _, ok := persistWord(v); !ok {
		return errors.New("must be Always, Never or Default")
	}
	return nil
}

// PersistWord reads a value of force_persistent_boot_device: Always, Never or Default.
func PersistWord(v any) string {
	word, _ := persistWord(v)
	return cmp.Or(word, "Default")
}

func persistWord(v any) (word string, ok bool) {
	switch v := v.(type) {
	case bool:
		return map[bool]string{true: "Always", false: "Default"}[v], true
	case string:
		for _, word := range []string{"Always", "Never", "Default"} {
			if strings.EqualFold(v, word) {
				return word, true
			}
		}
		is, known := nodeapi.Truth(v)
		return map[bool]string{true: "Always", false: "Default"}[is], known || v == ""
	}
	return "", false
}

func checkBaseURL(v any) error {
	at, ok := v.(string)
	if !ok {
		return ofJSON("text", "text")(v)
	}
	if at != "" && !IsBaseURL(at) {
		return errors.New("must be an http(s) URL without user and query, such as http://192.0.2.1:7080")
	}
	return nil
}

// IsBaseURL reports whether a text is an http(s) URL to which paths can be added.
func IsBaseURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") && u.User == nil &&
		u.RawQuery == "" && u.Fragment == ""
}

// checkProxy takes a URL, or a host without a scheme, as Ironic does.
func checkProxy(v any) error {
	at, ok := v.(string)
	if !ok {
		return ofJSON("the URL of a proxy", "text")(v)
	}
	if !strings.Contains(at, "://") {
		if strings.Contains(at, "@") { // answers mask passwords in URLs alone
			return errors.New("has a user but no scheme: write http:// before it, so that the password is masked")
		}
		at = "http://" + at
	}
	u, err := url.Parse(at)
	if at != "http://" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return errors.New("must be the URL of a proxy, such as http://192.0.2.1:3128")
	}
	return nil
}
