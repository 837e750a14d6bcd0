package imagestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/images/disk"
)

// origin is a web server with one image. It counts reads.
type origin struct {
	*httptest.Server
	image  atomic.Pointer[[]byte]
	reads  atomic.Int64
	ranges atomic.Int64
	gate   chan struct{} // nil, or closed once more than the first half may go
	cut    atomic.Bool   // the connection ends amid the image, once
}

func newOrigin(t *testing.T, image []byte, gate chan struct{}) *origin {
	t.Helper()
	o := &origin{gate: gate}
	o.image.Store(&image)
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.reads.Add(1)
		image := *o.image.Load()
		w.Header().Set("ETag", `"`+sumOf(image).Sum+`"`)
		from := 0
		if given := r.Header.Get("Range"); given != "" {
			o.ranges.Add(1)
			last := len(image) - 1
			_, _ = fmt.Sscanf(given, "bytes=%d-%d", &from, &last)
			last = min(last, len(image)-1)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, last, len(image)))
			w.Header().Set("Content-Length", fmt.Sprint(last-from+1))
			w.WriteHeader(http.StatusPartialContent)
			image = image[:last+1]
		} else {
			w.Header().Set("Content-Length", fmt.Sprint(len(image)))
		}
		half := max(from, min(len(*o.image.Load())/2, len(image)))
		_, _ = w.Write(image[from:half])
		_ = http.NewResponseController(w).Flush()
		if half == len(image) {
			return
		}
		if o.cut.CompareAndSwap(true, false) {
			panic(http.ErrAbortHandler)
		}
		if o.gate != nil {
			select {
			case <-o.gate:
			case <-r.Context().Done():
				return
			}
		}
		_, _ = w.Write(image[half:])
	}))
	t.Cleanup(o.Close)
	return o
}

// source is the origin's image, by the checksum of its present bytes.
func (o *origin) source() Source {
	return Source{URLs: []string{o.URL + "/os.raw"}, Client: o.Client(), Sum: sumOf(*o.image.Load())}
}

// serve is a server of images that a store pulls from a source.
func serve(t *testing.T, s *Store, src Source) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := s.Pull(r.Context(), src)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer c.Close()
		c.Serve(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// get asks for an image, or a range of it.
func get(ctx context.Context, url, span string) (body []byte, status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, 0, err
	}
	if span != "" {
		req.Header.Set("Range", "bytes="+span)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return body, resp.StatusCode, err
}

const many = 8

// TestPullOnce: many readers of one image cause one read of its origin, are served while it comes, and have its last
// bytes only once all of it was verified.
func TestPullOnce(t *testing.T) {
	image, gate := sample(4<<20, 1), make(chan struct{})
	o := newOrigin(t, image, gate)
	s := open(t, Config{Cache: 1 << 30})
	url := serve(t, s, o.source())
	early, status, err := get(t.Context(), url, "1000-200999") // of the part that has come
	if err != nil || status != http.StatusPartialContent || !bytes.Equal(early, image[1000:201000]) {
		t.Fatalf("a range while it comes: %d bytes, %d, %v", len(early), status, err)
	}
	waiting, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if late, _, err := get(waiting, url, "-10"); err == nil {
		t.Errorf("the end was served before it was there: %d bytes", len(late))
	}
	var readers sync.WaitGroup
	for range many {
		readers.Go(func() {
			got, status, err := get(t.Context(), url, "")
			if err != nil || status != http.StatusOK || !bytes.Equal(got, image) {
				t.Errorf("%d bytes, %d, %v", len(got), status, err)
			}
		})
	}
	close(gate)
	readers.Wait()
	for span, want := range map[string][]byte{"0-0": image[:1], "-10": image[len(image)-10:],
		"4194303-": image[len(image)-1:]} {
		if got, status, err := get(t.Context(), url, span); err != nil || status != 206 || !bytes.Equal(got, want) {
			t.Errorf("range %s: %d bytes, %d, %v", span, len(got), status, err)
		}
	}
	if n := o.reads.Load(); n != 1 {
		t.Errorf("the origin was read %d times", n)
	}
}

// TestPullOther: an image with another checksum reaches no reader whole, and nothing of it is kept.
func TestPullOther(t *testing.T) {
	for name, change := range map[string]func(image []byte) []byte{
		"changed": func(b []byte) []byte { b[len(b)-1]++; return b },
		"grown":   func(b []byte) []byte { return append(b, 0) },
		"shrunk":  func(b []byte) []byte { return b[:len(b)-1] },
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t, sample(1<<20, 1), nil)
			src := o.source()
			other := change(bytes.Clone(*o.image.Load()))
			o.image.Store(&other)
			s := open(t, Config{Cache: 1 << 30})
			got, status, err := get(t.Context(), serve(t, s, src), "")
			if err == nil && (status == http.StatusOK || !strings.Contains(string(got), "another one than was asked for")) {
				t.Errorf("%d bytes, %d", len(got), status)
			}
			s.running.Wait()
			if left := files(t, s); len(left) > 0 {
				t.Errorf("kept %q", left)
			}
			c, err := s.Pull(t.Context(), src)
			if err == nil {
				_, err = io.Copy(io.Discard, c)
				_ = c.Close()
			}
			var changed *ChangedError
			if !errors.As(err, &changed) || !changed.Permanent() || !errors.Is(err, disk.ErrChecksum) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestPullGoesOn: a transfer that was cut off goes on where it was, after a broken connection and after a restart; it
// begins again if the image is another one since.
func TestPullGoesOn(t *testing.T) {
	image := sample(8<<20, 1)
	t.Run("broken connection", func(t *testing.T) {
		o := newOrigin(t, image, nil)
		o.cut.Store(true)
		s := open(t, Config{Cache: 1 << 30})
		got, _, err := get(t.Context(), serve(t, s, o.source()), "")
		if err != nil || !bytes.Equal(got, image) || o.ranges.Load() != 1 {
			t.Errorf("%d bytes, %v, %d ranges", len(got), err, o.ranges.Load())
		}
	})
	for name, changed := range map[string]bool{"restart": false, "restart, another image": true} {
		t.Run(name, func(t *testing.T) {
			gate := make(chan struct{})
			o := newOrigin(t, image, gate)
			dir := t.TempDir()
			src := o.source()
			interrupt(t, dir, src, len(image)/2)
			want := image
			if changed {
				want = sample(8<<20, 2)
				o.image.Store(&want)
				src.Sum = sumOf(want)
				for _, suffix := range []string{"", ".json"} { // as if they were of this one
					if err := os.Rename(filepath.Join(dir, partialDir, o.keyOf(image)+suffix),
						filepath.Join(dir, partialDir, src.Key()+suffix)); err != nil {
						t.Fatal(err)
					}
				}
			}
			close(gate)
			s := open(t, Config{Dir: dir, Cache: 1 << 30})
			got, _, err := get(t.Context(), serve(t, s, src), "")
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, partialDir, "*")); len(left) > 0 {
				t.Errorf("left %q", left)
			}
		})
	}
}

func (o *origin) keyOf(image []byte) string {
	src := o.source()
	src.Sum = sumOf(image)
	return src.Key()
}

// interrupt pulls an image until some bytes of it have come, and ends as a kill does: nothing is put in order.
func interrupt(t *testing.T, dir string, src Source, bytes int) {
	t.Helper()
	s := open(t, Config{Dir: dir, Cache: 1 << 30})
	c, err := s.Pull(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, c, int64(bytes)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestPullComplete: a conductor that was killed after the last byte and before the file was in its place asks for no
// more than the beginning.
func TestPullComplete(t *testing.T) {
	image := sample(2<<20, 1)
	o := newOrigin(t, image, nil)
	src, dir := o.source(), t.TempDir()
	s := open(t, Config{Dir: dir, Cache: 1 << 30})
	if err := os.WriteFile(s.partial(src.Key()), image, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.write(src.Key(), note{int64(len(image)), `"` + sumOf(image).Sum + `" `}); err != nil {
		t.Fatal(err)
	}
	got, _, err := get(t.Context(), serve(t, s, src), "")
	if err != nil || !bytes.Equal(got, image) || o.reads.Load() != 1 || o.ranges.Load() != 1 {
		t.Errorf("%d bytes, %v; %d reads, %d of ranges", len(got), err, o.reads.Load(), o.ranges.Load())
	}
}

// TestRefusedOrigin: all waiting readers get an origin's refusal as an error, and it shows no password.
func TestRefusedOrigin(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	s := open(t, Config{Cache: 1 << 20})
	src := Source{URLs: []string{strings.Replace(srv.URL, "http://", "http://u:hunter2@", 1) + "/os.raw?sig=hunter3"},
		Client: srv.Client(), Sum: sumOf([]byte{1})}
	var status *disk.HTTPStatusError
	if _, err := s.Pull(t.Context(), src); !errors.As(err, &status) || status.Status != http.StatusNotFound ||
		strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error %v", err)
	}
	if name := src.name(); strings.Contains(name, "hunter") {
		t.Errorf("named %s", name)
	}
	other := src
	other.URLs = []string{srv.URL + "/os.raw"}
	if src.Key() == other.Key() {
		t.Error("who has no credentials has the key of who has")
	}
}

// TestStoredFromPeer: an operator's image that another conductor has comes to stay, from the first that has it.
func TestStoredFromPeer(t *testing.T) {
	image := sample(1<<20, 1)
	o, none := newOrigin(t, image, nil), httptest.NewServer(http.NotFoundHandler())
	defer none.Close()
	s := open(t, Config{})
	src := Source{URLs: []string{none.URL + "/a", o.URL + "/a"}, Client: o.Client(), Sum: sumOf(image), Stored: true}
	c, err := s.Pull(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(c)
	if err := errors.Join(err, c.Close()); err != nil || !bytes.Equal(got, image) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	s.running.Wait()
	if !s.Has(sumOf(image).Sum) {
		t.Errorf("files %q", files(t, s))
	}
}

// TestKeyOfAuthorized: knowing the URL and the sum of an image that needs credentials is not enough to have it.
func TestKeyOfAuthorized(t *testing.T) {
	public := Source{URLs: []string{"http://glance/v2/images/1/file"}, Sum: sumOf([]byte("x"))}
	byClient, byHeader := public, public
	byClient.Authorized = true
	byHeader.Header = http.Header{"Authorization": {"Bearer x"}}
	if public.Key() == byClient.Key() || public.Key() == byHeader.Key() {
		t.Errorf("the keys are %s, %s by the client and %s by the header", public.Key(), byClient.Key(), byHeader.Key())
	}
}
