package disk

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// resuming serves the image but breaks off after a MiB; how it goes on is up to
// again, which gets the offset asked for.
func resuming(image []byte, again func(w http.ResponseWriter, r *http.Request, off int)) http.HandlerFunc {
	var gone atomic.Bool
	return func(w http.ResponseWriter, r *http.Request) {
		var off int
		switch asked := r.Header.Get("Range"); {
		case asked == "" && gone.Load():
			plain(image)(w, r)
		case asked == "", asked == "bytes=0-":
			cutting(content(image), 1<<20)(w, r)
		case strings.HasSuffix(asked, "-"):
			if _, err := fmt.Sscanf(asked, "bytes=%d-", &off); err != nil {
				panic(err)
			}
			gone.Store(true)
			again(w, r, off)
		default:
			content(image)(w, r)
		}
	}
}

// partial answers 206 with a Content-Range and a body of one's own.
func partial(w http.ResponseWriter, contentRange string, body []byte) {
	w.Header().Set("ETag", `"v1"`)
	w.Header().Set("Content-Range", contentRange)
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(http.StatusPartialContent)
	w.Write(body)
}

// reset breaks the connection with a TCP reset after n bytes of body.
func reset(image []byte, n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		w.Header().Set("Content-Length", fmt.Sprint(len(image)))
		w.Write(image[:n])
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
}

// TestHTTPResumes: how a server continues with an image it broke off. It is
// written right, or refused for a reason; text is empty where it is written.
func TestHTTPResumes(t *testing.T) {
	t.Parallel()
	raw := pattern(3<<20, 13)
	size := len(raw)
	other := pattern(3<<20, 14)
	tests := []struct {
		name  string
		again func(w http.ResponseWriter, r *http.Request, off int)
		text  string
	}{
		{"as asked", func(w http.ResponseWriter, r *http.Request, _ int) { content(raw)(w, r) }, ""},
		{"with all of it, and 200", func(w http.ResponseWriter, r *http.Request, _ int) { plain(raw)(w, r) }, ""},
		{"with all of another, and 200", func(w http.ResponseWriter, r *http.Request, _ int) {
			w.Header().Set("ETag", `"v2"`)
			w.Write(other)
		}, "changed on the server"},
		{"a byte before", func(w http.ResponseWriter, _ *http.Request, off int) {
			partial(w, fmt.Sprintf("bytes %d-%d/%d", off-1, size-1, size), raw[off-1:])
		}, ""},
		{"a byte after", func(w http.ResponseWriter, _ *http.Request, off int) {
			partial(w, fmt.Sprintf("bytes %d-%d/%d", off+1, size-1, size), raw[off+1:])
		}, ""},
		{"in parts shorter than asked", func(w http.ResponseWriter, _ *http.Request, off int) {
			end := min(off+1<<20, size)
			partial(w, fmt.Sprintf("bytes %d-%d/%d", off, end-1, size), raw[off:end])
		}, ""},
		{"longer than it says", func(w http.ResponseWriter, _ *http.Request, off int) {
			partial(w, fmt.Sprintf("bytes %d-%d/%d", off, size-1, size), append(bytes.Clone(raw[off:]), "more"...))
		}, ""},
		{"of another total", func(w http.ResponseWriter, _ *http.Request, off int) {
			partial(w, fmt.Sprintf("bytes %d-%d/%d", off, size, size+1), append(bytes.Clone(raw[off:]), 0))
		}, "changed on the server"},
		{"with a range that ends before it begins", func(w http.ResponseWriter, _ *http.Request, off int) {
			partial(w, fmt.Sprintf("bytes %d-%d/%d", off, off-1, size), nil)
		}, ""},
		{"with a range that ends after the image", func(w http.ResponseWriter, _ *http.Request, off int) {
			partial(w, fmt.Sprintf("bytes %d-%d/%d", off, size, size), raw[off:])
		}, ""},
		{"without saying which", func(w http.ResponseWriter, _ *http.Request, off int) { partial(w, "", raw[off:]) }, ""},
		{"416", func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(416) }, "shorter than it said"},
		{"404", func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(404) }, "server answered 404"},
		{"another weak ETag", func(w http.ResponseWriter, r *http.Request, _ int) {
			w.Header().Set("ETag", `W/"v1"`)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(raw))
		}, "changed on the server"},
		{"another Last-Modified", func(w http.ResponseWriter, r *http.Request, _ int) {
			w.Header().Set("ETag", `"v1"`)
			http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader(raw))
		}, "changed on the server"},
		{"no ETag any more", func(w http.ResponseWriter, r *http.Request, _ int) {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(raw))
		}, "changed on the server"},
		{"other bytes under the same ETag", func(w http.ResponseWriter, r *http.Request, _ int) { content(other)(w, r) },
			"checksum is wrong"},
		{"resets for ever", func(w http.ResponseWriter, r *http.Request, _ int) { reset(raw, 0)(w, r) },
			"given up after 4 tries"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dst, _, err := writeHTTP(t, serve(t, resuming(raw, tt.again)), fast(), 3<<20, Options{Checksum: sumOf(raw)})
			if tt.text == "" {
				if err != nil {
					t.Fatal(err)
				}
				sameDisk(t, dst.b, raw)
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error is %v, expected %q", err, tt.text)
			}
			if !bytes.Equal(dst.b[:heldBack], make([]byte, heldBack)) {
				t.Error("the disk would boot")
			}
		})
	}
}

// TestHTTPReset: a connection reset amid the body is resumed.
func TestHTTPReset(t *testing.T) {
	t.Parallel()
	raw := pattern(3<<20, 15)
	h := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Range") == "" {
			reset(raw, 1<<20)(w, r)
			return
		}
		content(raw)(w, r)
	}
	dst, _, err := writeHTTP(t, serve(t, h), fast(), 3<<20, Options{Checksum: sumOf(raw)})
	if err != nil {
		t.Fatal(err)
	}
	sameDisk(t, dst.b, raw)
}

// TestHTTPTables: a failure while a qcow2's tables are read by Range leaves the disk untouched.
func TestHTTPTables(t *testing.T) {
	t.Parallel()
	qcow := convert(t, pattern(3<<20, 16), "-O", "qcow2")
	size := len(qcow)
	tests := []struct {
		name string
		h    http.HandlerFunc
		text string
	}{
		{"another place", func(w http.ResponseWriter, _ *http.Request) {
			partial(w, fmt.Sprintf("bytes 0-65535/%d", size), qcow[:65536])
		}, "before byte"},
		{"shorter", func(w http.ResponseWriter, r *http.Request) {
			var first, last int
			fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last)
			partial(w, fmt.Sprintf("bytes %d-%d/%d", first, first, size), qcow[first:first+1])
		}, "1 of"},
		{"changed", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"v2"`)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(qcow))
		}, "changed on the server"},
		{"all of it", plain(qcow), "now it does not"},
		{"silence", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			"too few bytes within the time allowed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Range") == "bytes=0-4095" {
					content(qcow)(w, r)
					return
				}
				tt.h(w, r)
			}
			opts := fast()
			if tt.name == "silence" {
				opts = stalls()
			}
			dst, _, err := writeHTTP(t, serve(t, h), opts, 3<<20, Options{})
			if err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error is %v, expected %q", err, tt.text)
			}
			if dst.writes+dst.zeroes != 0 {
				t.Error("the disk was touched")
			}
		})
	}
}
