package imagesource_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagesource"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/images/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// named are images by owner and name, with their bytes in a store.
type named struct {
	images map[string]node.Image
	store  *imagestore.Store
}

func (n *named) Find(_ context.Context, ref string, projects ...string) (node.Image, error) {
	var called []node.Image
	for _, i := range n.images {
		if i.Name == ref || i.UUID == ref {
			called = append(called, i)
		}
	}
	return node.PickImage(ref, called, projects...)
}

func (n *named) Open(ctx context.Context, i node.Image) (*imagestore.Content, error) {
	return n.store.Open(ctx, imagestore.KeyOf(i.Digest))
}

func (n *named) Path(_ context.Context, i node.Image) (string, error) {
	return n.store.Path(imagestore.KeyOf(i.Digest)), nil
}

// add stores an image under a name.
func (n *named) add(t *testing.T, name, format, owner string, body []byte) node.Image {
	t.Helper()
	if err := n.store.Add(t.Context(), bytes.NewReader(body), int64(len(body)), disk.Checksum{},
		func(a imagestore.Added) error {
			n.images[owner+"/"+name] = node.Image{Record: node.Record{UUID: owner + "-" + name}, Name: name,
				Format: format, Owner: owner, Digest: a.Digest, Size: a.Size, VirtualSize: a.Size}
			return nil
		}); err != nil {
		t.Fatal(err)
	}
	return n.images[owner+"/"+name]
}

// imageSite is a conductor's images, served to the agent of one node.
type imageSite struct {
	*imagesource.Sources
	*named
	node node.Node
	conf imagesource.Config
	srv  *httptest.Server
}

func newImageSite(t *testing.T, cache int64) *imageSite {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	store, err := imagestore.Open(imagestore.Config{Dir: t.TempDir(), Cache: cache, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	s := &imageSite{named: &named{map[string]node.Image{}, store}, node: node.Node{UUID: uuid, Owner: "blue",
		Agent: node.Agent{Token: "secret-of-this-boot"}, InstanceInfo: map[string]any{}}}
	s.srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Handler(func(_ context.Context, ref string) (node.Node, error) {
			if ref != s.node.UUID {
				return node.Node{}, errors.New("no such node")
			}
			return s.node, nil
		}, log).ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.srv.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	s.conf = imagesource.Config{Served: s.srv.URL, Named: s.named, Key: []byte("key"), Log: log,
		Client: http.DefaultClient}
	if cache > 0 {
		s.conf.Pulled = store
	}
	s.restart()
	return s
}

// restart drops the conductor's memory.
func (s *imageSite) restart() { s.Sources = imagesource.New(s.conf) }

func sector(fill byte) []byte { return bytes.Repeat([]byte{0, fill}, 512) }

// TestNamed: a named image is served to the agent of its node, by its digest, with Range and HEAD; all others are
// refused.
func TestNamed(t *testing.T) {
	s := newImageSite(t, 0)
	os := s.add(t, "debian-12", node.ImageRaw, "", sector(1))
	s.node.InstanceInfo["image_source"] = "image:debian-12"
	found, err := s.Check(t.Context(), s.node, "image:debian-12")
	if err != nil || found.Size != 1024 {
		t.Fatalf("%+v, %v", found, err)
	}
	got, err := s.Locate(t.Context(), s.node, agentapi.ImageInfo{ID: "debian-12", URLs: []string{"image:debian-12"}})
	if err != nil || got.OSHashAlgo != "sha256" || "sha256:"+got.OSHashValue != os.Digest || got.DiskFormat != "raw" ||
		got.Validate() != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	at := got.URLs[0]
	if status, body := get(t, at, ""); status != 200 || body != string(sector(1)) {
		t.Errorf("%d, %d bytes", status, len(body))
	}
	if status, body := get(t, at, "bytes=1020-"); status != 206 || len(body) != 4 {
		t.Errorf("by range: %d, %d bytes", status, len(body))
	}
	head, err := http.Head(at)
	if err != nil || head.StatusCode != 200 || head.ContentLength != 1024 || head.Header.Get("ETag") == "" {
		t.Errorf("HEAD: %v, %v", head, err)
	}
	other := s.add(t, "other", node.ImageRaw, "", sector(2))
	for name, bad := range map[string]string{
		"no ticket":    strings.Replace(at, "agent:", "x", 1),
		"another's":    strings.Replace(at, imagestore.KeyOf(os.Digest), imagestore.KeyOf(other.Digest), 1),
		"another node": strings.Replace(at, "1111", "2222", 1),
	} {
		if status, _ := get(t, bad, ""); status != 401 {
			t.Errorf("%s: %d", name, status)
		}
	}
}

// TestNamedRefused: an image that is missing, of another project or kind, or not of the expected checksum is refused
// for good.
func TestNamedRefused(t *testing.T) {
	s := newImageSite(t, 0)
	os := s.add(t, "os", node.ImageRaw, "", sector(1))
	s.add(t, "lent", node.ImageRaw, "blue", sector(2))
	s.add(t, "red", node.ImageRaw, "red", sector(3))
	s.add(t, "live", node.ImageISO, "", sector(4))
	wrong := strings.Repeat("0", 64)
	for name, c := range map[string]struct {
		source string
		info   map[string]any
		text   string // "" for none
	}{
		"good":           {"image:os", nil, ""},
		"of the owner":   {"image:lent", nil, ""},
		"by its sum":     {"image:os", map[string]any{"image_checksum": strings.ToUpper(imagestore.KeyOf(os.Digest))}, ""},
		"of a sha512":    {"image:os", map[string]any{"image_checksum": strings.Repeat("0", 128)}, ""},
		"missing":        {"image:none", nil, "there is no image none for this node"},
		"of others":      {"image:red", nil, "there is no image red for this node"},
		"an ISO":         {"image:live", nil, "of the format iso"},
		"no name":        {"image:../x", nil, "no name of an image"},
		"by another sum": {"image:os", map[string]any{"image_checksum": wrong}, "asks for sha256:" + wrong},
		"by another digest": {"image:os", map[string]any{"image_os_hash_algo": "sha256", "image_os_hash_value": wrong},
			os.Digest},
	} {
		s.node.InstanceInfo = c.info
		_, err := s.Check(t.Context(), s.node, c.source)
		if c.text == "" && err != nil || c.text != "" && (err == nil || !strings.Contains(err.Error(), c.text) ||
			!permanently(err)) {
			t.Errorf("%s: %v, want %q for good", name, err, c.text)
		}
	}
	gone := node.Image{Name: "gone", Format: node.ImageRaw, Digest: "sha256:" + wrong}
	s.images["gone"], s.node.InstanceInfo = gone, nil
	if _, err := s.Check(t.Context(), s.node, "image:gone"); err == nil {
		t.Error("an image whose bytes are missing is not refused")
	}
	s.conf.Served = ""
	s.restart()
	if _, err := s.Check(t.Context(), s.node, "image:os"); err == nil || !strings.Contains(err.Error(), "--boot") {
		t.Errorf("without boot service: %v", err)
	}
}

// TestNamedOfProjects: a name means the image of the node's owner or lessee before one of all, none of another project,
// and is refused where both have one; a lessee's image never stands in driver_info.
func TestNamedOfProjects(t *testing.T) {
	s := newImageSite(t, 0)
	all := s.add(t, "os", node.ImageKernel, "", sector(1))
	blue := s.add(t, "os", node.ImageKernel, "blue", sector(2))
	red := s.add(t, "os", node.ImageKernel, "red", sector(3))
	mine := s.add(t, "mine", node.ImageKernel, "red", sector(4))
	for name, c := range map[string]struct {
		owner, lessee, ref string
		ofOwner            bool
		want               node.Image
		text               string
	}{
		"of the owner":              {"blue", "", "os", false, blue, ""},
		"of the lessee":             {"green", "red", "os", false, red, ""},
		"of all":                    {"green", "", "os", false, all, ""},
		"of nobody's node":          {"", "", "os", false, all, ""},
		"of the lessee of nobody's": {"", "red", "os", false, red, ""},
		"of both":                   {"blue", "red", "os", false, all, "blue-os (project blue) or red-os (project red)"},
		"of both, by UUID":          {"blue", "red", "red-os", false, red, ""},
		"of others by UUID":         {"blue", "", "red-os", false, all, "there is no image"},
		"in driver_info":            {"blue", "red", "os", true, blue, ""},
		"for all in driver_info":    {"green", "red", "os", true, all, ""},
		"lessee's in driver_info":   {"blue", "red", "mine", true, mine, "there is no image mine for this node"},
	} {
		n := node.Node{UUID: uuid, Owner: c.owner, Lessee: c.lessee}
		if c.ofOwner {
			n = n.OfOwner()
		}
		file, err := s.BootFile(t.Context(), n, "image:"+c.ref)
		if c.text == "" && (err != nil || !strings.HasSuffix(file, imagestore.KeyOf(c.want.Digest))) ||
			c.text != "" && (err == nil || !strings.Contains(err.Error(), c.text) || !permanently(err)) {
			t.Errorf("%s: %s, %v, expected %s %q", name, file, err, c.want.Digest, c.text)
		}
	}
}

// TestNamedISO: firmware, which has no credentials, reads an ISO at a path that cannot be guessed, as long as the node
// names it.
func TestNamedISO(t *testing.T) {
	s := newImageSite(t, 0)
	s.add(t, "live", node.ImageISO, "", sector(1))
	s.add(t, "os", node.ImageQCOW2, "", sector(2))
	s.add(t, "vmlinuz", node.ImageKernel, "", sector(3))
	if path, err := s.BootFile(t.Context(), s.node, "image:vmlinuz"); err != nil || !strings.Contains(path, "/stored/") {
		t.Errorf("a kernel: %s, %v", path, err)
	}
	if _, err := s.BootFile(t.Context(), s.node, "image:live"); err == nil || !permanently(err) {
		t.Errorf("an ISO as a kernel: %v", err)
	}
	if _, err := s.ISOURL(t.Context(), s.node, "image:os"); err == nil || !permanently(err) {
		t.Errorf("a qcow2: %v", err)
	}
	s.node.InstanceInfo["boot_iso"] = "image:live"
	s.node.Interfaces, s.node.ProvisionState = map[string]string{"deploy": "ramdisk"}, node.Active
	at, err := s.ISOURL(t.Context(), s.node, "image:live")
	if err != nil || !strings.HasSuffix(at, ".iso") || strings.Contains(at, "@") {
		t.Fatalf("%s, %v", at, err)
	}
	s.restart()
	if status, body := get(t, at, "bytes=0-9"); status != 206 || len(body) != 10 {
		t.Errorf("%d, %d bytes", status, len(body))
	}
	file := at[strings.LastIndex(at, "/")+1:]
	guess := strings.Replace(at, file, base64.RawURLEncoding.EncodeToString(make([]byte, 32))+".iso", 1)
	if status, _ := get(t, guess, ""); status != 404 {
		t.Errorf("a guess: %d", status)
	}
	s.node.InstanceInfo["boot_iso"] = "http://h/live.iso"
	if status, _ := get(t, at, ""); status != 404 {
		t.Errorf("of a node that boots another ISO: %d", status)
	}
}

// TestNamedAgentISO: a BMC reads the medium of a node's agent by name while a run may boot from it.
func TestNamedAgentISO(t *testing.T) {
	s := newImageSite(t, 0)
	s.add(t, "ipa", node.ImageISO, "", sector(1))
	s.node.Lessee = "red" // its images do not count
	s.node.Interfaces = map[string]string{"boot": "redfish-virtual-media"}
	s.node.DriverInfo = map[string]any{"rescue_iso": "image:ipa"}
	s.node.ProvisionState, s.node.Run = node.Rescuing, &node.Run{Activity: "rescue"}
	at, err := s.ISOURL(t.Context(), s.node.OfOwner(), "image:ipa")
	if err != nil {
		t.Fatal(err)
	}
	if status, body := get(t, at, "bytes=0-9"); status != 206 || len(body) != 10 {
		t.Errorf("%d, %d bytes", status, len(body))
	}
	s.node.Run = nil
	if status, _ := get(t, at, ""); status != 404 {
		t.Errorf("of a node at rest: %d", status)
	}
}

// source is a web server with one image. It counts reads.
func source(t *testing.T, body []byte) (at string, reads *atomic.Int64) {
	t.Helper()
	reads = &atomic.Int64{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/os.raw":
			reads.Add(1)
			_, _ = w.Write(body)
		case "/SHA256SUMS":
			fmt.Fprintf(w, "%s  os.raw\n", sha(string(body)))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/os.raw", reads
}

// TestThrough: an image at a URL is read from its origin once, for any number of agents and after a restart.
func TestThrough(t *testing.T) {
	body := bytes.Repeat([]byte{0, 7}, 512<<10)
	at, reads := source(t, body)
	s := newImageSite(t, 1<<30)
	sums := strings.Replace(at, "os.raw", "SHA256SUMS", 1)
	for name, info := range map[string]agentapi.ImageInfo{
		"by a sum":            {URLs: []string{at}, Checksum: "sha256:" + sha(string(body))},
		"by its hash":         {URLs: []string{at}, OSHashAlgo: "sha256", OSHashValue: sha(string(body))},
		"by a file of sums":   {URLs: []string{at}, Checksum: sums},
		"of a mirror besides": {URLs: []string{at, "http://127.0.0.1:1/os.raw"}, Checksum: sha(string(body))},
	} {
		info.ID = "os.raw"
		got, err := s.Through(t.Context(), s.node, info)
		if err != nil || len(got.URLs) != 1 || !strings.Contains(got.URLs[0], "/images/pulled/"+uuid) || got.Checksum != "" ||
			got.OSHashValue != sha(string(body)) || got.Validate() != nil {
			t.Fatalf("%s: %+v, %v", name, got, err)
		}
		if status, text := get(t, got.URLs[0], ""); status != 200 || text != string(body) {
			t.Errorf("%s: %d, %d bytes", name, status, len(text))
		}
		s.restart()
		s.node.InstanceInfo = map[string]any{"image_source": at, "image_checksum": sums}
		if status, text := get(t, got.URLs[0], "bytes=-3"); status != 206 || len(text) != 3 {
			t.Errorf("%s, after a restart: %d, %d bytes", name, status, len(text))
		}
		s.restart()
		s.node.InstanceInfo["image_source"] = strings.Replace(at, "os.raw", "other.raw", 1)
		if status, _ := get(t, got.URLs[0], ""); status == 200 {
			t.Errorf("%s: served to a node that is to get another image", name)
		}
	}
	if n := reads.Load(); n != 1 {
		t.Errorf("the origin was read %d times", n)
	}
}

// TestThroughAnother: that an image is another one than was asked for is found out once all of it has come. All readers
// fail, and hear why when they ask again; so does the next deploy.
func TestThroughAnother(t *testing.T) {
	body, reads, rest := bytes.Repeat([]byte{0, 7}, 512<<10), atomic.Int64{}, make(chan struct{})
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reads.Add(1)
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		<-rest
		_, _ = w.Write(body[len(body)/2:])
	}))
	defer origin.Close()
	s := newImageSite(t, 1<<30)
	wrong := agentapi.ImageInfo{ID: "os.raw", URLs: []string{origin.URL + "/os.raw"}, OSHashAlgo: "sha256",
		OSHashValue: sha("another")}
	got, err := s.Through(t.Context(), s.node, wrong)
	if err != nil {
		t.Fatal(err)
	}
	const text = "another one than was asked for"
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			resp, err := http.Get(got.URLs[0])
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			got, err := io.ReadAll(resp.Body)
			if err == nil && (resp.StatusCode == 200 || !strings.Contains(string(got), text)) {
				t.Errorf("a reader has %d bytes, %d", len(got), resp.StatusCode)
			}
		})
	}
	close(rest)
	readers.Wait()
	if _, err = s.Through(t.Context(), s.node, wrong); err == nil || !strings.Contains(err.Error(), text) ||
		!permanently(err) {
		t.Errorf("the next deploy: %v", err)
	}
	if status, why := get(t, got.URLs[0], ""); status != http.StatusConflict || !strings.Contains(why, text) {
		t.Errorf("an agent that asks again: %d %.300s", status, why)
	}
	if n := reads.Load(); n != 1 {
		t.Errorf("the origin was read %d times", n)
	}
}

// TestThroughNot: where an image cannot be pulled, the agent fetches it by itself.
func TestThroughNot(t *testing.T) {
	at, reads := source(t, make([]byte, 4096))
	for name, c := range map[string]struct {
		cache int64
		info  agentapi.ImageInfo
	}{
		"no cache":    {0, agentapi.ImageInfo{URLs: []string{at}, Checksum: sha("x")}},
		"too large":   {1024, agentapi.ImageInfo{URLs: []string{at}, Checksum: sha("x")}},
		"not there":   {1 << 20, agentapi.ImageInfo{URLs: []string{at + "x"}, Checksum: sha("x")}},
		"no such sum": {1 << 20, agentapi.ImageInfo{URLs: []string{at}, Checksum: at + "x"}},
	} {
		s := newImageSite(t, c.cache)
		got, err := s.Through(t.Context(), s.node, c.info)
		if err != nil || got.URLs[0] != c.info.URLs[0] || got.Checksum != c.info.Checksum {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if n := reads.Load(); n > 1 {
		t.Errorf("the origin was read %d times", n)
	}
}
