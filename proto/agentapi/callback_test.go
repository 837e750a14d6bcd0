package agentapi

import (
	"strings"
	"testing"
)

// TestCallback: an address that could be read in two ways, or that no agent has,
// is refused.
func TestCallback(t *testing.T) {
	const noURL, more, host, port, path = "is not an http(s) URL", "names more than", "neither an IP address",
		"not one of 1 to 65535", "the path may have"
	for callback, want := range map[string]string{
		"https://10.0.0.5:9999":                 "",
		"http://10.0.0.5:9999/":                 "",
		"https://web-1.example.com:9999":        "",
		"HTTPS://10.0.0.5:9999":                 "",
		"https://[fd00::5]:9999":                "",
		"https://[fe80::5%25eth0]:9999":         "",
		"https://h/agents/web_1.a~b":            "",
		"https://h//":                           "",
		"":                                      noURL,
		"10.0.0.5:9999":                         noURL,
		"//10.0.0.5:9999":                       noURL,
		"https:10.0.0.5":                        noURL,
		"https:///v1":                           noURL,
		"https://:9999":                         noURL,
		"https://10.0.0.5:99x":                  noURL,
		"https://[fd00::5":                      noURL,
		"gopher://10.0.0.5":                     noURL,
		"file:///etc/passwd":                    noURL,
		" https://10.0.0.5":                     noURL,
		"https://u@10.0.0.5":                    more,
		"https://u:p@10.0.0.5":                  more,
		"https://@10.0.0.5":                     more,
		"https://10.0.0.5\\@10.0.0.6":           noURL,
		"https://10.0.0.5#":                     more,
		"https://10.0.0.5/#/x":                  more,
		"https://10.0.0.5?":                     more,
		"https://10.0.0.5/a?b=c":                more,
		"https://bücher.example":                host,
		"https://10.0.0。5":                      host,
		"https://h%41st":                        noURL,
		"https://h%C3%BC":                       host,
		"https://a,b":                           host,
		"https://[fe80::5%25a!b]":               host,
		"https://10.0.0.5:0":                    port,
		"https://10.0.0.5:65536":                port,
		"https://10.0.0.5:":                     port,
		"https://10.0.0.5:99999999999":          port,
		"https://h/../admin":                    path,
		"https://h/./a":                         path,
		"https://h/a//b":                        path,
		"https://h/a/%2e%2e/b":                  path,
		"https://h/a%2fb":                       path,
		"https://h/a;b=c":                       path,
		"https://h/ü":                           path,
		"https://h/" + strings.Repeat("a", 255): "at most 255",
	} {
		err := beat(callback).Validate()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: error %v, want %q", callback, err, want)
		}
	}
	for callback, want := range map[string]string{"https://h": "", "https://h/": "", "https://h//": "",
		"https://h/a/b/": "a/b", "https://h/%2e": "%2e"} {
		if got := beat(callback).CallbackPath(); got != want {
			t.Errorf("%q has the path %q, want %q", callback, got, want)
		}
	}
}
