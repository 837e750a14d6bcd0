package disk

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// failing serves with h until a request that begins after off, and answers
// those with status.
func failing(h http.HandlerFunc, status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if from := r.Header.Get("Range"); from != "" && !strings.HasPrefix(from, "bytes=0-") {
			w.WriteHeader(status)
			return
		}
		h(w, r)
	}
}

// tagged serves b with an ETag of its own, as each mirror has.
func tagged(b []byte, tag string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, "disk.img", time.Unix(5, 0), bytes.NewReader(b))
	}
}

// writeMirrors downloads from the first of several servers onto a fresh disk,
// and counts how often it went on to the next.
func writeMirrors(
	t *testing.T, sum Checksum, size int64, handlers ...http.HandlerFunc,
) (dst *memTarget, res Result, onward int, err error) {
	t.Helper()
	var urls []string
	for _, h := range handlers {
		urls = append(urls, serve(t, h))
	}
	dst = newMemTarget(size, 512)
	opts := fast()
	opts.OfDisk = true
	src, err := OpenMirrors(t.Context(), http.DefaultClient, urls, opts, func(error) { onward++ })
	if err != nil {
		return dst, res, onward, err
	}
	defer src.Close()
	res, err = Write(t.Context(), src, dst, Options{Checksum: sum})
	return dst, res, onward, err
}

func TestMirrorGoesOn(t *testing.T) {
	t.Parallel()
	raw := pattern(5<<20, 20)
	qcow := convert(t, raw, "-c", "-O", "qcow2")
	broken := func(b []byte, status int) http.HandlerFunc { return failing(cutting(content(b), 2<<20), status) }
	var from atomic.Value
	tests := []struct {
		name   string
		image  []byte
		onward int
		h      []http.HandlerFunc
		from   string // the Range that the last mirror was asked for at last
	}{
		{"the first is good", raw, 0, []http.HandlerFunc{content(raw), broken(raw, 500)}, ""},
		{"the first is not there", raw, 1, []http.HandlerFunc{http.NotFound, tagged(raw, `"b"`)}, ""},
		{"breaks with 503", raw, 1, []http.HandlerFunc{broken(raw, 503), tagged(raw, `"b"`)}, "bytes=2097152-"},
		{"is gone", raw, 1, []http.HandlerFunc{broken(raw, 404), tagged(raw, `"b"`)}, "bytes=2097152-"},
		{"begins a part where it likes", raw, 1, []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" && !strings.HasPrefix(r.Header.Get("Range"), "bytes=0-") {
				r.Header.Set("Range", "bytes=4096-")
			}
			cutting(content(raw), 2<<20)(w, r)
		}, tagged(raw, `"b"`)}, "bytes=2101248-"},
		{"the image changes on the first", raw, 1, []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" && !strings.HasPrefix(r.Header.Get("Range"), "bytes=0-") {
				tagged(pattern(5<<20, 21), `"new"`)(w, r)
				return
			}
			cutting(content(raw), 2<<20)(w, r)
		}, tagged(raw, `"b"`)}, "bytes=2097152-"},
		{"onto one without Range", raw, 1, []http.HandlerFunc{broken(raw, 500), plain(raw)}, "bytes=2097152-"},
		{"over three", raw, 2, []http.HandlerFunc{broken(raw, 500), failing(cutting(content(raw), 1<<20), 502),
			tagged(raw, `"c"`)}, "bytes=2097152-"},
		{"past one of another size", raw, 2, []http.HandlerFunc{broken(raw, 500), content(raw[:4<<20]), tagged(raw, `"c"`)},
			"bytes=2097152-"},
		{"past one with another start", raw, 2, []http.HandlerFunc{broken(raw, 500),
			content(append([]byte{^raw[0]}, raw[1:]...)), tagged(raw, `"c"`)}, "bytes=2097152-"},
		{"qcow2 from one that has no Range", qcow, 1, []http.HandlerFunc{plain(qcow), tagged(qcow, `"b"`)}, ""},
		{"qcow2 breaks", qcow, 1, []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
			switch span := r.Header.Get("Range"); {
			case span == "": // the body
				cutting(content(qcow), 1<<20)(w, r)
			case strings.HasSuffix(span, "-"):
				w.WriteHeader(http.StatusBadGateway)
			default:
				content(qcow)(w, r)
			}
		}, tagged(qcow, `"b"`)}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			from.Store("")
			last := len(tt.h) - 1
			seen := append(tt.h[:last:last], func(w http.ResponseWriter, r *http.Request) {
				from.Store(r.Header.Get("Range"))
				tt.h[last](w, r)
			})
			dst, res, onward, err := writeMirrors(t, sumOf(tt.image), 5<<20, seen...)
			if err != nil {
				t.Fatal(err)
			}
			sameDisk(t, dst.b, raw)
			if res.BytesRead != int64(len(tt.image)) || onward != tt.onward {
				t.Errorf("read %d bytes of %d, went on %d times, expected %d", res.BytesRead, len(tt.image), onward, tt.onward)
			}
			if tt.from != "" && from.Load() != tt.from {
				t.Errorf("the last mirror was asked for %q, expected %q", from.Load(), tt.from)
			}
		})
	}
}

func TestMirrorFailures(t *testing.T) {
	t.Parallel()
	raw, other := pattern(3<<20, 22), pattern(3<<20, 23)
	copy(other, raw[:headSize])
	broken := failing(cutting(content(raw), 1<<20), 503)
	tests := []struct {
		name string
		h    []http.HandlerFunc
		is   error
		text []string
	}{
		{"none is there", []http.HandlerFunc{http.NotFound, failing(http.NotFound, 404)}, ErrSource,
			[]string{"404 Not Found\n", "404 Not Found"}},
		{"all break", []http.HandlerFunc{broken, broken}, ErrSource,
			[]string{"cut short: expected 3145728 bytes, got 1048576", "\nhttp://"}},
		{"only another size is left", []http.HandlerFunc{broken, content(raw[:2<<20])}, ErrSource,
			[]string{"503", "2097152 bytes, expected 3145728", "not the same image"}},
		{"another image goes on", []http.HandlerFunc{broken, content(other)}, ErrChecksum, nil},
		{"no mirror has Range", []http.HandlerFunc{plain(convert(t, raw, "-O", "qcow2")),
			plain(convert(t, raw, "-O", "qcow2"))}, ErrNoRange, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dst, _, _, err := writeMirrors(t, sumOf(raw), 3<<20, tt.h...)
			if !errors.Is(err, tt.is) {
				t.Fatalf("error is %v, expected %v", err, tt.is)
			}
			for _, text := range tt.text {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("error is %v, expected %q in it", err, text)
				}
			}
			if bytes.HasPrefix(dst.b, []byte("boot code")) {
				t.Error("the disk would boot")
			}
		})
	}
	if _, err := OpenMirrors(t.Context(), http.DefaultClient, nil, fast(), nil); err == nil {
		t.Error("no URL was taken for an image")
	}
}

// TestMirrorCredentials: another host does not get the first one's credentials.
func TestMirrorCredentials(t *testing.T) {
	t.Parallel()
	raw := pattern(1<<20, 24)
	var first, second atomic.Value
	see := func(v *atomic.Value, h http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { v.Store(r.Header.Get("Authorization")); h(w, r) }
	}
	opts := fast()
	opts.Header = http.Header{"Authorization": {"Bearer for-the-first"}}
	urls := []string{serve(t, see(&first, http.NotFound)), serve(t, see(&second, content(raw)))}
	src, err := OpenMirrors(t.Context(), http.DefaultClient, urls, opts, func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if first.Load() != "Bearer for-the-first" || second.Load() != "" {
		t.Errorf("the first was sent %q, the second %q", first.Load(), second.Load())
	}
}

// TestMirrorCancelled: a transfer that was given up goes to no other mirror.
func TestMirrorCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	raw := pattern(3<<20, 25)
	var calls atomic.Int64
	urls := []string{serve(t, cutting(content(raw), 1<<20)),
		serve(t, func(w http.ResponseWriter, r *http.Request) { calls.Add(1); content(raw)(w, r) })}
	src, err := OpenMirrors(ctx, http.DefaultClient, urls, fast(), func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	body, err := src.Body(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if _, err := io.ReadFull(body, make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.Copy(io.Discard, body); !errors.Is(err, context.Canceled) || calls.Load() != 0 {
		t.Errorf("error %v, the second was asked %d times", err, calls.Load())
	}
}
