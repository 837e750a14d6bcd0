package imagesource_test

import (
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagesource"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// qcow2 begins as an image of a virtual size does.
func qcow2(size uint64) string {
	b := make([]byte, 1024)
	copy(b, "QFI\xfb\x00\x00\x00\x03")
	binary.BigEndian.PutUint64(b[24:], size)
	return string(b)
}

// content serves a file as servers of static files do.
func content(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
	}
}

func gzipped(text string) string {
	var out strings.Builder
	z := gzip.NewWriter(&out)
	_, _ = z.Write([]byte(text)) // to memory
	_ = z.Close()
	return out.String()
}

func TestProbe(t *testing.T) {
	answer := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
	}
	raw := strings.Repeat("\x00", 4096)
	iso := strings.Repeat("\x00", 32769) + "CD001" + strings.Repeat("\x00", 40<<10-32774)
	tar := strings.Repeat("\x00", 257) + "ustar\x00" + raw
	for name, c := range map[string]struct {
		path  string
		serve http.HandlerFunc
		want  node.ImageFound // of Gone and Doubt a part
	}{
		"raw":             {"/os.raw", content(raw), node.ImageFound{Size: 4096}},
		"qcow2":           {"/os.img", content(qcow2(22053650432)), node.ImageFound{Size: 22053650432}},
		"qcow2, negative": {"/os.img", content(qcow2(1 << 63)), node.ImageFound{Gone: "its qcow2 header gives a disk of"}},
		"qcow2 without ranges": {"/os.img", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, qcow2(1<<40)) },
			node.ImageFound{Size: 1 << 40, Doubt: "no Range requests"}},
		"cut qcow2":   {"/os.img", content("QFI\xfb"), node.ImageFound{Gone: "its qcow2 header is cut short"}},
		"compressed":  {"/os", content("\x28\xb5\x2f\xfd" + raw), node.ImageFound{}},
		"by its name": {"/os.raw.xz", content(raw), node.ImageFound{}},
		"a page":      {"/os.raw", content("<html>" + raw), node.ImageFound{Gone: "it is an HTML page; it came in place"}},
		"a page, compressed on the way": {"/os.raw", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			content(gzipped("<!doctype html>"))(w, r)
		}, node.ImageFound{Gone: "it is an HTML page"}},
		"a disk, compressed on the way": {"/os.raw", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			content(gzipped(qcow2(1<<30)))(w, r)
		}, node.ImageFound{Size: 1 << 30}},
		"a document":    {"/os.raw", content("%PDF-1.7\n" + raw), node.ImageFound{Gone: "it is a PDF document"}},
		"an archive":    {"/os.tgz", content(gzipped(tar)), node.ImageFound{Gone: "inside gzip it is a tar archive"}},
		"plain archive": {"/os.raw", content(tar), node.ImageFound{Gone: "it is a tar archive; unpack it"}},
		"zip":           {"/os.zip", content("PK\x03\x04" + raw), node.ImageFound{Gone: "it is a zip archive"}},
		"an error":      {"/os.raw", content("<?xml version='1.0'?><Error>"), node.ImageFound{Gone: "it is an XML document"}},
		"a pointer": {"/os.raw", content("version https://git-lfs.github.com/spec/v1\noid sha256:00\n"),
			node.ImageFound{Gone: "it is a Git LFS pointer; the repository holds"}},
		"text":           {"/os.raw", content("404: Not Found"), node.ImageFound{Gone: "it is text; it came in place"}},
		"an ISO":         {"/os.iso", content(iso), node.ImageFound{ISO: "it is an ISO 9660 image", Size: 40 << 10}},
		"a ramdisk":      {"/initrd", content(gzipped("070701" + raw)), node.ImageFound{Gone: "it is a ramdisk, which"}},
		"a gzipped disk": {"/os.raw.gz", content(gzipped(raw)), node.ImageFound{}},
		"no ranges": {"/os.raw", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "4096")
			fmt.Fprint(w, raw)
		},
			node.ImageFound{Size: 4096}},
		"cut off in the first bytes": {"/os.raw", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "4096")
			if r.Method == http.MethodGet {
				fmt.Fprint(w, "a")
				_ = http.NewResponseController(w).Flush() // which a test server has
				panic(http.ErrAbortHandler)
			}
		}, node.ImageFound{Doubt: "unexpected EOF"}},
		"empty": {"/os.raw", content(""), node.ImageFound{Gone: "it is an empty file; put all of the image there"}},
		"empty, with no range of it": {"/os.raw", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes */0")
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		}, node.ImageFound{Gone: "it is an empty file"}},
		"missing":    {"/os.raw", answer(404), node.ImageFound{Gone: "the server answered 404 Not Found; correct the URL"}},
		"gone":       {"/os.raw", answer(410), node.ImageFound{Gone: "410 Gone"}},
		"login":      {"/os.raw", answer(401), node.ImageFound{Gone: "write the credentials into the URL"}},
		"forbidden":  {"/os.raw", answer(403), node.ImageFound{Gone: "403 Forbidden"}},
		"overloaded": {"/os.raw", answer(503), node.ImageFound{Doubt: "the server answered 503"}},
		"in circles": {
			"/os.raw", http.RedirectHandler("/os.raw", http.StatusFound).ServeHTTP,
			node.ImageFound{Doubt: "redirects more than 5"},
		},
		"HEAD refused": {"/os.raw", func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead { // as a URL of S3 that is signed for GET
				w.WriteHeader(http.StatusForbidden)
				return
			}
			content(raw)(w, r)
		}, node.ImageFound{Size: 4096}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(c.serve)
			defer srv.Close()
			at := strings.Replace(srv.URL, "http://", "http://u:hunter2@", 1) + c.path + "?sig=hunter2"
			got := imagesource.NewProber(http.DefaultClient).Probe(t.Context(), at)
			for what, pair := range map[string][2]string{"gone": {c.want.Gone, got.Gone},
				"iso": {c.want.ISO, got.ISO}, "doubt": {c.want.Doubt, got.Doubt}} {
				if (pair[0] == "") != (pair[1] == "") || !strings.Contains(pair[1], pair[0]) ||
					strings.Contains(pair[1], "hunter2") || pair[1] != "" && !strings.Contains(pair[1], c.path) {
					t.Errorf("%s: %q, expected %q, with the URL and without its password", what, pair[1], pair[0])
				}
			}
			if got.Size != c.want.Size {
				t.Errorf("size %d, expected %d", got.Size, c.want.Size)
			}
		})
	}
}

// TestProbeUnreachable: an image that only machines reach is in doubt, not gone.
func TestProbeUnreachable(t *testing.T) {
	missing := &net.DNSError{Err: "no such host", Name: "nosuch", IsNotFound: true}
	for want, err := range map[string]error{
		"--registry-allow 127.0.0.1/32": errors.New("not called: --registry-allow 127.0.0.1/32"),
		"knows no host nosuch":          missing,
		"did not answer within 4s":      context.DeadlineExceeded,
	} {
		at := "http://nosuch/a.raw"
		client := &http.Client{Transport: &http.Transport{
			DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, err },
		}}
		got := imagesource.NewProber(client).Probe(t.Context(), at)
		if got.Gone != "" || got.Size != 0 || !got.Unseen ||
			!strings.Contains(got.Doubt, want) || !strings.Contains(got.Doubt, "raw") {
			t.Errorf("%s: %+v, expected a doubt with %q", at, got, want)
		}
	}
}

// TestProbeTogether: many nodes with one image cause one look, and all see its result. A server that was corrected is
// asked again at once.
func TestProbeTogether(t *testing.T) {
	asked, hold := make(chan string, 100), make(chan struct{})
	var status atomic.Int64
	status.Store(http.StatusOK)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method
		<-hold
		w.WriteHeader(int(status.Load()))
		w.Write([]byte{1})
	}))
	defer srv.Close()
	p := imagesource.NewProber(http.DefaultClient)
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if got := p.Probe(short, srv.URL+"/a"); !strings.Contains(got.Doubt, "deadline exceeded") {
		t.Errorf("a caller that cannot wait: %+v", got)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got := p.Probe(t.Context(), srv.URL+"/a"); got != (node.ImageFound{Size: 1}) {
				t.Errorf("one of many: %+v", got)
			}
		})
	}
	close(hold)
	all.Wait()
	if n := len(asked); n != 2 {
		t.Errorf("%d requests, expected HEAD and GET", n)
	}
	status.Store(http.StatusNotFound)
	for range 2 {
		if got := p.Probe(t.Context(), srv.URL+"/b"); got.Gone == "" {
			t.Errorf("a missing image: %+v", got)
		}
	}
	if n := len(asked); n != 6 {
		t.Errorf("%d requests, expected those for a missing image twice", n)
	}
}

// TestProbeMemory: images with large windows, which any editor of a node may name, take the memory of one or two.
func TestProbeMemory(t *testing.T) {
	block := make([]byte, 3+60_000) // without compression (RFC 8878, 3.1.1.2)
	binary.LittleEndian.PutUint16(block, uint16((len(block)-3)<<3&0xffff))
	block[2] = byte((len(block) - 3) << 3 >> 16)
	server := httptest.NewServer(content("\x28\xb5\x2f\xfd\x00" + "\x78" + strings.Repeat(string(block), 2))) // 32 MiB
	defer server.Close()
	p := imagesource.NewProber(http.DefaultClient)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			if found := p.Probe(t.Context(), fmt.Sprintf("%s/%d", server.URL, i)); found != (node.ImageFound{}) {
				t.Errorf("found %+v", found)
			}
		})
	}
	wg.Wait()
	runtime.ReadMemStats(&after)
	if grown := (after.HeapSys - before.HeapSys) >> 20; after.HeapSys > before.HeapSys && grown > 200 {
		t.Errorf("16 looks take %d MiB", grown)
	}
}
