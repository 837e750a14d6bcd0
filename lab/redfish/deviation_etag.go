package redfish

import (
	"net/http"
	"slices"
	"strings"
)

// gzips reports whether the controller compresses its answer to r.
func (p Personality) gzips(r *http.Request) bool {
	return p.has(GzipWeakensETags) && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
}

// showTag is an ETag as this controller sends it.
func (p Personality) showTag(tag string, gzipped bool) string {
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

// tagRefusal refuses a request by its If-Match alone.
func (p Personality) tagRefusal(r *http.Request) error {
	list := r.Header.Get("If-Match")
	switch {
	case list != "" && r.Method == http.MethodPost && p.has(ETagsNotForActions):
		return problem(preconditionFailed)
	case list == "" && r.Method == http.MethodPatch && p.has(ETagsRequired):
		return problem(preconditionRequired)
	case list != "" && r.Method != http.MethodGet && r.Method != http.MethodHead &&
		p.hasAny(ETagsNeverMatch, ETagsWeakRefused, ETagsQuotedRefused) &&
		!slices.ContainsFunc(strings.Split(list, ","), p.wellFormed):
		return problem(preconditionFailed)
	}
	return nil
}
