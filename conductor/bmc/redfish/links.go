package redfish

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
)

// ownLinks makes paths of the links of a document that name the BMC's own host: DSP0266 has paths alone in @odata.id,
// and some BMCs write whole URLs, which whole reports.
func ownLinks(body []byte, base string) (paths []byte, whole bool) {
	own, err := url.Parse(base)
	if err != nil || !bytes.Contains(bytes.ToLower(body), []byte(strings.ToLower(own.Hostname()))) {
		return body, false
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var doc any
	if decoder.Decode(&doc) != nil || !shorten(doc, own) {
		return body, false
	}
	if text, err := json.Marshal(doc); err == nil {
		return text, true
	}
	return body, false
}

// isLink reports the properties that hold a link: @odata.id, Members@odata.nextLink, target, @Redfish.ActionInfo, Uri.
func isLink(property string) bool {
	switch property {
	case "@odata.id", "href", "target", "@Redfish.ActionInfo", "Uri":
		return true
	}
	return strings.HasSuffix(property, "@odata.nextLink")
}

// shorten makes paths of own links, and reports whether there were any.
func shorten(v any, own *url.URL) (found bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			link, is := inner.(string)
			if u, err := url.Parse(link); is && isLink(key) && err == nil && sameOrigin(u, own) {
				v[key], found = u.RequestURI(), true
				continue
			}
			found = shorten(inner, own) || found
		}
	case []any:
		for _, inner := range v {
			found = shorten(inner, own) || found
		}
	}
	return found
}

// sameOrigin compares two addresses, of which one may name the port that the other has by its scheme (RFC 3986, 6.2.3).
func sameOrigin(a, b *url.URL) bool {
	port := func(u *url.URL) string {
		if u.Port() == "" {
			return map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
		return u.Port()
	}
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}
