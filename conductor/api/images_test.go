package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const imagesPath = nodeapi.ImagesPath

// diskImage is bytes that could be a disk, and their digest.
func diskImage(size int) (b []byte, digest string) {
	b = bytes.Repeat([]byte{0, 1, 2, 3}, size/4)
	sum := sha256.Sum256(b)
	return b, "sha256:" + hex.EncodeToString(sum[:])
}

func (c *conductor) images() (all []nodeapi.Image) {
	c.t.Helper()
	var got nodeapi.Images
	if err := json.Unmarshal([]byte(c.must(http.StatusOK, 0, "GET", imagesPath, "").body), &got); err != nil {
		c.t.Fatal(err)
	}
	return got.Images
}

// TestImageUpload: an image is uploaded, shown, listed, read and deleted. A body that is no image, or not the announced
// one, leaves nothing.
func TestImageUpload(t *testing.T) {
	c := newConductor(t)
	body, digest := diskImage(1 << 20)
	for name, tc := range map[string]struct {
		path, body string
		status     int
		text       string
	}{
		"a web page":      {"/os/file", "<html><body>404", 400, "HTML page"},
		"nothing":         {"/os/file", "", 400, "empty"},
		"other bytes":     {"/os/file?checksum=sha256:" + strings.Repeat("0", 64), string(body), 400, "checksum is wrong"},
		"MD5":             {"/os/file?checksum=" + strings.Repeat("0", 32), string(body), 400, "MD5 can be forged"},
		"a bad name":      {"/-os/file", string(body), 400, "cannot be the name"},
		"a path":          {"/..%2fos/file", string(body), 404, ""},
		"an argument":     {"/os/file?x=1", string(body), 400, "x"},
		"more than it is": {"/os/file", strings.Repeat("\x00", 65<<20), 413, "--image-max-size"},
	} {
		if r := c.do(0, "PUT", imagesPath+tc.path, tc.body); r.status != tc.status || !strings.Contains(r.text(), tc.text) {
			t.Errorf("%s: %d %s, want %d %q", name, r.status, r.body, tc.status, tc.text)
		}
	}
	if all := c.images(); len(all) != 0 {
		t.Fatalf("refused images stay: %v", all)
	}
	made := c.must(http.StatusCreated, 0, "PUT", imagesPath+"/os/file?checksum="+digest, string(body)).doc(t)
	if made["digest"] != digest || made["format"] != "raw" || made["state"] != "ready" ||
		made["size"] != float64(len(body)) {
		t.Errorf("made %v", made)
	}
	for _, ref := range []string{"os", made["uuid"].(string)} {
		if got := c.must(http.StatusOK, 0, "GET", imagesPath+"/"+ref, "").doc(t); got["name"] != "os" {
			t.Errorf("%s is %v", ref, got)
		}
	}
	got := c.must(http.StatusOK, 0, "GET", imagesPath+"/os/file", "")
	if got.body != string(body) || got.header.Get("ETag") == "" || got.header.Get("Accept-Ranges") != "bytes" {
		t.Errorf("%d bytes, %v", len(got.body), got.header)
	}
	if r := c.do(0, "PUT", imagesPath+"/os/file", string(body)); r.status != http.StatusConflict {
		t.Errorf("the same name again: %d %s", r.status, r.body)
	}
	other, otherDigest := diskImage(1 << 19)
	if r := c.do(0, "PUT", imagesPath+"/os/file?checksum="+otherDigest, string(other)); r.status != http.StatusConflict ||
		!strings.Contains(r.text(), "does not change under its name") {
		t.Errorf("other bytes under the name: %d %s", r.status, r.body)
	}
	c.must(http.StatusCreated, 0, "PUT", imagesPath+"/twin/file", string(body))
	c.must(http.StatusNoContent, 0, "DELETE", imagesPath+"/os", "")
	c.must(http.StatusNotFound, 0, "GET", imagesPath+"/os", "")
	if got := c.must(http.StatusOK, 0, "GET", imagesPath+"/twin/file", ""); got.body != string(body) {
		t.Error("the bytes of another name went with the image")
	}
}

// arrives waits until an image is on its way no more.
func (c *conductor) arrives(ref string) (i nodeapi.Image) {
	c.t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		i = nodeapi.Image{}
		if err := json.Unmarshal([]byte(c.must(http.StatusOK, 0, "GET", imagesPath+"/"+ref, "").body), &i); err != nil {
			c.t.Fatal(err)
		}
		if i.State != nodeapi.ImageAdding {
			return i
		}
	}
	c.t.Fatalf("image %s is still on its way: %+v", ref, i)
	return i
}

// TestImageFetch: an image is fetched from a URL. If it changes at its URL, or is cut off, it is reported and not kept.
func TestImageFetch(t *testing.T) {
	c := newConductor(t)
	body, digest := diskImage(1 << 20)
	going := make(chan struct{})
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/os.raw":
			_, _ = w.Write(body)
		case "/slow":
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			_, _ = w.Write(body[:1000])
			_ = http.NewResponseController(w).Flush()
			select {
			case <-going:
			case <-r.Context().Done():
			}
		case "/large":
			w.Header().Set("Content-Length", fmt.Sprint(65<<20))
			_, _ = io.CopyN(w, strings.NewReader(strings.Repeat("\x00", 1<<20)), 1<<20)
		default:
			http.Error(w, "there is\nnone", http.StatusNotFound)
		}
	}))
	defer origin.Close()
	defer close(going)
	post := func(name, at, checksum string) reply {
		return c.do(0, "POST", imagesPath, fmt.Sprintf(`{"name":%q,"url":%q,"checksum":%q}`, name, at, checksum))
	}
	for name, tc := range map[string]struct {
		path, checksum, text string
	}{
		"good":    {"/os.raw", "", ""},
		"checked": {"/os.raw", digest, ""},
		"changed": {"/os.raw", "sha256:" + strings.Repeat("0", 64), "checksum is wrong"},
		"gone":    {"/none", "", "404 Not Found: there is none"},
		"large":   {"/large", "", "--image-max-size"},
	} {
		at := strings.Replace(origin.URL, "http://", "http://user:hunter2@", 1) + tc.path + "?sig=hunter3"
		if r := post(name, at, tc.checksum); r.status != http.StatusAccepted {
			t.Fatalf("%s: %d %s", name, r.status, r.body)
		}
		i := c.arrives(name)
		if strings.Contains(fmt.Sprint(i), "hunter") {
			t.Errorf("%s shows its credentials: %+v", name, i)
		}
		if tc.text == "" && (i.State != nodeapi.ImageReady || i.Digest != digest) ||
			tc.text != "" && (i.State != nodeapi.ImageFailed || !strings.Contains(i.Error, tc.text)) {
			t.Errorf("%s is %+v, want %q", name, i, tc.text)
		}
	}
	if r := post("changed", origin.URL+"/os.raw", digest); r.status != http.StatusAccepted {
		t.Errorf("once more after a failure: %d %s", r.status, r.body)
	}
	c.arrives("changed")
	if r := post("slow", origin.URL+"/slow", ""); r.status != http.StatusAccepted {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if r := post("slow", origin.URL+"/slow", ""); r.status != http.StatusConflict {
		t.Errorf("twice at a time: %d %s", r.status, r.body)
	}
	c.must(http.StatusNoContent, 0, "DELETE", imagesPath+"/slow", "")
	c.must(http.StatusNotFound, 0, "GET", imagesPath+"/slow", "")
	if r := post("ftp", "ftp://h/x", ""); r.status != http.StatusBadRequest {
		t.Errorf("no http: %d %s", r.status, r.body)
	}
}

// TestImagesOfProjects: a project sees its own images and images without an owner, and adds only its own.
func TestImagesOfProjects(t *testing.T) {
	g := newGuardedConductor(t)
	body, _ := diskImage(1 << 12)
	for who, name := range map[string]string{"admin ": "common", "admin " + owner: "own", "admin " + other: "others"} {
		if r := g.as(who, "PUT", imagesPath+"/"+name+"/file", string(body)); r.status != http.StatusCreated {
			t.Fatalf("%s: %d %s", name, r.status, r.body)
		}
	}
	r := g.as("admin "+owner, "PUT", imagesPath+"/x/file?owner="+other, string(body))
	if r.status != http.StatusBadRequest {
		t.Errorf("an image of another project: %d %s", r.status, r.body)
	}
	seen := func(who string) string {
		var all nodeapi.Images
		if err := json.Unmarshal([]byte(g.as(who, "GET", imagesPath, "").body), &all); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, i := range all.Images {
			names = append(names, i.Name)
		}
		return strings.Join(names, " ")
	}
	for who, want := range map[string]int{"reader ": 3, "reader " + owner: 2, "reader " + other: 2,
		"reader " + lessee: 1} {
		if got := seen(who); len(strings.Fields(got)) != want {
			t.Errorf("%s sees %s", who, got)
		}
	}
	for path, want := range map[string]int{"/own/file": 404, "/own": 404, "/common/file": 200, "/others/file": 200} {
		if r := g.as("reader "+other, "GET", imagesPath+path, ""); r.status != want {
			t.Errorf("%s: %d, want %d", path, r.status, want)
		}
	}
	for name, want := range map[string]int{"common": 403, "own": 404, "others": 204} {
		if r := g.as("admin "+other, "DELETE", imagesPath+"/"+name, ""); r.status != want {
			t.Errorf("delete %s: %d %s, want %d", name, r.status, r.body, want)
		}
	}
	if events, err := g.Engine.Catalogs().Images.List(t.Context(), ""); err != nil || len(events) != 2 {
		t.Errorf("%d images are left, %v", len(events), err)
	}
}

// TestImageNamesOfProjects: a name is a project's own. No refusal reveals that another project has it, and no project
// can block it for another. A name means the caller's own image, then an image without an owner. It is refused where it
// may mean several.
func TestImageNamesOfProjects(t *testing.T) {
	g := newGuardedConductor(t)
	body, digest := diskImage(1 << 12)
	theirs, theirDigest := diskImage(1 << 11)
	put := func(who, name string, bytes []byte, want int) reply {
		t.Helper()
		r := g.as(who, "PUT", imagesPath+"/"+name, string(bytes))
		if r.status != want {
			t.Fatalf("%s adds %s: %d %s, want %d", who, name, r.status, r.body, want)
		}
		return r
	}
	put("admin "+owner, "os/file", body, 201)
	own := put("admin "+other, "os/file", theirs, 201).doc(t)["uuid"].(string)
	if r := put("admin "+owner, "os/file", theirs, 409); !strings.Contains(r.text(), digest) {
		t.Errorf("the own image is not told of: %s", r.body)
	}
	digestOf := func(who, ref string) string {
		t.Helper()
		r := g.as(who, "GET", imagesPath+"/"+ref, "")
		if r.status != 200 {
			return fmt.Sprint(r.status, " ", r.text())
		}
		return r.doc(t)["digest"].(string)
	}
	expect := func(who, ref, want string) {
		t.Helper()
		if got := digestOf(who, ref); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q is %s, want %s", who, ref, got, want)
		}
	}
	expect("reader "+owner, "os", digest)
	expect("reader "+other, "os", theirDigest)
	expect("reader "+owner, own, "404")
	expect("reader "+lessee, "os", "404")
	expect("reader ", "os", "409 2 images have the name os: say which one is meant by its UUID, ")
	expect("reader ", own, theirDigest)
	if r := g.as("admin ", "DELETE", imagesPath+"/os", ""); r.status != 409 || !strings.Contains(r.text(), own) {
		t.Errorf("one of two is deleted: %d %s", r.status, r.body)
	}
	common := put("admin ", "os/file", append(body, theirs...), 201).doc(t)["digest"].(string)
	expect("reader ", "os", common)
	expect("reader "+owner, "os", digest)
	expect("reader "+lessee, "os", common)
	if r := put("admin "+lessee, "os/file", body, 409); !strings.Contains(r.text(), "for all projects") {
		t.Errorf("an image in the place of one of all: %s", r.body)
	}
	put("admin ", "os/file?owner="+lessee, body, 409)
	if r := g.as("admin "+other, "DELETE", imagesPath+"/os", ""); r.status != 204 {
		t.Errorf("the own image stays: %d %s", r.status, r.body)
	}
	expect("reader "+other, "os", common)
	expect("reader "+owner, "os", digest)
}
