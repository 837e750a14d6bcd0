package hostapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// TestDataImage: an image needs a URL that a machine's controller can fetch.
func TestDataImage(t *testing.T) {
	for text, want := range map[string]string{
		`{"spec":{"url":"http://localhost/abc/abc.php"}}`:            "",
		`{"spec":{"url":"https://me:word@10.0.0.1:8443/a.iso?x=y"}}`: "",
		`{"spec":{}}`:                                                   `spec.url: it is required`,
		`{"spec":{"url":""}}`:                                           `spec.url: it is required`,
		`{"spec":{"url":"abc"}}`:                                        `spec.url: "abc": expected a URL of http or https`,
		`{"spec":{"url":"/a.iso"}}`:                                     `spec.url: "/a.iso": expected a URL`,
		`{"spec":{"url":"http:///a.iso"}}`:                              `spec.url: "http:///a.iso": expected a URL`,
		`{"spec":{"url":"http://a b/a.iso"}}`:                           `spec.url: "http://a b/a.iso": expected a URL`,
		`{"spec":{"url":"unix://localhost/a.iso"}}`:                     `spec.url: "unix://localhost/a.iso": expected a URL`,
		`{"spec":{"url":"file:///a.iso"}}`:                              `spec.url: "file:///a.iso": expected a URL`,
		`{"spec":{"url":"nfs://10.0.0.1/a.iso"}}`:                       `spec.url: "nfs://10.0.0.1/a.iso": expected a URL`,
		`{"spec":{"url":"oci://registry/a"}}`:                           `spec.url: "oci://registry/a": expected a URL`,
		`{"spec":{"url":"http://a/b"},"status":{"error":{"count":-1}}}`: `status.error.count: "-1": expected 0 or more`,
	} {
		i := &hostapi.DataImage{TypeMeta: hostapi.TypeMeta{Kind: hostapi.KindDataImage},
			ObjectMeta: hostapi.ObjectMeta{Name: "node-0", Namespace: "metal3"}}
		if err := json.Unmarshal([]byte(text), i); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(texts(hostapi.Check(i)), "\n")
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}
