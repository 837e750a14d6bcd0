package disk

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// fast retries without waiting.
func fast() HTTPOptions { return HTTPOptions{Retries: 3, Backoff: time.Millisecond} }

// stalls is fast for servers that do stall: on a busy machine, a healthy one
// may be silent for as long.
func stalls() HTTPOptions {
	opts := fast()
	opts.Stall = 300 * time.Millisecond
	return opts
}

// serve runs a handler and returns the URL of an image on it.
func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL + "/disk.img"
}

// content serves b with Range, as a real server does.
func content(b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		http.ServeContent(w, r, "disk.img", time.Time{}, bytes.NewReader(b))
	}
}

// plain serves b without Range.
func plain(b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Range")
		content(b)(w, r)
	}
}

// cutting breaks every answer after n bytes of body.
func cutting(h http.HandlerFunc, n int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { h(&cutWriter{w, n}, r) }
}

// cutWriter aborts the connection when its budget is used up.
type cutWriter struct {
	http.ResponseWriter
	left int64
}

func (c *cutWriter) Write(p []byte) (int, error) {
	if int64(len(p)) <= c.left {
		c.left -= int64(len(p))
		return c.ResponseWriter.Write(p)
	}
	if _, err := c.ResponseWriter.Write(p[:c.left]); err != nil {
		return 0, err
	}
	if err := http.NewResponseController(c.ResponseWriter).Flush(); err != nil {
		return 0, err
	}
	panic(http.ErrAbortHandler)
}

// writeHTTP downloads from url onto a fresh disk.
func writeHTTP(t *testing.T, url string, from HTTPOptions, size int64, opts Options) (*memTarget, Result, error) {
	t.Helper()
	dst := newMemTarget(size, 512)
	src, err := OpenHTTPSource(t.Context(), http.DefaultClient, url, from)
	if err != nil {
		return dst, Result{}, err
	}
	defer src.Close()
	res, err := Write(t.Context(), src, dst, opts)
	return dst, res, err
}

func TestHTTPWrite(t *testing.T) {
	t.Parallel()
	raw := pattern(5<<20, 10)
	qcow := convert(t, raw, "-c", "-O", "qcow2")
	var calls atomic.Int64
	tests := []struct {
		name  string
		h     http.HandlerFunc
		image []byte
	}{
		{"raw", content(raw), raw},
		{"raw under no Accept-Ranges", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Accept-Ranges", "none") // but there are (yannforget/landsatxplore#40)
			content(raw)(w, r)
		}, raw},
		{"raw under a wrong Content-Range", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") == "" {
				plain(raw)(w, r)
				return
			}
			partial(w, "-0.99999998516848", raw) // diversen/http-send-file#4
		}, raw},
		{"raw with 206 for everything", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
			w.WriteHeader(http.StatusPartialContent)
			w.Write(raw)
		}, raw},
		{"raw without range", plain(raw), raw},
		{"raw of unknown size", func(w http.ResponseWriter, _ *http.Request) {
			io.Copy(flushing{w}, bytes.NewReader(raw))
		}, raw},
		{"qcow2", content(qcow), qcow},
		{"connection broken again and again", cutting(content(raw), 2<<20), raw},
		{"qcow2 broken again and again", cutting(content(qcow), 1<<20), qcow},
		{"broken without range, once", func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1) == 1 {
				cutting(plain(raw), 3<<20)(w, r)
			}
			plain(raw)(w, r)
		}, raw},
		{"busy at first", func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1) < 3 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			content(raw)(w, r)
		}, raw},
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/disk.img" {
				http.Redirect(w, r, "/moved", http.StatusFound)
				return
			}
			content(raw)(w, r)
		}, raw},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			calls.Store(0)
			dst, res, err := writeHTTP(t, serve(t, tt.h), fast(), 5<<20, Options{Checksum: sumOf(tt.image)})
			if err != nil {
				t.Fatal(err)
			}
			sameDisk(t, dst.b, raw)
			if res.BytesRead != int64(len(tt.image)) {
				t.Errorf("read %d bytes of %d", res.BytesRead, len(tt.image))
			}
		})
	}
}

// flushing sends each write at once, so that no length is announced.
type flushing struct{ http.ResponseWriter }

func (f flushing) Write(p []byte) (int, error) {
	n, err := f.ResponseWriter.Write(p)
	if err == nil {
		err = http.NewResponseController(f.ResponseWriter).Flush()
	}
	return n, err
}

func TestHTTPFailures(t *testing.T) {
	t.Parallel()
	raw := pattern(3<<20, 11)
	qcow := convert(t, raw, "-O", "qcow2")
	var calls atomic.Int64
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { calls.Add(1); w.WriteHeader(code) }
	}
	tests := []struct {
		name  string
		h     http.HandlerFunc
		calls int64 // expected, 0 any
		text  string
	}{
		{"404", status(404), 1, "/disk.img: server answered 404 Not Found"},
		{"403", status(403), 1, "server answered 403 Forbidden"},
		{"500", status(500), 4, "given up after 4 tries: server answered 500"},
		{"204", status(204), 1, "server answered 204"},
		{"empty", content(nil), 0, "empty"},
		{"cut short for good", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "3145728")
			w.Write(raw[:1<<20])
		}, 0, "cut short: expected 3145728 bytes, got 1048576"},
		{"cut short for good, of unknown size", func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			w.Write(raw[:1<<20])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, 0, "given up after 4 tries: unexpected EOF"},
		{"cut short at the same place", func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.Header.Get("Range"), "bytes=1048576-") {
				w.Header().Set("Etag", `"v1"`)
				w.Header().Set("Content-Range", "bytes 1048576-3145727/3145728")
				w.Header().Set("Content-Length", "2097152")
				w.WriteHeader(http.StatusPartialContent)
				return
			}
			cutting(content(raw), 1<<20)(w, r)
		}, 0, "cut short: expected 3145728 bytes, got 1048576"},
		{"changed on the way", func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1) > 2 {
				w.Header().Set("Etag", `"v2"`)
				http.ServeContent(w, r, "disk.img", time.Unix(1, 0), bytes.NewReader(raw))
				return
			}
			cutting(content(raw), 1<<20)(w, r)
		}, 0, "changed on the server"},
		{"qcow2 without range", plain(qcow), 0, "serve it where Range requests and sizes are supported"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			calls.Store(0)
			dst, _, err := writeHTTP(t, serve(t, tt.h), fast(), 3<<20, Options{})
			if err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error is %v, expected %q", err, tt.text)
			}
			if tt.calls != 0 && calls.Load() != tt.calls {
				t.Errorf("%d requests, expected %d", calls.Load(), tt.calls)
			}
			if bytes.HasPrefix(dst.b, []byte("boot code")) {
				t.Error("the disk would boot")
			}
		})
	}
}

func TestHTTPStalls(t *testing.T) {
	t.Parallel()
	raw := pattern(5<<20, 12)
	var calls atomic.Int64
	once := func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 2 {
			w.Header().Set("Etag", `"v1"`)
			w.Header().Set("Content-Length", "5242880")
			w.Write(raw[:1<<20])
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		content(raw)(w, r)
	}
	patient := stalls()
	patient.Retries = 100 // a busy machine may add stalls of its own
	dst, res, err := writeHTTP(t, serve(t, once), patient, 5<<20, Options{Checksum: sumOf(raw)})
	if err != nil {
		t.Fatal(err)
	}
	sameDisk(t, dst.b, raw)
	if res.BytesRead != int64(len(raw)) || calls.Load() < 3 {
		t.Errorf("read %d bytes of %d in %d requests", res.BytesRead, len(raw), calls.Load())
	}
	always := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	_, _, err = writeHTTP(t, serve(t, always), stalls(), 5<<20, Options{})
	if err == nil || !strings.Contains(err.Error(), "too few bytes within the time allowed") {
		t.Errorf("a server that always stalls: %v", err)
	}
	trickle := func(w http.ResponseWriter, r *http.Request) {
		for w.Header().Set("Content-Length", "5242880"); r.Context().Err() == nil; time.Sleep(10 * time.Millisecond) {
			_, _ = w.Write(raw[:5000])
			_ = http.NewResponseController(w).Flush()
		}
	}
	slow := stalls()
	slow.Least, slow.Retries = 1<<20, 1
	_, _, err = writeHTTP(t, serve(t, trickle), slow, 5<<20, Options{})
	if err == nil || !strings.Contains(err.Error(), "too few bytes within the time allowed") {
		t.Errorf("a server that sends a little now and then: %v", err)
	}
}

func TestHTTPSourceNames(t *testing.T) {
	for _, u := range []string{"", "disk.img", "file:///etc/passwd", "http://", "ftp://h/x"} {
		if _, err := OpenHTTPSource(context.Background(), http.DefaultClient, u, fast()); err == nil {
			t.Errorf("%q was taken for a URL", u)
		}
	}
	u := strings.Replace(serve(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(401) }), "http://",
		"http://me:secret@", 1)
	_, err := OpenHTTPSource(context.Background(), http.DefaultClient, u, fast())
	var status *HTTPStatusError
	if !errors.As(err, &status) || status.Status != 401 || strings.Contains(err.Error(), "secret") {
		t.Errorf("error is %v", err)
	}
}

func TestFetchChecksum(t *testing.T) {
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/SHA256SUMS":
			content([]byte(sumA+"  disk.img\n"))(w, r)
		case "/large":
			content(make([]byte, 2<<20))(w, r)
		default:
			w.WriteHeader(404)
		}
	})
	base := strings.TrimSuffix(u, "/disk.img")
	tests := []struct {
		value string
		want  Checksum
		fail  string
	}{
		{sumB, Checksum{SHA256, sumB}, ""},
		{base + "/SHA256SUMS", Checksum{SHA256, sumA}, ""},
		{base + "/none", Checksum{}, "404"},
		{base + "/large", Checksum{}, "larger than"},
	}
	for _, tt := range tests {
		got, err := FetchChecksum(context.Background(), http.DefaultClient, tt.value, u+"?token=1", fast())
		if got != tt.want || (err != nil) != (tt.fail != "") || err != nil && !strings.Contains(err.Error(), tt.fail) {
			t.Errorf("%s: %v %v, expected %v %q", tt.value, got, err, tt.want, tt.fail)
		}
		// as os_hash_value: sums keep to the algorithm, a file says its own
		if hash, err := FetchHash(context.Background(), http.DefaultClient, "sha256", tt.value, u+"?token=1",
			fast()); hash != got || (err != nil) != (tt.fail != "") {
			t.Errorf("%s as a hash: %v %v, expected %v", tt.value, hash, err, got)
		}
	}
}
