package nodeapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFaultThereAndBack(t *testing.T) {
	for name, f := range map[string]*Fault{
		"client": NewFault(http.StatusBadRequest, `no "%s"`, "such"),
		"server": NewFault(http.StatusInternalServerError, "ours"),
		"route":  Routing(http.StatusNotAcceptable, "too new"),
	} {
		got := ParseFault(f.Status, f.Body())
		if got.Text != f.Text || got.Status != f.Status {
			t.Errorf("%s: %+v came back as %+v", name, f, got)
		}
	}
}

func TestFaultBody(t *testing.T) {
	for want, f := range map[string]*Fault{
		`{"error_message":"{\"faultcode\":\"Client\",\"faultstring\":\"a\",\"debuginfo\":null}"}`: NewFault(400, "a"),
		`{"error_message":"{\"faultcode\":\"Server\",\"faultstring\":\"a\",\"debuginfo\":null}"}`: NewFault(503, "a"),
		`{"error_message":"{\"code\":404,\"title\":\"Not Found\",\"description\":\"\"}"}`:         Routing(404, ""),
	} {
		if diff := cmp.Diff(want, string(f.Body())); diff != "" {
			t.Error(diff)
		}
	}
}

// TestParseFault: any answer of a server or a proxy yields a text.
func TestParseFault(t *testing.T) {
	for body, want := range map[string]string{
		`{"error_message":{"faultstring":"as an object"}}`:           "as an object",
		`{"error_message":"as text"}`:                                "as text",
		`{"error_message":"{\"title\":\"Not Found\",\"code\":404}"}`: "Not Found",
		`<html>bad gateway</html>`:                                   "<html>bad gateway</html>",
		`{"error_message":"{\"faultstring\":\"twice encoded\"}"}`:    "twice encoded",
		`{}`:                     "{}",
		``:                       "",
		`{"error_message":null}`: "",
		`{"error_message":"{\"description\":\"d\",\"title\":\"Not\"}"}`: "d",
	} {
		if got := ParseFault(500, []byte(body)).Text; got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestMask(t *testing.T) {
	in := map[string]any{
		"redfish_password": "x", "address": "a", "auth_TOKEN": 7, "empty_password": nil,
		"deep":  map[string]any{"ssh_private_key": "k", "port": 1},
		"list":  []any{1, "https://t:p@h/i", map[string]any{"password": "p"}},
		"plain": []any{"http://h/i"},
	}
	before, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"redfish_password": Masked, "address": "a", "auth_TOKEN": Masked, "empty_password": nil,
		"deep":  map[string]any{"ssh_private_key": Masked, "port": 1},
		"list":  []any{1, "https://******@h/i", map[string]any{"password": Masked}},
		"plain": []any{"http://h/i"},
	}
	if diff := cmp.Diff(want, Mask(in)); diff != "" {
		t.Errorf("masked (-want +got):\n%s", diff)
	}
	if after, err := json.Marshal(in); err != nil || string(before) != string(after) {
		t.Errorf("masking wrote to its input: %s, %v", after, err)
	}
	got := MaskInstance(map[string]any{"configdrive": "x", "image_url": "http://h/i?temp_url_sig=s",
		"image_source": "http://u:p@h/i"})
	if diff := cmp.Diff(map[string]any{"configdrive": Masked, "image_url": Masked, "image_source": "http://******@h/i"},
		got); diff != "" {
		t.Errorf("instance_info (-want +got):\n%s", diff)
	}
	if Mask(nil) != nil || MaskInstance(nil) != nil {
		t.Error("nothing became something")
	}
}

func TestMaskText(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"GET http://h/i?a=b: 404":    "GET http://h/i?a=b: 404",
		"mail ops@example.org":       "mail ops@example.org",
		"http://h/path@v1":           "http://h/path@v1",
		"http://user:pass@h:80/i":    "http://******@h:80/i",
		"http://user:p@ss@h/i":       "http://******@h/i",
		"https://token@h":            "https://******@h",
		"http://user:pa'ss@h":        "http://******@h",
		`Get "http://u:p@h/i": EOF`:  `Get "http://******@h/i": EOF`,
		"http://a:b@h and s3://c@d/": "http://******@h and s3://******@d/",
		"http://h/i?temp_url_sig=abc&temp_url_expires=9": "http://h/i?temp_url_sig=******&temp_url_expires=9",
		"http://h/i?X-Amz-Date=1&X-Amz-Signature=abc":    "http://h/i?X-Amz-Date=1&X-Amz-Signature=******",
		"http://h/i?sv=1&sig=a%2Fb#x":                    "http://h/i?sv=1&sig=******#x",
		"POST /v1/commands/?agent_token=abc&wait=true":   "POST /v1/commands/?agent_token=******&wait=true",
	} {
		if got := MaskText(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		if got := MaskText(want); got != want {
			t.Errorf("%q became %q the second time", want, got)
		}
	}
}

func TestCheckShape(t *testing.T) {
	for doc, want := range map[string]string{
		`[[[1]]]`:                 "",
		`[[[[1]]]]`:               "nested deeper than 3 levels",
		`{"a":"[[[[[[,,,,,,,,,"}`: "",
		`{"a\"[[[[":1}`:           "",
		`[[[]],[[]],[{"a":1}]]`:   "",
		`[0,0,0,0,0,0,0,0,0,0]`:   "",
		`[0,0,0,0,0,0,0,0,0,0,0]`: "more than 10 values",
		`[{},{},{},{},{}]`:        "",
		`[{},{},{},{},{},{}]`:     "more than 10 values",
		`[[[`:                     "",
		`"\`:                      "",
	} {
		got := ""
		if err := CheckShape([]byte(doc), 3, 10); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", doc, got, want)
		}
	}
}

func TestParseVersion(t *testing.T) {
	if minor, err := ParseVersion(Version(82)); err != nil || minor != 82 {
		t.Errorf("1.82 read as 1.%d, %v", minor, err)
	}
	for _, bad := range []string{"", "1", "1.", "a.b", "1.-2", "1.+2", "1.2.3", "2.82", "latest"} {
		if minor, err := ParseVersion(bad); err == nil {
			t.Errorf("%q read as 1.%d", bad, minor)
		}
	}
}

func FuzzNegotiate(f *testing.F) {
	for _, seed := range []string{"1.1", "latest", "", "1.", "-1.5", "1.116", "2.0", "99999999999999999999.1", "1.+5"} {
		f.Add(seed, "baremetal "+seed)
	}
	f.Fuzz(func(t *testing.T, ours, common string) {
		for _, h := range []http.Header{{HeaderVersion: {ours}}, {HeaderServiceVersion: {common}}} {
			minor, fault := negotiate(h)
			if fault == nil && (minor < MinMinor || minor > MaxMinor) {
				t.Fatalf("%v: minor version %d", h, minor)
			}
		}
	})
}

// FuzzMaskText: masked text stays as it is, and no URL keeps user and password.
func FuzzMaskText(f *testing.F) {
	for _, seed := range []string{"http://u:p@h/i?sig=x", "a://b@c://d@", "?a=b&token=c;sig=d", "://@", "http://[::1]@x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := MaskText(text)
		if twice := MaskText(once); twice != once {
			t.Errorf("%q became %q, then %q", text, once, twice)
		}
		if u, err := url.Parse(text); err == nil && u.User != nil && u.Scheme != "" && strings.Contains(text, "://") {
			if masked, err := url.Parse(once); err != nil || masked.User == nil ||
				masked.User.String() != url.User(Masked).String() {
				t.Errorf("%q became %q", text, once)
			}
		}
	})
}

// TestMaskNamedValue: the value of a setting with the name of a secret is one, as in
// the arguments of bios.apply_configuration.
func TestMaskNamedValue(t *testing.T) {
	args := map[string]any{"settings": []any{
		map[string]any{"name": "AdminPassword", "value": "x"}, map[string]any{"name": "BootMode", "value": "Uefi"},
	}}
	want := map[string]any{"settings": []any{
		map[string]any{"name": "AdminPassword", "value": Masked}, map[string]any{"name": "BootMode", "value": "Uefi"},
	}}
	if got := Mask(args); !cmp.Equal(got, want) {
		t.Errorf("masked: %v, want %v", got, want)
	}
}
