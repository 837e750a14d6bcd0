package sharing

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/cluster"
	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/images/disk"
)

// memberRows are the members as the database lists them. Nothing but Join asks for them.
type memberRows struct {
	cluster.Rows
	members []store.Member
}

func (memberRows) Hold(context.Context) error                       { return nil }
func (memberRows) Beat(context.Context, store.Member) (bool, error) { return false, nil }
func (memberRows) Behind(context.Context) (bool, error)             { return false, nil }

func (r memberRows) Look(context.Context) ([]store.Member, []store.Leader, error) {
	return r.members, nil, nil
}

// site is a cluster of members that answer by HTTP.
type site struct {
	t       *testing.T
	key     cluster.Key
	members []store.Member
}

func newSite(t *testing.T) *site {
	t.Helper()
	key, err := cluster.NewKey([]byte(strings.Repeat("k1", 32)))
	if err != nil {
		t.Fatal(err)
	}
	return &site{t: t, key: key}
}

func (s *site) identity(name string) cluster.Identity {
	s.t.Helper()
	id, err := cluster.NewIdentity(s.key, name)
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// add starts a member.
func (s *site) add(name string, h http.Handler) {
	s.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	id := s.identity(name)
	server := id.Server(s.t.Context(), h, slog.New(slog.DiscardHandler))
	ended := make(chan error)
	go func() { ended <- server.Serve(id.Listener(l)) }()
	s.t.Cleanup(func() {
		if err := errors.Join(server.Close(), <-ended); !errors.Is(err, http.ErrServerClosed) {
			s.t.Error(err)
		}
	})
	s.members = append(s.members, store.Member{Name: name, Address: l.Addr().String(), Alive: true})
}

// peers are the others as the member "here" sees them. A member that does not answer is given up after a moment.
func (s *site) peers() Peers {
	s.t.Helper()
	all, err := cluster.Join(s.t.Context(), cluster.Config{
		Rows: memberRows{members: s.members}, Self: store.Member{Name: "here"}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	client := s.identity("here").Client()
	client.Transport.(*http.Transport).ResponseHeaderTimeout = 500 * time.Millisecond
	s.t.Cleanup(client.CloseIdleConnections)
	return Peers{Self: "here", Cluster: all, Client: client}
}

// images is a folder of images.
func images(t *testing.T) *imagestore.Store {
	t.Helper()
	s, err := imagestore.Open(imagestore.Config{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// with puts an image into a folder.
func with(t *testing.T, s *imagestore.Store, image []byte) *imagestore.Store {
	t.Helper()
	err := s.Add(t.Context(), bytes.NewReader(image), int64(len(image)), disk.Checksum{},
		func(imagestore.Added) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pull is an image as a member reads it that does not have it.
func pull(t *testing.T, p Peers, conductor, digest string, into *imagestore.Store) ([]byte, error) {
	t.Helper()
	urls, client := p.Sources(conductor, digest)
	content, err := into.Pull(t.Context(), imagestore.Source{URLs: urls, Client: client, Stored: true,
		Sum: disk.Checksum{Algorithm: disk.SHA256, Sum: imagestore.KeyOf(digest)}})
	if err != nil {
		return nil, err
	}
	got, err := io.ReadAll(content)
	return got, errors.Join(err, content.Close())
}

// TestSources: all living members are asked, first the member that received the image.
func TestSources(t *testing.T) {
	s := newSite(t)
	s.members = []store.Member{
		{Name: "a", Address: "a:1", Alive: true}, {Name: "dead", Address: "dead:1"}, {Name: "no-address", Alive: true},
		{Name: "here", Address: "here:1", Alive: true}, {Name: "b", Address: "b:1", Alive: true},
		{Name: "c", Address: "c:1", Alive: true},
	}
	p := s.peers()
	a, b, c := "https://a:1/cluster/images/12", "https://b:1/cluster/images/12", "https://c:1/cluster/images/12"
	for conductor, want := range map[string][]string{
		"a": {a, b, c}, "c": {c, a, b}, "dead": {a, b, c}, "here": {a, b, c}, "unknown": {a, b, c},
	} {
		if got, client := p.Sources(conductor, "sha256:12"); client != p.Client || !cmp.Equal(got, want) {
			t.Errorf("of %s: %v, want %v", conductor, got, want)
		}
	}
}

// TestPeers: an image comes from the first member that has it. Members that do not answer, or do not have it, are
// passed over. Bytes with another digest are refused, and not kept.
func TestPeers(t *testing.T) {
	image := bytes.Repeat([]byte("image\x00"), 50_000)
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(image))
	handlers := map[string]func(*testing.T) http.Handler{
		"has it":     func(t *testing.T) http.Handler { return Images(with(t, images(t), image), http.NotFoundHandler()) },
		"has it not": func(t *testing.T) http.Handler { return Images(images(t), http.NotFoundHandler()) },
		"lies": func(*testing.T) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(bytes.ToUpper(image)))
			})
		},
		"is silent": func(*testing.T) http.Handler {
			return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		},
	}
	for name, tc := range map[string]struct {
		members []string // in the order in which they are asked
		want    string   // in the error; "" for the image
	}{
		"one has it":            {members: []string{"has it"}},
		"the second has it":     {members: []string{"has it not", "has it"}},
		"the first is silent":   {members: []string{"is silent", "has it"}},
		"the second would lie":  {members: []string{"has it", "lies"}},
		"the only one lies":     {members: []string{"lies"}, want: "checksum"},
		"the only one is empty": {members: []string{"has it not"}, want: "404"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, here := newSite(t), images(t)
			for _, m := range tc.members {
				s.add(m, handlers[m](t))
			}
			got, err := pull(t, s.peers(), tc.members[0], digest, here)
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) || here.Has(imagestore.KeyOf(digest)) {
					t.Errorf("%d bytes, %v, want %q; kept: %t", len(got), err, tc.want, here.Has(imagestore.KeyOf(digest)))
				}
				return
			}
			if err != nil || !bytes.Equal(got, image) || !here.Has(imagestore.KeyOf(digest)) {
				t.Errorf("%d bytes of %d, %v; kept: %t", len(got), len(image), err, here.Has(imagestore.KeyOf(digest)))
			}
		})
	}
}

// TestImagesOthers: requests of clients, and those for anything but an image, are answered by the next handler.
func TestImagesOthers(t *testing.T) {
	image := []byte("image\x00")
	h := Images(with(t, images(t), image), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	}))
	own := fmt.Sprintf("%s%x", imagesPath, sha256.Sum256(image))
	for _, tc := range []struct {
		path, header string
		want         int
	}{
		{own, "", http.StatusOK},
		{own, "Ferrite-Forwarded-For", http.StatusTeapot},
		{own, "Ferrite-Forwarded-Group", http.StatusTeapot},
		{imagesPath + strings.Repeat("0", 64), "", http.StatusNotFound},
		{imagesPath + "../lock", "", http.StatusNotFound},
		{"/v1/nodes", "", http.StatusTeapot},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://member"+tc.path, nil)
		if tc.header != "" {
			r.Header.Set(tc.header, "x")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tc.want {
			t.Errorf("%s, %s: %d, want %d", tc.path, tc.header, w.Code, tc.want)
		}
	}
}
