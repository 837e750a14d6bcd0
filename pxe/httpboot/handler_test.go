package httpboot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/loader"
	"github.com/ferrite-metal/ferrite/pxe/pxetest"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func mac(n byte) net.HardwareAddr { return net.HardwareAddr{0x52, 0x54, 0, 0x77, 0, n} }

// rig is the handler over a folder with one loader, a kernel and a ramdisk;
// machine 1 boots them, 2 has URLs and files of its own, 3 is to boot nothing, 4 has a file that is
// missing, 5 a command line iPXE cannot take.
type rig struct {
	http.Handler
	booter *pxetest.Booter
	logged *bytes.Buffer
}

func newRig(t testing.TB) *rig {
	t.Helper()
	dir, loaders := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{filepath.Join(loaders, "a.efi"): "a boot loader",
		filepath.Join(dir, "vmlinuz"): "a kernel", filepath.Join(dir, "initrd"): "a ramdisk"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := &rig{booter: &pxetest.Booter{}, logged: &bytes.Buffer{}}
	kernel, initrd := filepath.Join(dir, "vmlinuz"), filepath.Join(dir, "initrd")
	r.booter.Set(mac(1), pxe.Boot{Action: pxe.Ramdisk, Kernel: kernel, Initrd: initrd, Cmdline: "quiet"})
	r.booter.Set(mac(2), pxe.Boot{Action: pxe.Ramdisk, Kernel: "http://elsewhere/k", Initrd: "https://elsewhere/i",
		Overlay: "files of 2"})
	r.booter.Set(mac(3), pxe.Boot{Action: pxe.Address})
	r.booter.Set(mac(4), pxe.Boot{Action: pxe.Ramdisk, Kernel: filepath.Join(dir, "missing"), Initrd: dir})
	r.booter.Set(mac(5), pxe.Boot{Action: pxe.Ramdisk, Kernel: kernel, Initrd: initrd, Cmdline: "x=${net0/ip}"})
	r.Handler = New(Config{
		URL: "http://10.77.0.1:8088", Loaders: loader.Folder(loaders), Booter: r.booter,
		Client: func(ip netip.Addr, _ net.HardwareAddr) (pxe.Client, bool) {
			n := ip.As4()[3] // 192.0.2.N is leased to machine N
			if ip.IsLoopback() {
				n = 9
			}
			return pxe.Client{MAC: mac(n), Arch: 16, Firmware: pxe.UEFIHTTP, IP: ip}, ip.IsLoopback() ||
				netip.MustParsePrefix("192.0.2.0/24").Contains(ip)
		},
		Extra: map[string]http.Handler{"/deploy/": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "extra %s", r.URL.Path)
		})},
		Log: slog.New(slog.NewTextHandler(r.logged, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	return r
}

func (r *rig) do(method, path string, header ...string) *http.Response {
	req := httptest.NewRequest(method, path, nil) // from 192.0.2.1
	if _, n, ok := strings.Cut(path, "52-54-00-77-00-"); ok {
		hw, err := net.ParseMAC("52-54-00-77-00-" + n[:2])
		if err != nil {
			panic(err) // a test that names no machine
		}
		req.RemoteAddr = fmt.Sprintf("192.0.2.%d:1234", hw[5])
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	r.ServeHTTP(&withDeadline{rec}, req)
	return rec.Result()
}

// withDeadline gives the recorder the deadline a real connection has.
type withDeadline struct{ *httptest.ResponseRecorder }

func (withDeadline) SetWriteDeadline(time.Time) error { return nil }

func text(t *testing.T, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestLentAddress: a machine's files go to the address that DHCP leased to it and to no other, with any MAC in the
// path.
func TestLentAddress(t *testing.T) {
	r := newRig(t)
	ask := func(h http.Handler, path, from string) (int, string) {
		req := httptest.NewRequest(http.MethodGet, path, nil)
		req.RemoteAddr = from + ":1234"
		rec := httptest.NewRecorder()
		h.ServeHTTP(&withDeadline{rec}, req)
		return rec.Code, rec.Body.String()
	}
	for _, path := range []string{pxe.ScriptPath(mac(1)), pxe.KernelPath(mac(1)), pxe.InitrdPath(mac(1)),
		pxe.FailedPath(mac(1)), pxe.ScriptPath(mac(99))} {
		for from, lent := range map[string]bool{"192.0.2.1": path != pxe.ScriptPath(mac(99)), "192.0.2.2": false,
			"198.51.100.1": false} {
			if status, body := ask(r, path, from); (status == http.StatusOK) != lent || !lent &&
				(status != http.StatusForbidden || strings.Contains(body, "quiet")) {
				t.Errorf("%s asked from %s: %d %q", path, from, status, body)
			}
		}
	}
	stages := len(r.booter.Stages())
	if stages != 4 { // the machine's own
		t.Errorf("%d stages were told", stages)
	}
	foreign := New(Config{URL: "http://10.77.0.1:8088", Booter: r.booter, Foreign: true,
		Log: slog.New(slog.DiscardHandler)})
	if status, body := ask(foreign, pxe.ScriptPath(mac(1)), "198.51.100.1"); status != http.StatusOK {
		t.Errorf("with another DHCP server: %d %q", status, body)
	}
}

func TestPaths(t *testing.T) {
	for _, tc := range []struct {
		method, path string
		status       int
		body         string // a part of it
		stage        pxe.Stage
	}{
		{"GET", "/loader/a.efi", 200, "a boot loader", pxe.StageHTTP},
		{"HEAD", "/loader/a.efi", 200, "", ""},
		{"GET", "/loader/missing.efi", 404, "no boot loader", ""},
		{"GET", "/loader/", 404, "no boot loader", ""},
		{"GET", "/loader/..%2fsecret", 404, "not found", ""},
		{"GET", "/loader/%5c..%5csecret", 404, "not found", ""},
		{"GET", "/loader/a.efi%00", 200, "a boot loader", pxe.StageHTTP},
		{"GET", "/loader/A.EFI", 200, "a boot loader", pxe.StageHTTP},
		{"GET", "//loader//a.efi", 200, "a boot loader", pxe.StageHTTP},
		{"GET", "/loader%5ca.efi%ff", 200, "a boot loader", pxe.StageHTTP},
		{"GET", "/loader/./a.efi", 200, "a boot loader", pxe.StageHTTP},
		{"POST", "/loader/a.efi", 405, "", ""},
		{"GET", "/ipxe/52-54-00-77-00-01", 200, "/boot/52-54-00-77-00-01/kernel initrd=initrd quiet ||", pxe.StageScript},
		{"GET", "/ipxe/52:54:00:77:00:01", 200, "#!ipxe", pxe.StageScript},
		{"GET", "/ipxe/52-54-00-77-00-03", 200, "exit 1", pxe.StageScript},
		{"GET", "/ipxe/52-54-00-77-00-05", 500, "would expand", ""},
		{"GET", "/ipxe/52-54-00-77-00-99", 404, "not a machine of ours", ""},
		{"GET", "/ipxe/rubbish", 404, "not a MAC address", ""},
		{"GET", "/ipxe/02-00-5e-10-00-00-00-01", 404, "not a MAC address", ""},
		{"GET", "/boot/52-54-00-77-00-01/kernel", 200, "a kernel", pxe.StageKernel},
		{"HEAD", "/boot/52-54-00-77-00-01/kernel", 200, "", ""},
		{"GET", "/boot/52-54-00-77-00-01/initrd", 200, "a ramdisk", pxe.StageRamdisk},
		{"GET", "/boot/52-54-00-77-00-01/other", 404, "", ""},
		{"GET", "/boot/52-54-00-77-00-02/kernel", 302, "http://elsewhere/k", pxe.StageKernel},
		{"GET", "/boot/52-54-00-77-00-02/initrd", 302, "https://elsewhere/i", pxe.StageRamdisk},
		{"GET", "/ipxe/52-54-00-77-00-02", 200, "overlay http://10.77.0.1:8088/boot/52-54-00-77-00-02/overlay ||",
			pxe.StageScript},
		{"GET", "/boot/52-54-00-77-00-02/overlay", 200, "files of 2", ""},
		{"GET", "/boot/52-54-00-77-00-01/overlay", 404, "no files of its own", ""},
		{"GET", "/boot/52-54-00-77-00-03/overlay", 404, "no files of its own", ""},
		{"GET", "/boot/52-54-00-77-00-03/kernel", 404, "not to boot a ramdisk now", ""},
		{"GET", "/boot/52-54-00-77-00-04/kernel", 500, "kernel is not there", ""},
		{"GET", "/boot/52-54-00-77-00-04/initrd", 500, "ramdisk is not there", ""},
		{"GET", "/boot/52-54-00-77-00-99/kernel", 404, "not a machine of ours", ""},
		{"GET", "/boot/52-54-00-77-00-01/failed?error=2d0c618e", 200, "noted", pxe.StageFailed},
		{"GET", "/boot/52-54-00-77-00-99/failed", 404, "not a machine of ours", ""},
		{"GET", "/deploy/abc/image", 200, "extra /deploy/abc/image", ""},
		{"GET", "/", 404, "", ""},
	} {
		t.Run(tc.method+tc.path, func(t *testing.T) {
			r := newRig(t)
			resp := r.do(tc.method, tc.path)
			if body := text(t, resp); resp.StatusCode != tc.status || !strings.Contains(body, tc.body) {
				t.Errorf("got %d %q, want %d %q", resp.StatusCode, body, tc.status, tc.body)
			}
			var stages []pxe.Stage
			for _, s := range r.booter.Stages() {
				stages = append(stages, s.Stage)
			}
			var want []pxe.Stage
			if tc.stage != "" {
				want = []pxe.Stage{tc.stage}
			}
			if diff := cmp.Diff(want, stages); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRanges(t *testing.T) {
	r := newRig(t)
	const path = "/boot/52-54-00-77-00-01/kernel"
	for _, tc := range []struct{ ask, got, length string }{
		{"", "a kernel", "8"},
		{"bytes=0-3", "a ke", "4"},
		{"bytes=4-", "rnel", "4"},
		{"bytes=-2", "el", "2"},
	} {
		var header []string
		if tc.ask != "" {
			header = []string{"Range", tc.ask}
		}
		resp := r.do("GET", path, header...)
		if got := text(t, resp); got != tc.got || resp.Header.Get("Content-Length") != tc.length {
			t.Errorf("%q: got %q of %s bytes", tc.ask, got, resp.Header.Get("Content-Length"))
		}
	}
	if resp := r.do("GET", path, "Range", "bytes=9-"); resp.StatusCode != http.StatusRequestedRangeNotSatisfiable {
		t.Errorf("a range past the end: %d", resp.StatusCode)
	}
	if got := len(r.booter.Stages()); got != 2 {
		t.Errorf("%d downloads reported, want the whole one and the one that begins at 0", got)
	}
	if resp := r.do("HEAD", path); resp.Header.Get("Content-Length") != "8" ||
		resp.Header.Get("Accept-Ranges") != "bytes" {
		t.Errorf("HEAD says %v", resp.Header)
	}
}

// TestServe runs the real server: malformed requests, a large file, and an end in time.
func TestServe(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	big := filepath.Join(t.TempDir(), "big")
	if err := os.WriteFile(big, bytes.Repeat([]byte("0123456789abcdef"), 1<<17), 0o600); err != nil {
		t.Fatal(err)
	}
	r.booter.Set(mac(9), pxe.Boot{Action: pxe.Ramdisk, Kernel: big, Initrd: big})
	pxetest.Serve(t, func(ctx context.Context) error {
		return Serve(ctx, l, r, nil, slog.New(slog.NewTextHandler(io.Discard, nil)))
	})

	for name, tc := range map[string]struct{ send, want string }{
		"rubbish":         {"\x16\x03\x01 hello\r\n\r\n", "HTTP/1.1 400 "},
		"no such version": {"GET / HTTP/9.9\r\n\r\n", "HTTP/1.1 505 "},
		"no host":         {"GET /loader/a.efi HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "},
		"endless header":  {"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n", "HTTP/1.1 431 "},
		"cut short":       {"GET /loa", "HTTP/1.1 400 "},
		"http 1.0":        {"GET /loader/a.efi HTTP/1.0\r\n\r\n", "HTTP/1.0 200 "},
	} {
		if got := raw(t, l.Addr(), tc.send); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: got %.80q, want %q", name, got, tc.want)
		}
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	for ask, want := range map[string]int{"": 2 << 20, "bytes=5-": 2<<20 - 5} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			"http://"+l.Addr().String()+pxe.KernelPath(mac(9)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if ask != "" {
			req.Header.Set("Range", ask)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(text(t, resp)); got != want {
			t.Errorf("%q: got %d bytes, want %d", ask, got, want)
		}
	}
}

// raw sends bytes, closes its side, and returns the answer.
func raw(t *testing.T, to net.Addr, send string) string {
	t.Helper()
	conn, err := net.Dial("tcp4", to.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, send); err != nil {
		return "" // refused while it was still talking
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		return ""
	}
	b, _ := io.ReadAll(conn) // a reset after the answer is the server's right
	return string(b)
}
