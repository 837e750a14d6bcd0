package nodeapi

import (
	"log/slog"
	"regexp"
	"strings"
)

// userinfo is the part before the host of a URL, user:password or a token. It reaches to the last @, as parsers of
// URLs have it. parameter is a parameter of a query.
var (
	userinfo  = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s/?#"<>]*@`)
	parameter = regexp.MustCompile(`([?&;])([A-Za-z0-9_.-]+)=([^\s&;#"<>]+)`)
)

// signature reports whether a query parameter is a credential for the URL's resource: temp_url_sig of Swift,
// X-Amz-Signature, sig of Azure; or the boot word, which authenticates inspection data.
func signature(name string) bool {
	name = strings.ToLower(name)
	return name == "sig" || name == "key" || name == "boot_word" || strings.HasSuffix(name, "_sig") ||
		strings.HasSuffix(name, "signature") ||
		strings.HasSuffix(name, "apikey") || strings.HasSuffix(name, "api_key") || Secret(name)
}

// MaskText returns a text in which the credentials of every URL are replaced:
// its user and password, its signature, a token in its query. A text without
// any is returned as it is.
func MaskText(text string) string {
	if strings.Contains(text, "://") && strings.Contains(text, "@") {
		text = userinfo.ReplaceAllString(text, "${1}"+Masked+"@")
	}
	if !strings.ContainsAny(text, "?&") {
		return text
	}
	return parameter.ReplaceAllStringFunc(text, func(found string) string {
		name, _, _ := strings.Cut(found[1:], "=")
		if !signature(name) {
			return found
		}
		return found[:1] + name + "=" + Masked
	})
}

// MaskAttr is a slog.HandlerOptions.ReplaceAttr that keeps the credentials in URLs out of a log, for all callers.
func MaskAttr(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case string:
		a.Value = slog.StringValue(MaskText(v))
	case error:
		a.Value = slog.StringValue(MaskText(v.Error()))
	}
	return a
}
