package disk

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// named serves an image and names a Content-Encoding that was not asked for.
func named(coding string, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", coding)
		h(w, r)
	}
}

// squeezing compresses on the way, in pieces and of unknown size, as proxies do, and knows no Range.
func squeezing(image []byte) http.HandlerFunc {
	return named("gzip", func(w http.ResponseWriter, _ *http.Request) {
		z := gzip.NewWriter(w)
		z.Write(image)
		z.Close()
	})
}

// TestContentEncoding: the checksum decides whether a coding that was not asked for is part of the file
// (rpm-software-management/librepo#253, conan-io/conan#6996).
func TestContentEncoding(t *testing.T) {
	t.Parallel()
	raw := pattern(3<<20, 21)
	packed, otherwise := gz(t, raw), sumOf([]byte("another"))
	broken := func(h http.HandlerFunc) http.HandlerFunc {
		var calls atomic.Int64
		return func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1) == 2 {
				cutting(h, 100_000)(w, r)
				return
			}
			h(w, r)
		}
	}
	tests := []struct {
		name string
		h    http.HandlerFunc
		sum  Checksum
		fail string
	}{
		{"stored", named("gzip", content(packed)), sumOf(packed), ""},
		{"stored, x-gzip", named("x-gzip", content(packed)), sumOf(packed), ""},
		{"stored, without Range", named("GZIP", plain(packed)), sumOf(packed), ""},
		{"stored, cut", broken(named("x-gzip", content(packed))), sumOf(packed), ""},
		{"compressed on the way", squeezing(raw), sumOf(raw), ""},
		{"compressed on the way, twice", named("gzip", plain(gz(t, packed))), sumOf(packed), ""},
		{"xz compressed on the way", squeezing(xzOf(t, raw)), sumOf(xzOf(t, raw)), ""},
		{"zstd on the way", named("zstd", plain(zst(t, raw))), sumOf(raw), ""},
		{"whole answers alone are compressed", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") == "" {
				squeezing(raw)(w, r)
				return
			}
			content(raw)(w, r)
		}, sumOf(raw), ""},
		{"none is", named("gzip", content(raw)), sumOf(raw), ""},
		{"upload's way of signing", named("aws-chunked", content(raw)), sumOf(raw), ""},
		{"unknown", named("br", plain(pattern(1<<20, 22))), sumOf(raw), "Content-Encoding br"},
		{"neither", squeezing(raw), otherwise, "Content-Encoding gzip"},
		{"neither, stored", named("gzip", content(packed)), otherwise, "not asked for"},
		{"nothing's sum", named("br", content(raw)), sumOf(nil), "Content-Encoding br"},
		{"rubbish behind it", named("gzip", plain(append(gz(t, raw), "rubbish"...))), sumOf(raw), "other bytes follow"},
		{"qcow2 compressed on the way", squeezing(convert(t, raw, "-O", "qcow2")), otherwise, "Range requests and sizes"},
		{"page compressed on the way", squeezing([]byte("<!DOCTYPE html>")), otherwise, "it is an HTML page"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src, err := OpenHTTPSource(t.Context(), http.DefaultClient, serve(t, tt.h), fast())
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			dst := newMemTarget(4<<20, 512)
			res, err := Write(t.Context(), Uncoded(src), dst, Options{Checksum: tt.sum})
			if tt.fail == "" {
				if err != nil || res.Sum != tt.sum.Sum {
					t.Fatalf("sum %s, error %v", res.Sum, err)
				}
				sameDisk(t, dst.b[:len(raw)], raw)
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.fail) {
				t.Fatalf("error is %v, expected %q", err, tt.fail)
			}
			start := dst.b[:heldBack]
			if !bytes.Equal(start, make([]byte, heldBack)) && !bytes.Equal(start, bytes.Repeat([]byte{0xda}, heldBack)) {
				t.Error("a wrong image left a start that could boot")
			}
		})
	}
}

// TestContentEncodingOfChecksumFile: a file of checksums that a server compresses unasked is read.
func TestContentEncodingOfChecksumFile(t *testing.T) {
	t.Parallel()
	at := serve(t, squeezing([]byte(sumA+"  disk.img\n")))
	got, err := FetchChecksum(t.Context(), http.DefaultClient, at, "http://host/disk.img", fast())
	if err != nil || got != (Checksum{SHA256, sumA}) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestKnownSizeAndCoding: bytes under a coding are the image if they have the known size.
func TestKnownSizeAndCoding(t *testing.T) {
	t.Parallel()
	raw := pattern(1<<20, 23)
	sized := named("gzip", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
		w.Write(raw)
	})
	for name, h := range map[string]http.HandlerFunc{"": sized, "Content-Encoding": squeezing(raw)} {
		src := KnownHTTPSource(http.DefaultClient, serve(t, h), int64(len(raw)), fast())
		body, err := src.Body(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(body)
		body.Close()
		switch {
		case name == "" && (err != nil || !bytes.Equal(got, raw)):
			t.Errorf("%d bytes, error %v", len(got), err)
		case name != "" && (!errors.Is(err, ErrSource) || !strings.Contains(err.Error(), name)):
			t.Errorf("error is %v, expected %q", err, name)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add(append(gz(f, []byte("disk")), 0, 0, 0))
	f.Add(append(gz(f, []byte("disk")), gz(f, []byte("more"))...))
	f.Add(append(gz(f, []byte("disk")), "\x1f\x8b rubbish"...))
	f.Add(zst(f, []byte("disk")))
	f.Fuzz(func(t *testing.T, packed []byte) {
		d, err := Decoder(bytes.NewReader(packed))
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatalf("error is %v", err)
			}
			return
		}
		defer d.Close()
		if _, err := io.Copy(io.Discard, io.LimitReader(d, 1<<20)); errors.Is(err, io.EOF) {
			t.Fatal("an end is no error")
		}
	})
}
