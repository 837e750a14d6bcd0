package lab

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// imageBench serves one file of n octets.
func imageBench(t *testing.T, n int) (*Images, *httptest.Server, []byte) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "images")
	images, err := NewImages(dir)
	if err != nil {
		t.Fatal(err)
	}
	content := bytes.Repeat([]byte("0123456789abcdef"), n/16)
	if err := os.WriteFile(filepath.Join(dir, "os.raw"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(images)
	t.Cleanup(func() {
		server.Close()
		if err := images.Close(); err != nil {
			t.Error(err)
		}
	})
	return images, server, content
}

func fetch(t *testing.T, method, address, byteRange string) (*http.Response, []byte, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if byteRange != "" {
		r.Header.Set("Range", byteRange)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response, body, err
}

func TestImages(t *testing.T) {
	images, server, content := imageBench(t, 1<<20)
	tests := []struct {
		name, method, path, byteRange string
		fault                         *ImageFault
		status                        int
		length                        int // of the body that came
		broken                        bool
	}{
		{"whole", "GET", "/os.raw", "", nil, 200, 1 << 20, false},
		{"head", "HEAD", "/os.raw", "", nil, 200, 0, false},
		{"part", "GET", "/os.raw", "bytes=10-19", nil, 206, 10, false},
		{"missing", "GET", "/gone", "", nil, 404, 19, false},
		{"folder", "GET", "/", "", nil, 404, 19, false},
		{"out of the folder", "GET", "/..%2fsecret", "", nil, 404, 19, false},
		{"write", "PUT", "/os.raw", "", nil, 405, 21, false},
		{"not found", "GET", "/os.raw", "", &ImageFault{Kind: ImageNotFound, Times: 1}, 404, 19, false},
		{"cut", "GET", "/os.raw", "", &ImageFault{Kind: ImageCut, Bytes: 100_000}, 200, 100_000, true},
		{"cut at once", "GET", "/os.raw", "", &ImageFault{Kind: ImageCut}, 200, 0, true},
		{"no range", "GET", "/os.raw", "bytes=10-19", &ImageFault{Kind: ImageNoRange}, 200, 1 << 20, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.fault != nil {
				if err := images.SetFault("os.raw", *tt.fault); err != nil {
					t.Fatal(err)
				}
			} else {
				images.ClearFaults()
			}
			response, body, err := fetch(t, tt.method, server.URL+tt.path, tt.byteRange)
			if response.StatusCode != tt.status || len(body) != tt.length || (err != nil) != tt.broken {
				t.Errorf("%s, %d octets, %v; expected %d, %d, broken %v", response.Status, len(body), err, tt.status,
					tt.length, tt.broken)
			}
			if tt.broken && response.ContentLength != int64(len(content)) {
				t.Errorf("promised %d octets, expected the whole", response.ContentLength)
			}
		})
	}
	if err := images.SetFault("os.raw", ImageFault{Kind: ImageNotFound, Times: 1}); err != nil {
		t.Fatal(err)
	}
	for _, status := range []int{404, 200} {
		if response, _, err := fetch(t, "GET", server.URL+"/os.raw", ""); err != nil || response.StatusCode != status {
			t.Errorf("fault for once: %s, %v, expected %d", response.Status, err, status)
		}
	}
	server.Close() // A body is counted behind its last write, which its reader may overtake.
	want := ImageCount{Requests: 9, Ranges: 2, Bytes: 3*(1<<20) + 10 + 100_000}
	if diff := cmp.Diff(want, images.Counts()["os.raw"]); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

func TestImagesSlow(t *testing.T) {
	images, server, content := imageBench(t, 32<<10)
	if err := images.SetFault("os.raw", ImageFault{Kind: ImageSlow, Rate: 128 << 10}); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	_, body, err := fetch(t, "GET", server.URL+"/os.raw", "")
	if took := time.Since(start); err != nil || !bytes.Equal(body, content) || took < 200*time.Millisecond {
		t.Errorf("%d octets in %s, %v; expected a quarter of a second at least", len(body), took, err)
	}
}

func TestImageFaultRefused(t *testing.T) {
	images, _, _ := imageBench(t, 16)
	for _, bad := range []ImageFault{{Kind: "melt"}, {Kind: ImageCut, Bytes: -1}, {Kind: ImageSlow}} {
		if err := images.SetFault("os.raw", bad); err == nil {
			t.Errorf("%+v: accepted", bad)
		}
	}
}

func TestPhoneHome(t *testing.T) {
	l := &Lab{phoneHome: newPhoneHome(quiet()), log: quiet()}
	server := httptest.NewServer(l.phoneHome)
	defer server.Close()
	post := func(path, contentType, body string) int {
		response, err := http.Post(server.URL+path, contentType, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response.StatusCode
	}
	const form = "application/x-www-form-urlencoded"
	if got := post("/a", form, "hostname=node-0&instance_id=i-1&pub_key_rsa=x"); got != http.StatusNoContent {
		t.Errorf("report: %d", got)
	}
	if got := post("/b", form, "hostname=%zz"); got != http.StatusBadRequest {
		t.Errorf("bad form: %d", got)
	}
	if got := post("/c", form, "a="+strings.Repeat("x", maxReport)); got != http.StatusBadRequest {
		t.Errorf("too long: %d", got)
	}
	response, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: %s", response.Status)
	}
	report, err := l.WaitPhoneHome(t.Context(), func(r Report) bool { return r.Hostname() == "node-0" })
	if err != nil {
		t.Fatal(err)
	}
	want := url.Values{"hostname": {"node-0"}, "instance_id": {"i-1"}, "pub_key_rsa": {"x"}}
	if diff := cmp.Diff(want, report.Form); diff != "" || report.InstanceID() != "i-1" || report.Path != "/a" ||
		len(l.PhoneHomes()) != 1 {
		t.Errorf("report %+v:\n%s", report, diff)
	}
}
