package httpboot

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/pxe"
)

// FuzzPath: an address without a lease gets nothing but a boot loader, at any path.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{pxe.ScriptPath(mac(1)), pxe.KernelPath(mac(1)), pxe.OverlayPath(mac(2)),
		pxe.LoaderPath("a.efi"), pxe.LoaderPath("../vmlinuz"), pxe.LoaderPath("%2e%2e/vmlinuz"),
		pxe.LoaderPath("a.efi/../vmlinuz"),
		"/ipxe/", "//boot//", "/ipxe/52:54:00:77:00:01", "/ipxe/5254.0077.0001",
		"/boot/52-54-00-77-00-01/../52-54-00-77-00-02/kernel", "/deploy/../x"} {
		f.Add(seed, "", "")
	}
	f.Add(pxe.LoaderPath("a.efi"), "bytes=-9223372036854775808", `"x"`)
	r := newRig(f)
	f.Fuzz(func(t *testing.T, path, ranges, tag string) {
		u, err := url.ParseRequestURI(path)
		if err != nil || !strings.HasPrefix(path, "/") {
			return // net/http refuses it
		}
		req := httptest.NewRequest(http.MethodGet, "/", nil)
		req.URL, req.RemoteAddr = u, "198.51.100.1:1234"
		req.Header.Set("Range", ranges)
		req.Header.Set("If-None-Match", tag)
		rec := httptest.NewRecorder()
		r.ServeHTTP(&withDeadline{rec}, req)
		for _, secret := range []string{"a kernel", "a ramdisk", "files of 2", "quiet"} {
			if strings.Contains(rec.Body.String(), secret) {
				t.Errorf("%s: a stranger is given %q", path, rec.Body)
			}
		}
		if rec.Code >= http.StatusInternalServerError {
			t.Errorf("%s: status %d: %s", path, rec.Code, rec.Body)
		}
	})
}
