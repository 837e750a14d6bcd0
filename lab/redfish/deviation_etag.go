package redfish

import (
	"net/http"
	"strings"
)

// gzips reports whether the controller compresses its answer to r.
func (p Personality) gzips(r *http.Request) bool {
	return p.has(GzipWeakensETags) && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
}

// ShowTag is an ETag as this controller sends it.
func (p Personality) ShowTag(tag string, gzipped bool) string {
	if p.has(ETagsUnquoted) {
		tag = strings.Trim(tag, `"`)
	}
	if p.has(ETagsWeak) || gzipped {
		tag = "W/" + tag
	}
	return tag
}

// wellFormed reports whether this controller reads one tag of If-Match at all.
func (p Personality) wellFormed(tag string) bool {
	bare, weak := strings.CutPrefix(strings.TrimSpace(tag), "W/")
	quoted := strings.HasPrefix(bare, `"`)
	switch {
	case p.has(ETagsNeverMatch), weak && p.has(ETagsWeakRefused), quoted && p.has(ETagsQuotedRefused):
		return false
	}
	return quoted || bare == "*" || p.hasAny(ETagsUnquoted, ETagsQuotedRefused)
}

// matches reports whether an If-Match holds the tag of the resource, as this controller compares them.
func (p Personality) matches(list, tag string) bool {
	for candidate := range strings.SplitSeq(list, ",") {
		bare := strings.TrimPrefix(strings.TrimSpace(candidate), "W/")
		if p.wellFormed(candidate) && (bare == "*" || strings.Trim(bare, `"`) == strings.Trim(tag, `"`)) {
			return true
		}
	}
	return false
}
