package savedtree

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"io"
	"net/netip"
	"slices"
	"strings"
)

// shortest is the least length of a value that is also replaced inside other texts; shorter values are replaced where
// they stand alone.
const shortest = 6

// redactor maps values to replacements. Its key belongs to one archive, so that a value cannot be found by trying.
type redactor struct {
	key   []byte
	known map[string]string // replacements by value
	order []string          // known values that are long enough, the longest first
}

func newRedactor() (*redactor, error) {
	r := &redactor{key: make([]byte, 32), known: map[string]string{}}
	_, err := io.ReadFull(rand.Reader, r.key)
	return r, err
}

// learn finds the values of a document that are to be replaced.
func (r *redactor) learn(property string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			r.learn(key, inner)
		}
	case []any:
		for _, inner := range v {
			r.learn(property, inner)
		}
	case string:
		r.value(property, v)
	}
}

// value chooses the replacement for one value.
func (r *redactor) value(property, text string) {
	if _, known := r.known[text]; known || impersonal(text) {
		return
	}
	switch kindOf(property) {
	case shaped:
		r.known[text] = r.shape(text, false)
	case hexed:
		r.known[text] = r.shape(text, isHex(text))
	case address:
		r.address(text)
	case plain, removed:
	}
}

// address notes IP addresses and names of hosts. A property of that name may be of another kind: a
// MAC, a path.
func (r *redactor) address(text string) {
	if ip, err := netip.ParseAddr(text); err == nil {
		if !ip.IsLoopback() && !ip.IsUnspecified() {
			r.known[text] = r.documentation(ip)
		}
		return
	}
	if !strings.ContainsAny(text, "/ :") {
		r.known[text] = r.shape(text, false)
	}
}

// documentation is an address of a network that no site uses (RFC 2544 and RFC 3849; RFC 5737's networks are too
// small).
func (r *redactor) documentation(ip netip.Addr) string {
	sum := r.sum(ip.String())
	if ip.Is4() || ip.Is4In6() {
		return netip.AddrFrom4([4]byte{198, 18 + sum[0]&1, sum[1], sum[2]}).String()
	}
	return netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 12: sum[0], 13: sum[1], 14: sum[2], 15: sum[3]}).String()
}

func (r *redactor) sum(text string) []byte {
	h := hmac.New(sha256.New, r.key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

const (
	digits = "0123456789"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// shape is another text of the same form. With hexadecimal letters stay such letters. Signs stay as
// they are, and so does the first byte of a MAC in its kind: the result of the second digit keeps
// whether an address is local or a group's.
func (r *redactor) shape(text string, hexadecimal bool) string {
	// The case is not part of the value: one MAC address stands in both.
	sum, out := r.sum(strings.ToLower(strings.NewReplacer(":", "", "-", "").Replace(text))), []byte(text)
	n, hex := 0, "0123456789abcdef"
	if strings.ContainsAny(text, "ABCDEF") {
		hex = strings.ToUpper(hex)
	}
	for i, c := range out {
		byteAt := sum[n%len(sum)] + byte(n/len(sum))
		from := ""
		switch {
		case hexadecimal && strings.IndexByte("0123456789abcdefABCDEF", c) >= 0:
			from = hex
		case strings.IndexByte(digits, c) >= 0:
			from = digits
		case strings.IndexByte(lower, c) >= 0:
			from = lower
		case strings.IndexByte(upper, c) >= 0:
			from = upper
		default:
			continue
		}
		n++
		if hexadecimal && n == 2 {
			from = string([]byte{c}) // unicast or multicast, universal or local: the drivers look at it
		}
		out[i] = from[int(byteAt)%len(from)]
	}
	return string(out)
}

func isHex(text string) bool {
	bare := strings.NewReplacer(":", "", "-", "", "0x", "").Replace(text)
	return bare != "" && strings.Trim(strings.ToLower(bare), "0123456789abcdef") == ""
}

// ready sorts the known values, the longest first: a name may be part of another.
func (r *redactor) ready() {
	for value := range r.known {
		if len(value) >= shortest {
			r.order = append(r.order, value)
		}
	}
	slices.SortFunc(r.order, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
}

// document is a copy of a document, or of a part of one, with all known values replaced.
func (r *redactor) document(property string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, inner := range v {
			name := key
			if !strings.Contains(key, "@") { // Members@odata.count looks like an address of mail
				name = r.text("", key)
			}
			out[name] = r.document(key, inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = r.document(property, inner)
		}
		return out
	case string:
		return r.text(property, v)
	}
	if kindOf(property) == removed {
		return nil
	}
	return v
}

// text is a text with all known values replaced.
func (r *redactor) text(property, text string) string {
	if kindOf(property) == removed && !strings.HasPrefix(text, "/") {
		return ""
	}
	if other, known := r.known[text]; known && property != "@odata.type" {
		return other
	}
	for _, p := range patterns {
		text = p.form.ReplaceAllStringFunc(text, func(found string) string {
			if bare, is := strings.CutPrefix(found, "MAC("); is {
				return "MAC(" + r.shape(bare, true)
			}
			if impersonal(found) || strings.Contains(found, "@odata.") || strings.Contains(found, "@Redfish.") {
				return found
			}
			return r.shape(found, p.kind == hexed)
		})
	}
	if property == "@odata.type" {
		return text
	}
	for _, value := range r.order {
		if strings.Contains(text, value) {
			text = strings.ReplaceAll(text, value, r.known[value])
		}
	}
	return text
}
