package glance_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/glance"
)

const id = "7ed467d4-83b0-41a7-bc15-c404edccff98"

// described is an answer of Debian's Glance 25.
const described = `{"name": "a", "disk_format": "raw", "container_format": "bare", "visibility": "shared",
	"size": 100000, "virtual_size": 100000, "status": "active", "checksum": "0019d23bef56a136a1891211d7007f6f",
	"protected": false, "min_ram": 0, "min_disk": 0, "owner": "5f73abd798d94e13b134e01fac7d9117", "os_hidden": false,
	"os_hash_algo": "sha512",
	"os_hash_value": "ed24", "id": "` + id + `", "kernel_id": "k", "created_at": "2026-11-26T16:56:58Z", "tags": [],
	"self": "/v2/images/` + id + `", "file": "/v2/images/` + id + `/file", "schema": "/v2/schemas/image"}`

// cloud gives out tokens, each of which ends when the next is asked for.
type cloud struct {
	p      *gophercloud.ProviderClient
	logins atomic.Int64
	image  string // Glance's URL in the catalogue
	away   error
}

func newCloud() *cloud {
	c := &cloud{p: &gophercloud.ProviderClient{TokenID: "token-0"}}
	c.p.UseTokenLock()
	c.p.ReauthFunc = func(context.Context) error {
		c.p.SetToken(fmt.Sprint("token-", c.logins.Add(1)))
		return nil
	}
	return c
}

func (c *cloud) Service(_ context.Context, kind string) (*gophercloud.ServiceClient, error) {
	if c.away != nil {
		return nil, c.away
	}
	return &gophercloud.ServiceClient{ProviderClient: c.p, Endpoint: c.image, Type: kind}, nil
}

// serve is a Glance.
func serve(t *testing.T, do http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(do)
	t.Cleanup(s.Close)
	return s.URL
}

func client(t *testing.T, o glance.Options) *glance.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	o.Transport = transport
	c, err := glance.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestToken: a token that has ended is replaced, once for a request; the URL is the catalogue's or the operator's.
func TestToken(t *testing.T) {
	taken := atomic.Value{}
	taken.Store("token-1")
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Auth-Token") != taken.Load() {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if strings.HasSuffix(r.URL.Path, "/file") {
			fmt.Fprint(w, "bytes")
			return
		}
		fmt.Fprint(w, described)
	})
	for name, o := range map[string]glance.Options{"catalogue": {}, "flag": {URL: url}, "version": {URL: url + "/v2/"}} {
		in := newCloud()
		in.image = url + "/"
		o.Cloud = in
		taken.Store("token-1")
		c := client(t, o)
		i, err := c.Image(t.Context(), id)
		if err != nil || i.Size != 100000 || i.HashAlgo != "sha512" || i.KernelID != "k" || i.Status != "active" {
			t.Fatalf("%s: %+v, %v", name, i, err)
		}
		taken.Store("token-2") // it ends before the bytes are read
		at, err := c.Data(t.Context(), id)
		if err != nil || at != url+"/v2/images/"+id+"/file" {
			t.Fatalf("%s: %s, %v", name, at, err)
		}
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
		resp, err := c.HTTP().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if string(body) != "bytes" || in.logins.Load() != 2 {
			t.Errorf("%s: %q after %d logins, expected 2", name, body, in.logins.Load())
		}
		taken.Store("none")
		if _, err := c.Image(t.Context(), id); err == nil || in.logins.Load() != 3 || !strings.Contains(err.Error(), "401") {
			t.Errorf("%s: a token that is never taken: %v after %d logins, expected one more", name, err, in.logins.Load())
		}
	}
}

// TestAnswers: an answer without an image is refused with the remedy. Only errors that may pass can be tried again.
func TestAnswers(t *testing.T) {
	mute := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, tc := range map[string]struct {
		do      http.HandlerFunc
		want    string
		lasting bool
	}{
		"unknown":      {status(404), "there is no image " + id, true},
		"somebody's":   {status(403), "there is no image " + id, true},
		"away":         {status(503), "Glance answered 503 Service Unavailable for image " + id, false},
		"no token":     {status(401), "see --auth keystone", true},
		"not Glance":   {says("<html>hello</html>"), "is it Glance's URL?", true},
		"another":      {says(`{"id": "x"}`), `describes "x"`, true},
		"endless":      {says(strings.Repeat(" ", 2<<20)), "longer than 1 MiB", true},
		"slow":         {mute, "no answer within 50ms", false},
		"slow to tell": {slowly, "no answer within 50ms", false},
		"sends away": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere/", http.StatusFound)
		},
			"Glance sends requests on to elsewhere", true},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			o := glance.Options{URL: serve(t, tc.do), Log: slog.New(slog.NewTextHandler(&log, nil))}
			if strings.HasPrefix(name, "slow") {
				o.Timeout = 50 * time.Millisecond
			}
			c := client(t, o)
			_, err := c.Image(t.Context(), id)
			var lasting interface{ Permanent() bool }
			is := errors.As(err, &lasting) && lasting.Permanent()
			if err == nil || !strings.Contains(err.Error(), tc.want) || is != tc.lasting ||
				strings.Contains(err.Error(), "html") || strings.Contains(err.Error(), o.URL) {
				t.Errorf("%v, permanent %t", err, is)
			}
			if unknown := strings.Contains(tc.want, "no image"); strings.Contains(log.String(), o.URL) == unknown &&
				name != "another" {
				t.Errorf("the log has %q", log.String())
			}
		})
	}
	c := client(t, glance.Options{Cloud: &cloud{away: errors.New("keystone is away")}})
	if _, err := c.Image(t.Context(), id); err == nil || !strings.Contains(err.Error(), "keystone is away") {
		t.Error(err)
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

func slowly(w http.ResponseWriter, r *http.Request) {
	fmt.Fprint(w, `{"id": `)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// TestMember: whether a project has taken up a shared image.
func TestMember(t *testing.T) {
	for answer, want := range map[string]bool{
		`{"status": "accepted"}`: true, `{"status": "pending"}`: true, `{"status": "rejected"}`: false, "": false,
	} {
		c := client(t, glance.Options{URL: serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v2/images/"+id+"/members/blue" || answer == "" {
				http.NotFound(w, r)
				return
			}
			fmt.Fprint(w, answer)
		})})
		if got, err := c.Member(t.Context(), id, "blue"); got != want || err != nil {
			t.Errorf("%q: %t, %v", answer, got, err)
		}
	}
}

// TestOptions: a URL that cannot be one is refused at the start.
func TestOptions(t *testing.T) {
	for _, o := range []glance.Options{{}, {URL: "glance:9292"}, {URL: "ftp://glance"}, {URL: "http://u:p@glance"}} {
		if _, err := glance.New(o); err == nil {
			t.Errorf("%q is taken", o.URL)
		}
	}
}
