package imagestore

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ferrite-metal/ferrite/images/disk"
)

// TestContentEncoding: of an image that comes under a Content-Encoding that was not asked for, the bytes that have the
// checksum are kept and served, and it is fetched once.
func TestContentEncoding(t *testing.T) {
	image := bytes.Repeat([]byte("a disk\x00"), 100_000)
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(image)
	z.Close()
	packed := out.Bytes()
	for name, tc := range map[string]struct {
		coding     string
		sent       []byte
		want, kept []byte
		fail       string
	}{
		"stored":                {"x-gzip", packed, packed, packed, ""},
		"compressed on the way": {"gzip", packed, image, image, ""},
		"neither":               {"gzip", packed, []byte("another"), nil, "inside: sha256 checksum is wrong"},
		"not compressed":        {"br", image, []byte("another"), nil, "no gz or zst stream"},
		"no checksum":           {"gzip", packed, nil, nil, "give the checksum"},
	} {
		t.Run(name, func(t *testing.T) {
			var reads atomic.Int64
			origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				reads.Add(1)
				w.Header().Set("Content-Encoding", tc.coding)
				w.Write(tc.sent)
			}))
			defer origin.Close()
			s := open(t, Config{Cache: 1 << 30})
			sum := disk.Checksum{}
			if tc.want != nil {
				sum = sumOf(tc.want)
				src := Source{URLs: []string{origin.URL + "/os.raw"}, Client: origin.Client(), Sum: sum}
				got, status, err := get(t.Context(), serve(t, s, src), "")
				if good := status == http.StatusOK && bytes.Equal(got, tc.kept); err != nil || good != (tc.kept != nil) {
					t.Errorf("%d bytes, %d, error %v", len(got), status, err)
				}
				if n := reads.Load(); n != 1 {
					t.Errorf("pulled %d times", n)
				}
			}
			var added Added
			err := s.AddFrom(t.Context(), origin.Client(), []string{origin.URL + "/os.raw"}, sum,
				func(int64, int64) error { return nil }, func(a Added) error { added = a; return nil })
			if tc.fail != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fail) {
					t.Errorf("error is %v, expected %q", err, tc.fail)
				}
			} else if err != nil || added.Digest != digestPrefix+sumOf(tc.kept).Sum || added.Size != int64(len(tc.kept)) {
				t.Errorf("added %+v, error %v", added, err)
			}
			if left, err := os.ReadDir(s.Dir + "/" + partialDir); err != nil || len(left) != 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}
