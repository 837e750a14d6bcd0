//go:build keystone

package openstack_test

import (
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/glance"
	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/keystone"
	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagesource"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/images/disk"
	"github.com/ferrite-metal/ferrite/lab/openstack"
	"github.com/ferrite-metal/ferrite/lab/suitetest"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// imageSize is more than all buffers between Glance and an agent have.
const imageSize = 64 << 20

// cloud is Debian's Keystone and Glance, with a conductor's images before them.
type cloud struct {
	*imagesource.Sources
	keystone *openstack.Keystone
	glance   *openstack.Glance
	user     *keystone.Client
	node     node.Node
}

// start has the conductor's side find images, kept where cache is not 0.
func (c *cloud) start(t *testing.T, cache int64) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	catalogue, err := glance.New(glance.Options{Cloud: c.user, Timeout: time.Minute}) // the machine may be busy
	if err != nil {
		t.Fatal(err)
	}
	conf := imagesource.Config{Glance: catalogue, Log: log, Key: []byte("of this test"),
		Retry: disk.HTTPOptions{Retries: 20}}
	if cache > 0 {
		if conf.Pulled, err = imagestore.Open(imagestore.Config{Dir: t.TempDir(), Cache: cache, Log: log}); err != nil {
			t.Fatal(err)
		}
	}
	var handler http.Handler
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(func() {
		s.Close()
		if conf.Pulled != nil {
			if err := conf.Pulled.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	conf.Served = s.URL
	c.Sources = imagesource.New(conf)
	handler = c.Handler(func(_ context.Context, ref string) (node.Node, error) {
		if ref != c.node.UUID {
			return node.Node{}, errors.New("no such node")
		}
		return c.node, nil
	}, log)
}

// TestGlance: images of Debian's Glance, as agents get them.
func TestGlance(t *testing.T) {
	suitetest.Need(t, "glance-test")
	k, err := openstack.StartKeystone(t.Context(), openstack.Here, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, k)
	g, err := openstack.StartGlance(t.Context(), openstack.Here, t.TempDir(), k)
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, g)
	admin, err := k.Admin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"service", "admin"} {
		if _, err := k.Grant(t.Context(), admin, "ironic", "ironic-password", "service", role); err != nil {
			t.Fatal(err)
		}
	}
	c := &cloud{keystone: k, glance: g, node: node.Node{UUID: "11111111-2222-4333-8444-555555555555",
		Agent: node.Agent{Token: "secret"}, InstanceInfo: map[string]any{}}}
	c.user, err = keystone.New(keystone.Options{URL: k.URL, User: "ironic", Project: "service", Domain: "Default",
		Password: func() (string, error) { return "ironic-password", nil }, Lasts: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	body := bytes.Repeat([]byte("0123456789abcdef"), imageSize/16)
	id, err := g.Create(t.Context(), map[string]any{"name": "debian", "disk_format": "raw", "container_format": "bare"},
		body)
	if err != nil {
		t.Fatal(err)
	}
	for name, cache := range map[string]int64{"relayed": 0, "kept": 2 * imageSize} {
		t.Run(name, func(t *testing.T) {
			c.start(t, cache)
			c.reads(t, id, body)
			c.survives(t, id, body)
		})
	}
	t.Run("boots", func(t *testing.T) { c.boots(t, body[:1<<20]) })
	t.Run("refused", func(t *testing.T) { c.refuses(t, id) })
}

// locate is where an agent gets an image.
func (c *cloud) locate(t *testing.T, id string, body []byte) string {
	t.Helper()
	found, err := c.Check(t.Context(), c.node, id)
	if err != nil || found.Size != int64(len(body)) || found.Type != agentapi.WholeDisk {
		t.Fatalf("%+v, %v", found, err)
	}
	info, err := c.Locate(t.Context(), c.node, agentapi.ImageInfo{ID: id, URLs: []string{id}})
	sum := sha512.Sum512(body)
	if err != nil || info.OSHashAlgo != "sha512" || info.OSHashValue != hex.EncodeToString(sum[:]) ||
		info.DiskFormat != "raw" {
		t.Fatalf("%+v, %v", info, err)
	}
	return info.URLs[0]
}

// reads: all of an image, and parts of it.
func (c *cloud) reads(t *testing.T, id string, body []byte) {
	t.Helper()
	at := c.locate(t, id, body)
	for span, want := range map[string][]byte{
		"": body, "bytes=1000-1999": body[1000:2000], "bytes=60000000-": body[60_000_000:],
	} {
		c.has(t, at, span, want)
	}
}

// has reads a part of the content at a URL; "" is all.
func (c *cloud) has(t *testing.T, at, span string, want []byte) {
	t.Helper()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
	if span != "" {
		req.Header.Set("Range", span)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%q: %s, %d bytes, expected %d, %v", span, resp.Status, len(got), len(want), err)
	}
}

// boots: an ISO image at a path for firmware, and the kernel and the ramdisk that the properties of an image name.
func (c *cloud) boots(t *testing.T, body []byte) {
	create := func(format, container string, more map[string]any) string {
		t.Helper()
		fields := map[string]any{"name": format, "disk_format": format, "container_format": container,
			"visibility": "private"}
		maps.Copy(fields, more)
		id, err := c.glance.Create(t.Context(), fields, append([]byte(format), body...))
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	iso, kernel, ramdisk := create("iso", "bare", nil), create("aki", "aki", nil), create("ari", "ari", nil)
	image := create("ami", "ami", map[string]any{"kernel_id": kernel, "ramdisk_id": ramdisk})
	n := c.node
	n.Interfaces, n.ProvisionState = map[string]string{"deploy": "ramdisk"}, node.Active
	defer func(before node.Node) { c.node = before }(c.node)
	for name, cache := range map[string]int64{"relayed": 0, "kept": 2 * imageSize} {
		c.start(t, cache)
		n.InstanceInfo = map[string]any{"boot_iso": iso}
		c.node = n
		at, err := c.ISOURL(t.Context(), n, iso)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for span, want := range map[string][]byte{"": append([]byte("iso"), body...), "bytes=3-1002": body[:1000]} {
			c.has(t, at, span, want)
		}
		found, err := c.Check(t.Context(), n, image)
		if err != nil || found.Kernel != kernel || found.Ramdisk != ramdisk || found.Owner == "" {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
		for id, format := range map[string]string{kernel: "aki", ramdisk: "ari"} {
			if cache == 0 {
				if err := c.CheckBootFile(t.Context(), n, id, true); err == nil || !strings.Contains(err.Error(), "--image-cache") {
					t.Errorf("%s without a cache: %v", format, err)
				}
				continue
			}
			path, err := c.BootFile(t.Context(), n, id)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, append([]byte(format), body...)) {
				t.Errorf("%s: %d bytes, %v", format, len(got), err)
			}
		}
	}
	asked := n
	asked.Run = &node.Run{Activity: "deploy", Project: "somebody"}
	for name, err := range map[string]error{
		"iso":    second(c.ISOURL(t.Context(), asked, iso)),
		"image":  second(c.Check(t.Context(), asked, image)),
		"kernel": c.CheckBootFile(t.Context(), asked, kernel, false),
	} {
		if err == nil || !strings.Contains(err.Error(), "is not for project somebody") {
			t.Errorf("the %s of another project: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// survives: Glance ends while an agent reads, and the conductor's token is revoked; it goes on when Glance is back.
func (c *cloud) survives(t *testing.T, id string, body []byte) {
	t.Helper()
	resp, err := http.Get(c.locate(t, id, body)) //nolint:noctx // bounded by the test
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got := make([]byte, 1<<20, imageSize)
	if _, err := io.ReadFull(resp.Body, got); err != nil {
		t.Fatal(err)
	}
	stop(t, c.glance)
	service, err := c.user.Service(t.Context(), "")
	if err == nil {
		err = tokens.Revoke(t.Context(), service, service.Token()).Err
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := c.glance.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(resp.Body)
	if got = append(got, rest...); err != nil || !bytes.Equal(got, body) {
		t.Errorf("%d bytes, expected %d, %v", len(got), len(body), err)
	}
}

// refuses: images without bytes, out of use, and of another project.
func (c *cloud) refuses(t *testing.T, id string) {
	c.start(t, 0)
	empty, err := c.glance.Create(t.Context(), map[string]any{"name": "later", "disk_format": "raw",
		"container_format": "bare"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.glance.Deactivate(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	leased := c.node
	leased.Lessee = "somebody"
	for name, tc := range map[string]struct {
		n        node.Node
		id, want string
	}{
		"queued": {c.node, empty, "nothing was uploaded"}, "deactivated": {c.node, id, "openstack image set --activate"},
		"unknown": {c.node, c.node.UUID, "there is no image"}, "another's": {leased, id, "is not for project somebody"},
	} {
		if _, err := c.Check(t.Context(), tc.n, tc.id); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	stop(t, c.glance)
	if _, err := c.Check(t.Context(), c.node, id); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("away: %v", err)
	}
}

func stop(t *testing.T, s interface{ Stop() error }) {
	t.Helper()
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}
