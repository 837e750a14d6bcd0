package imagesource_test

import (
	"bytes"
	stdcmp "cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagesource"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// container is a registry with one repository, lab/os (OCI distribution
// specification 1.1: manifests, and tokens as its authentication describes).
type container struct {
	*httptest.Server
	manifests map[string][]byte // by tag and digest
	blobs     map[string][]byte // by digest
	reads     atomic.Int64      // of blobs
	auth      string            // scheme that it asks for, "" for none
	login     string            // user:password that gets a token
	realm     string            // where tokens are given out, "" for here
	renewed   string            // end of its tokens; tokens with another end have run out
	status    int               // answered to everything, 0 for the right status
}

const token = "token-of-the-registry"

func newContainer(t *testing.T) *container {
	t.Helper()
	c := &container{manifests: map[string][]byte{}, login: "user:hunter2"}
	c.Server = httptest.NewTLSServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *container) host() string { return strings.TrimPrefix(c.URL, "https://") }

func (c *container) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(c.login))
	if r.URL.Path == "/token" {
		if r.Header.Get("Authorization") != basic || r.URL.Query().Get("scope") != "repository:lab/os:pull" ||
			r.URL.Query().Get("service") != "lab" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, `{"token": %q}`, token+c.renewed)
		return
	}
	want := map[string]string{
		"": r.Header.Get("Authorization"), "Bearer": "Bearer " + token + c.renewed, "Basic": basic,
	}[c.auth]
	if r.Header.Get("Authorization") != want {
		w.Header().Set("WWW-Authenticate",
			fmt.Sprintf(`%s realm="%s/token",service="lab",scope="repository:lab/os:pull"`, c.auth, stdcmp.Or(c.realm, c.URL)))
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if c.status != 0 {
		w.WriteHeader(c.status)
		return
	}
	if blob := c.blobs[strings.TrimPrefix(r.URL.Path, "/v2/lab/os/blobs/")]; blob != nil {
		c.reads.Add(1)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(blob))
		return
	}
	name, ok := strings.CutPrefix(r.URL.Path, "/v2/lab/os/manifests/")
	body, found := c.manifests[name]
	if !ok || !found {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	var doc struct{ MediaType string }
	_ = json.Unmarshal(body, &doc) // a document that is none has no type
	w.Header().Set("Content-Type", doc.MediaType)
	w.Header().Set("Docker-Content-Digest", digest(body))
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	_, _ = w.Write(body)
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// put stores a manifest under its digest, which it returns, and a tag.
func (c *container) put(t *testing.T, tag string, doc map[string]any) string {
	t.Helper()
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	c.manifests[tag], c.manifests[digest(b)] = b, b
	return digest(b)
}

type object = map[string]any

// layer is a layer that has its name as content.
func layer(name, mediaType string) object {
	return object{"mediaType": mediaType, "digest": digest([]byte(name)), "size": len(name),
		"annotations": object{"org.opencontainers.image.title": name}}
}

func manifest(layers ...object) object {
	return object{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "layers": layers}
}

// entry puts a disk into an index.
func (c *container) entry(t *testing.T, disktype, arch string, m object) object {
	t.Helper()
	e := object{"mediaType": m["mediaType"], "digest": c.put(t, "", m), "size": len(c.manifests[""])}
	if disktype != "" {
		e["annotations"] = object{"disktype": disktype}
	}
	if arch != "" {
		e["platform"] = object{"architecture": arch, "os": "linux"}
	}
	return e
}

func index(entries ...object) object {
	return object{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": entries}
}

const stream = "application/octet-stream"

func TestOCI(t *testing.T) {
	c := newContainer(t)
	s := imagesource.New(imagesource.Config{Client: c.Client()})
	disk := func(name string) object { return manifest(layer(name, stream)) }
	tar := manifest(layer("rootfs", "application/vnd.oci.image.layer.v1.tar+gzip"))
	all := index(
		c.entry(t, "", "amd64", tar), c.entry(t, "hyperv", "amd64", disk("x.vhdx")),
		c.entry(t, "qemu", "x86_64", disk("x.qcow2")),
		c.entry(t, "applehv", "arm64", disk("a.raw")), c.entry(t, "raw", "amd64", disk("x.raw")),
		c.entry(t, "raw", "riscv64", disk("r.raw")))
	c.put(t, "all", all)
	c.put(t, "qemu", index(c.entry(t, "", "", tar), c.entry(t, "qcow2", "", disk("any.qcow2"))))
	c.put(t, "packed", index(c.entry(t, "raw", "", manifest(layer("p.raw.zst", "application/zstd")))))
	c.put(t, "many", index(c.entry(t, "raw", "", manifest(layer("1", stream), layer("2", stream))),
		c.entry(t, "qemu", "", disk("one.qcow2"))))
	single := c.put(t, "latest", disk("single.raw"))
	tests := []struct {
		ref, arch, layer, format string
	}{
		{"", "x86_64", "single.raw", ""},
		{":latest", "", "single.raw", ""},
		{"@" + single, "aarch64", "single.raw", ""},
		{":dropped@" + single, "", "single.raw", ""},
		{":all", "x86_64", "x.raw", "raw"},
		{":all", "aarch64", "a.raw", "raw"},
		{":all", "riscv64", "r.raw", "raw"},
		{":qemu", "x86_64", "any.qcow2", "qcow2"},
		{":packed", "x86_64", "p.raw.zst", ""},
		{":many", "x86_64", "one.qcow2", "qcow2"},
	}
	for _, tt := range tests {
		source := "oci://" + c.host() + "/lab/os" + tt.ref
		if _, err := s.Check(t.Context(), node.Node{}, source); err != nil {
			t.Error(err)
		}
		got, err := s.Locate(t.Context(), node.Node{Properties: object{"cpu_arch": tt.arch}},
			agentapi.ImageInfo{ID: source, URLs: []string{source}})
		sum := digest([]byte(tt.layer))
		want := agentapi.ImageInfo{
			ID: source, URLs: []string{c.URL + "/v2/lab/os/blobs/" + sum}, DiskFormat: tt.format,
			OSHashAlgo: "sha256", OSHashValue: strings.TrimPrefix(sum, "sha256:"),
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s for %s: %v\n%s", tt.ref, tt.arch, err, diff)
		}
	}
}

// TestOCILogin: the agent is given the registry's token, and not the secret it
// was had for.
func TestOCILogin(t *testing.T) {
	secret := base64.StdEncoding.EncodeToString([]byte("user:hunter2"))
	for name, tt := range map[string]struct {
		auth, login string
		node        node.Node
		header      string // "" for refused
		says        string // of a refusal
	}{
		"user and password": {"Bearer", "user:hunter2", node.Node{InstanceInfo: object{"image_pull_secret": "user:hunter2"}},
			"Bearer " + token, ""},
		"base64 of them": {"Bearer", "user:hunter2", node.Node{InstanceInfo: object{"image_pull_secret": secret}},
			"Bearer " + token, ""},
		"a registry's token": {"Bearer", ":hunter2", node.Node{InstanceInfo: object{"image_pull_secret": "hunter2"}},
			"Bearer " + token, ""},
		"basic": {"Basic", "user:hunter2", node.Node{InstanceInfo: object{"image_pull_secret": "user:hunter2"}},
			"Basic " + secret, ""},
		"wrong": {
			"Bearer", "user:other", node.Node{InstanceInfo: object{"image_pull_secret": "user:hunter2"}}, "",
			"refuses instance_info/image_pull_secret: check user and password, and that they may read lab/os",
		},
		"wrong basic": {
			"Basic", "user:other", node.Node{InstanceInfo: object{"image_pull_secret": "user:hunter2"}}, "",
			"refuses instance_info/image_pull_secret: check user and password, and that they may read lab/os",
		},
		"none": {"Bearer", "user:hunter2", node.Node{}, "", "set instance_info/image_pull_secret to"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newContainer(t)
			c.auth, c.login = tt.auth, tt.login
			c.put(t, "1", manifest(layer("disk", stream)))
			got, err := imagesource.New(imagesource.Config{Client: c.Client()}).Locate(t.Context(), tt.node,
				info("oci://"+c.host()+"/lab/os:1"))
			if tt.header == "" {
				if err == nil || !permanently(err) || strings.Contains(err.Error(), "hunter2") ||
					strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("error %v", err)
				}
				return
			}
			header, decodeErr := base64.StdEncoding.DecodeString(got.RequestAuthorize)
			if err != nil || decodeErr != nil || string(header) != tt.header {
				t.Errorf("the agent sends %q, expected %q: %v, %v", header, tt.header, err, decodeErr)
			}
		})
	}
}

func permanently(err error) bool {
	var p interface{ Permanent() bool }
	return errors.As(err, &p) && p.Permanent()
}

func TestOCIFailures(t *testing.T) {
	c := newContainer(t)
	s := imagesource.New(imagesource.Config{Client: c.Client()})
	c.put(t, "container", manifest(layer("1", stream), layer("2", stream)))
	c.put(t, "rootfs", manifest(layer("fs", "application/vnd.docker.image.rootfs.diff.tar.gzip")))
	c.put(t, "empty", manifest())
	c.put(t, "digest", manifest(object{"mediaType": stream, "digest": "sha256:../../secret", "size": 1}))
	c.put(t, "foreign", index(c.entry(t, "raw", "s390x", manifest(layer("s", stream)))))
	c.put(t, "good", manifest(layer("disk", stream)))
	c.manifests["text"] = []byte("<html>")
	for ref, more := range map[string]int{"values": 100_000, "large": 1_000_000} {
		c.manifests[ref] = []byte(`{"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{}` +
			strings.Repeat(",{}", more) + `]}`)
	}
	c.manifests[digest([]byte("asked for"))] = []byte(`{"layers":[]}`)
	mine := node.Node{Properties: object{"cpu_arch": "x86_64"}}
	for ref, text := range map[string]string{
		"/lab/os:container":                      "2 layers",
		"/lab/os:rootfs":                         "container image",
		"/lab/os:empty":                          "0 layers",
		"/lab/os:digest":                         "digest of its layer",
		"/lab/os:foreign":                        `disk for cpu_arch "x86_64"`,
		"/lab/os:values":                         "more than 20000 values",
		"/lab/os:large":                          "exceeds MaxBytes",
		"/lab/os:none":                           "not found",
		"/lab/other:1":                           "not found",
		"/lab/os:a/b":                            "expected oci://registry/repository",
		"/lab/OS:1":                              "expected oci://registry/repository",
		"/lab/os@sha256:00":                      "expected oci://registry/repository",
		"/lab/os:text":                           "",
		"/lab/os@" + digest([]byte("asked for")): "",
	} {
		_, err := s.Locate(t.Context(), mine, info("oci://"+c.host()+ref))
		if err == nil || !strings.Contains(err.Error(), text) || text != "" && !permanently(err) {
			t.Errorf("%s: error %v, expected %q for good", ref, err, text)
		}
		_, syntax := s.Check(t.Context(), mine, "oci://"+c.host()+ref)
		if (syntax != nil) != strings.HasPrefix(text, "expected") {
			t.Errorf("%s: checked as %v", ref, syntax)
		}
	}
	other := info("oci://" + c.host() + "/lab/os:good")
	other.OSHashAlgo, other.OSHashValue = "sha256", strings.Repeat("0", 64)
	if _, err := s.Locate(t.Context(), mine, other); err == nil || !permanently(err) ||
		!strings.Contains(err.Error(), "image_os_hash_value says") {
		t.Errorf("another checksum: %v", err)
	}
	c.status = http.StatusBadGateway
	if _, err := s.Locate(t.Context(), mine, info("oci://"+c.host()+"/lab/os:good")); err == nil || permanently(err) {
		t.Errorf("a registry out of order: %v", err)
	}
}

// FuzzManifest: for any answer of a registry, an agent is only ever sent to a blob of that repository.
func FuzzManifest(f *testing.F) {
	for _, doc := range []object{manifest(layer("disk", stream)), manifest(), index(object{"digest": "sha256:00"}),
		{"layers": []object{{"digest": "sha512:/../x"}}}} {
		b, err := json.Marshal(doc)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	c := &container{}
	c.Server = httptest.NewTLSServer(c)
	f.Cleanup(c.Close)
	s := imagesource.New(imagesource.Config{Client: c.Client()})
	f.Fuzz(func(t *testing.T, b []byte) {
		c.manifests = map[string][]byte{"1": b}
		got, err := s.Locate(t.Context(), node.Node{}, info("oci://"+c.host()+"/lab/os:1"))
		if err == nil && got.URLs[0] != c.URL+"/v2/lab/os/blobs/"+got.OSHashAlgo+":"+got.OSHashValue {
			t.Errorf("the agent is sent to %s for %s", got.URLs[0], got.OSHashValue)
		}
	})
}

// TestOCIPulled: a disk of a registry is read once for all nodes with a secret that the registry accepts. A node
// without a secret does not get it, by the URL of the blob either. An expired token is asked for again.
func TestOCIPulled(t *testing.T) {
	c := newContainer(t)
	c.auth = "Bearer"
	body := strings.Repeat("disk", 64<<10)
	c.blobs = map[string][]byte{digest([]byte(body)): []byte(body)}
	c.put(t, "1", manifest(object{"mediaType": stream, "digest": digest([]byte(body)), "size": len(body)}))
	s := newImageSite(t, 1<<30)
	s.conf.Client = c.Client()
	s.restart()
	source := "oci://" + c.host() + "/lab/os:1"
	s.node.InstanceInfo = object{"image_source": source, "image_pull_secret": "user:hunter2"}
	var at string
	for range 2 {
		got, err := s.Locate(t.Context(), s.node, info(source))
		if err != nil || !strings.Contains(got.URLs[0], "/images/pulled/") || got.RequestAuthorize != "" {
			t.Fatalf("%+v, %v", got, err)
		}
		at = got.URLs[0]
		if status, text := get(t, at, ""); status != http.StatusOK || text != body {
			t.Errorf("%d, %d bytes", status, len(text))
		}
	}
	if n := c.reads.Load(); n != 1 {
		t.Errorf("the registry was read %d times", n)
	}
	without := s.node
	without.InstanceInfo = object{"image_source": source}
	if got, err := s.Locate(t.Context(), without, info(source)); err == nil {
		t.Errorf("without a secret: %+v", got)
	}
	blob := c.URL + "/v2/lab/os/blobs/" + digest([]byte(body))
	known := agentapi.ImageInfo{URLs: []string{blob}, OSHashAlgo: "sha256", OSHashValue: sha(body)}
	if got, err := s.Through(t.Context(), without, known); err != nil || got.URLs[0] != blob {
		t.Errorf("by the URL of the blob: %+v, %v", got, err)
	}
	c.renewed = "-2" // the token that is remembered runs out, and the image had to go for others
	if err := os.Remove(s.conf.Pulled.Path(path.Base(at))); err != nil {
		t.Fatal(err)
	}
	if status, text := get(t, at, ""); status != http.StatusBadGateway || !strings.Contains(text, "401") {
		t.Errorf("by a token that has run out: %d %.300s", status, text)
	}
	if status, text := get(t, at, ""); status != http.StatusOK || text != body {
		t.Errorf("an agent that asks again: %d, %d bytes", status, len(text))
	}
}
