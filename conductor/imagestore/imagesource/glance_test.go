package imagesource_test

import (
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/glance"
	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagesource"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/images/disk"
)

// imageID is the UUID of an image.
const imageID = "7ed467d4-83b0-41a7-bc15-c404edccff98"

// catalogue answers as Debian's Glance 25 does, unless it is to misbehave.
type catalogue struct {
	mu     sync.Mutex
	image  map[string]any // its description of the image
	body   []byte         // its bytes of the image
	breaks int            // bytes after which a connection breaks; 0 for never
	token  string         // that is taken; "" for any
	mute   bool           // bytes do not come
	reads  int            // answers with bytes from the first on
	asked  int            // requests for bytes

	questions int // requests about images
}

func (c *catalogue) change(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

func (c *catalogue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	image, body, breaks, token, mute := c.image, c.body, c.breaks, c.token, c.mute
	if strings.HasSuffix(r.URL.Path, "/file") {
		c.asked++
	} else {
		c.questions++
	}
	c.mu.Unlock()
	switch {
	case token != "" && r.Header.Get("X-Auth-Token") != token:
		w.WriteHeader(http.StatusUnauthorized)
	case r.URL.Path == "/v2/images/"+imageID:
		_ = json.NewEncoder(w).Encode(image)
	case r.URL.Path == "/v2/images/"+imageID+"/members/green":
		fmt.Fprint(w, `{"status": "accepted"}`)
	case r.URL.Path != "/v2/images/"+imageID+"/file":
		http.NotFound(w, r)
	case mute:
		<-r.Context().Done()
	default:
		if !strings.HasPrefix(r.Header.Get("Range"), "bytes=") || strings.HasPrefix(r.Header.Get("Range"), "bytes=0-") {
			c.change(func() { c.reads++ })
		}
		if breaks > 0 {
			w = &breaking{w, breaks}
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	}
}

// breaking ends a connection after some bytes.
type breaking struct {
	http.ResponseWriter
	left int
}

func (b *breaking) Write(p []byte) (int, error) {
	n, err := b.ResponseWriter.Write(p[:min(len(p), b.left)])
	if b.left -= n; b.left == 0 {
		_ = http.NewResponseController(b.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// cloudSite is a conductor in a cloud, with one node.
type cloudSite struct {
	*imagesource.Sources
	*catalogue
	node node.Node
	log  bytes.Buffer
	p    *gophercloud.ProviderClient
}

// Service is of glance.Cloud.
func (s *cloudSite) Service(context.Context, string) (*gophercloud.ServiceClient, error) {
	return &gophercloud.ServiceClient{ProviderClient: s.p}, nil
}

func newCloudSite(t *testing.T, cache int64) *cloudSite {
	t.Helper()
	s := &cloudSite{p: &gophercloud.ProviderClient{TokenID: "first"}, catalogue: &catalogue{}}
	s.p.UseTokenLock()
	s.p.ReauthFunc = func(context.Context) error {
		s.p.SetToken("second")
		return nil
	}
	s.fill(bytes.Repeat([]byte("0123456789abcdef"), 20_000))
	upstream := httptest.NewServer(s.catalogue)
	log := slog.New(slog.NewTextHandler(&s.log, nil))
	catalogue, err := glance.New(glance.Options{URL: upstream.URL, Cloud: s, Transport: upstream.Client().Transport})
	if err != nil {
		t.Fatal(err)
	}
	c := imagesource.Config{Glance: catalogue, Log: log, Key: []byte("of this test"),
		Retry: disk.HTTPOptions{Stall: 100 * time.Millisecond, Retries: 4, Backoff: time.Millisecond}}
	if cache > 0 {
		if c.Pulled, err = imagestore.Open(imagestore.Config{Dir: t.TempDir(), Cache: cache, Log: log}); err != nil {
			t.Fatal(err)
		}
	}
	var handler http.Handler
	down := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(func() {
		down.Close()
		if c.Pulled != nil {
			if err := c.Pulled.Close(); err != nil {
				t.Error(err)
			}
		}
		upstream.Close()
	})
	c.Served = down.URL
	s.Sources = imagesource.New(c)
	s.node = node.Node{UUID: uuid, Agent: node.Agent{Token: "secret-of-this-boot"},
		InstanceInfo: map[string]any{"image_source": imageID}}
	handler = s.Handler(func(_ context.Context, ref string) (node.Node, error) {
		if ref != s.node.UUID {
			return node.Node{}, errors.New("no such node")
		}
		return s.node, nil
	}, log)
	return s
}

// fill gives the catalogue an image, as an upload does.
func (s *cloudSite) fill(body []byte) {
	s.body = body
	s.image = map[string]any{"id": imageID, "name": "a", "disk_format": "raw", "container_format": "bare",
		"visibility": "private", "owner": "blue", "size": len(body), "virtual_size": nil, "status": "active",
		"checksum": "0019d23bef56a136a1891211d7007f6f", "os_hash_algo": "sha512", "os_hash_value": sha2(body)}
}

func sha2(body []byte) string {
	sum := sha512.Sum512(body)
	return hex.EncodeToString(sum[:])
}

// locate is where the agent gets the image.
func (s *cloudSite) locate(t *testing.T) string {
	t.Helper()
	asked := info(imageID)
	asked.DiskFormat = ""
	got, err := s.Locate(t.Context(), s.node, asked)
	if err != nil {
		t.Fatal(err)
	}
	if got.OSHashAlgo != "sha512" || got.OSHashValue != sha2(s.body) || got.DiskFormat != "raw" || got.Validate() != nil {
		t.Fatalf("%+v, %v", got, got.Validate())
	}
	return got.URLs[0]
}

// TestGlance: an agent gets an image of Glance's from the conductor, all or a part, with its hash and format.
func TestGlance(t *testing.T) {
	for name, cache := range map[string]int64{"relayed": 0, "kept": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			s := newCloudSite(t, cache)
			found, err := s.Check(t.Context(), s.node, imageID)
			if err != nil || found.Size != int64(len(s.body)) || found.Type != "whole-disk" {
				t.Fatalf("%+v, %v", found, err)
			}
			at := s.locate(t)
			for span, want := range map[string]string{
				"": string(s.body), "bytes=0-4095": string(s.body[:4096]), "bytes=100000-": string(s.body[100_000:]),
				"bytes=319990-330000": string(s.body[319_990:]), "bytes=-7": string(s.body[len(s.body)-7:]),
			} {
				status, body := get(t, at, span)
				if status != map[bool]int{true: 200, false: 206}[span == ""] || body != want {
					t.Errorf("%q: %d, %d bytes, expected %d", span, status, len(body), len(want))
				}
			}
			if status, _ := get(t, at, "bytes=320000-"); status != http.StatusRequestedRangeNotSatisfiable {
				t.Errorf("beyond the end: %d", status)
			}
			before := s.asked
			resp, err := http.Head(at) //nolint:noctx // a test
			if err != nil || resp.StatusCode != 200 || resp.ContentLength != int64(len(s.body)) || s.asked != before {
				t.Errorf("HEAD: %v, %v; Glance was asked %d times", resp, err, s.asked-before)
			}
			if cache > 0 && s.reads != 1 {
				t.Errorf("Glance was read %d times, expected once", s.reads)
			}
			s.node.Agent.Token = "of another boot"
			if status, _ := get(t, at, ""); status != http.StatusUnauthorized {
				t.Errorf("without a ticket: %d", status)
			}
		})
	}
}

// TestGlanceRefuses: an image that cannot be deployed is refused before anything is changed, with the remedy.
func TestGlanceRefuses(t *testing.T) {
	with := func(key string, value any) func(*cloudSite) { return func(s *cloudSite) { s.image[key] = value } }
	info := func(pairs ...string) func(*cloudSite) {
		return func(s *cloudSite) {
			for i := 0; i < len(pairs); i += 2 {
				s.node.InstanceInfo[pairs[i]] = pairs[i+1]
			}
		}
	}
	for name, tc := range map[string]struct {
		change []func(*cloudSite)
		want   string // "" where it is taken
	}{
		"queued": {one(with("status", "queued"), with("size", nil)),
			`is "queued", expected "active": nothing was uploaded`},
		"importing":   {one(with("status", "importing")), "try again when"},
		"deactivated": {one(with("status", "deactivated")), "openstack image set --activate"},
		"odd":         {one(with("status", "odd")), "see openstack image show"},
		"no hash":     {one(with("os_hash_value", nil), with("os_hash_algo", nil)), "(its checksum is MD5"},
		"no hash, one given": {one(with("os_hash_value", nil), info("image_os_hash_algo", "sha256", "image_os_hash_value",
			sha("x"))), ""},
		"MD5": {one(with("os_hash_algo", "md5"), with("os_hash_value", strings.Repeat("0", 32))),
			"expected a sha256"},
		"SHA-1":    {one(with("os_hash_algo", "sha1")), "expected a sha256 or sha512"},
		"cut hash": {one(with("os_hash_value", "abc")), "expected a sha256 or sha512"},
		"another given": {one(info("image_os_hash_algo", "sha512", "image_os_hash_value", sha2(nil))),
			"it is another one than was meant"},
		"same given": {one(func(s *cloudSite) {
			s.node.InstanceInfo["image_checksum"] = "sha512:" + sha2(s.body)
		}), ""},
		"empty":                          {one(with("size", 0)), "has 0 bytes"},
		"vmdk":                           {one(with("disk_format", "vmdk")), "qemu-img convert -O qcow2"},
		"ova":                            {one(with("container_format", "ova")), "expected bare"},
		"theirs":                         {one(owned("red", "")), "is not for project red"},
		"the owner's":                    {one(owned("blue", "")), ""},
		"the lessee's":                   {one(owned("", "blue")), ""},
		"not the lessee's":               {one(owned("blue", "red")), "is not for project red"},
		"not the owner's":                {one(owned("red", "blue")), "is not for project red"},
		"the tenant's, deployed by Nova": {one(owned("red", "red"), deployed("", imageID)), ""},
		"another than Nova's":            {one(owned("red", ""), deployed("", other)), "is not for project red"},
		"the caller's":                   {one(owned("red", "red"), deployed("blue", imageID)), ""},
		"not the caller's":               {one(owned("red", "blue"), deployed("red", imageID)), "is not for project red"},
		"shared with the caller": {one(owned("red", "red"), with("visibility", "shared"),
			deployed("green", imageID)), ""},
		"cleaned":       {one(owned("red", ""), ran("clean", "", imageID)), "is not for project red"},
		"public":        {one(owned("red", ""), with("visibility", "public")), ""},
		"community":     {one(owned("red", ""), with("visibility", "community")), ""},
		"shared":        {one(owned("green", "green"), with("visibility", "shared")), ""},
		"not with them": {one(owned("red", ""), with("visibility", "shared")), "share it"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newCloudSite(t, 0)
			for _, change := range tc.change {
				change(s)
			}
			_, err := s.Check(t.Context(), s.node, imageID)
			refused(t, err, tc.want)
			if tc.want == "" {
				return
			}
			asked := textInfo(s.node)
			_, err = s.Locate(t.Context(), s.node, asked)
			refused(t, err, tc.want)
		})
	}
	s := newCloudSite(t, 0)
	_, err := s.Check(t.Context(), s.node, strings.Replace(imageID, "7", "0", 1))
	refused(t, err, "there is no image")
	_, err = imagesource.New(imagesource.Config{Served: "http://h"}).Check(t.Context(), s.node, imageID)
	refused(t, err, "this conductor knows no Glance")
}

func one(changes ...func(*cloudSite)) []func(*cloudSite) { return changes }

func owned(owner, lessee string) func(*cloudSite) {
	return func(s *cloudSite) { s.node.Owner, s.node.Lessee = owner, lessee }
}

// other is another image.
const other = "11111111-83b0-41a7-bc15-c404edccff98"

// ran is a run that a project has asked for with an image.
func ran(activity, project, image string) func(*cloudSite) {
	return func(s *cloudSite) { s.node.Run = &node.Run{Activity: activity, Project: project, Image: image} }
}

func deployed(project, image string) func(*cloudSite) { return ran("deploy", project, image) }

// refused compares an error that no other try mends.
func refused(t *testing.T, err error, want string) {
	t.Helper()
	var lasting interface{ Permanent() bool }
	if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !errors.As(err, &lasting) ||
		!lasting.Permanent()) {
		t.Errorf("%v, expected %q, for good", err, want)
	}
}

// TestGlanceTypes: which images are of a root file system, as Ironic has it.
func TestGlanceTypes(t *testing.T) {
	for name, tc := range map[string]struct {
		fields map[string]any
		want   string
		size   int64
	}{
		"kernel":     {map[string]any{"kernel_id": "k"}, "partition", 320_000},
		"ramdisk":    {map[string]any{"ramdisk_id": "r"}, "partition", 320_000},
		"said":       {map[string]any{"img_type": "whole-disk", "kernel_id": "k"}, "whole-disk", 320_000},
		"said so":    {map[string]any{"img_type": "partition"}, "partition", 320_000},
		"ami":        {map[string]any{"disk_format": "ami", "kernel_id": "k"}, "partition", 320_000},
		"qcow2":      {map[string]any{"disk_format": "qcow2", "virtual_size": 1 << 30}, "whole-disk", 1 << 30},
		"old Glance": {map[string]any{"disk_format": "qcow2", "virtual_size": nil}, "whole-disk", 0},
	} {
		s := newCloudSite(t, 0)
		for key, value := range tc.fields {
			s.image[key] = value
		}
		found, err := s.Check(t.Context(), s.node, "glance://"+imageID)
		if err != nil || found.Type != tc.want || found.Size != tc.size {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
}
