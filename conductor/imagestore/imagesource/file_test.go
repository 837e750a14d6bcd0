package imagesource_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagesource"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/localfile"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

const uuid = "11111111-2222-4333-8444-555555555555"

// fileSite is a folder that is open to nodes, served to their agents.
type fileSite struct {
	*imagesource.Sources
	dir  string
	node node.Node
	log  *bytes.Buffer
}

func newFileSite(t *testing.T) *fileSite {
	t.Helper()
	s := &fileSite{
		dir: t.TempDir(), log: &bytes.Buffer{}, node: node.Node{UUID: uuid, Agent: node.Agent{Token: "secret-of-this-boot"}},
	}
	var handler http.Handler
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(srv.Close)
	s.Sources = imagesource.New(imagesource.Config{Files: localfile.Folders{s.dir}, Served: srv.URL})
	handler = s.Handler(func(_ context.Context, ref string) (node.Node, error) {
		if ref != s.node.UUID {
			return node.Node{}, errors.New("no such node")
		}
		return s.node, nil
	}, slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	return s
}

func (s *fileSite) write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func info(source string) agentapi.ImageInfo {
	return agentapi.ImageInfo{ID: source, URLs: []string{source}, DiskFormat: "raw"}
}

func sha(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// get asks for a URL with the credentials in it, or others.
func get(t *testing.T, rawURL, span string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, rawURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if span != "" {
		req.Header.Set("Range", span)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func TestFile(t *testing.T) {
	s := newFileSite(t)
	path := s.write(t, "my image.raw", "\x00123456789")
	if err := os.Symlink(path, filepath.Join(s.dir, "latest")); err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{"file://" + s.dir + "/my%20image.raw", "file://" + s.dir + "/latest"} {
		if _, err := s.Check(t.Context(), node.Node{}, source); err != nil {
			t.Fatal(err)
		}
		got, err := s.Locate(t.Context(), s.node, info(source))
		if err != nil {
			t.Fatal(err)
		}
		want := agentapi.ImageInfo{ID: source, URLs: got.URLs, DiskFormat: "raw", OSHashAlgo: "sha256",
			OSHashValue: sha("\x00123456789")}
		if diff := cmp.Diff(want, got); diff != "" || got.Validate() != nil {
			t.Errorf("%s: %v\n%s", source, got.Validate(), diff)
		}
		if status, body := get(t, got.URLs[0], ""); status != 200 || body != "\x00123456789" {
			t.Errorf("%s: %d %q", source, status, body)
		}
		if status, body := get(t, got.URLs[0], "bytes=4-"); status != 206 || body != "456789" {
			t.Errorf("%s by range: %d %q", source, status, body)
		}
	}
}

// TestFileIsForOneMachine: a file is served only to its node's agent, and that gets no other file.
func TestFileIsForOneMachine(t *testing.T) {
	s := newFileSite(t)
	source := "file://" + s.write(t, "os.raw", "\x00mine")
	s.write(t, "other.raw", "another's")
	got, err := s.Locate(t.Context(), s.node, info(source))
	if err != nil {
		t.Fatal(err)
	}
	good, err := url.Parse(got.URLs[0])
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(*url.URL)) string { u := *good; change(&u); return u.String() }
	for name, at := range map[string]string{
		"no ticket":    with(func(u *url.URL) { u.User = nil }),
		"wrong ticket": with(func(u *url.URL) { u.User = url.UserPassword("agent", strings.Repeat("0", 64)) }),
		"other file":   with(func(u *url.URL) { u.Path = strings.Replace(u.Path, "os.raw", "other.raw", 1) }),
		"no such file": with(func(u *url.URL) { u.Path += "x" }),
		"other node":   with(func(u *url.URL) { u.Path = strings.Replace(u.Path, "1111", "2222", 1) }),
		"no file":      with(func(u *url.URL) { u.Path = "/images/" + uuid + "/" }),
	} {
		if status, body := get(t, at, ""); status != 401 || strings.Contains(body, "another") {
			t.Errorf("%s: %d %q", name, status, body)
		}
	}
	s.node.Agent.Token = "of the next boot"
	if status, _ := get(t, good.String(), ""); status != 401 {
		t.Errorf("a ticket of an earlier boot: %d", status)
	}
	s.node.Agent.Token = ""
	if status, _ := get(t, good.String(), ""); status != 401 {
		t.Errorf("with no agent: %d", status)
	}
	if password, _ := good.User.Password(); strings.Contains(s.log.String(), password) {
		t.Error("a ticket is in the log")
	}
}

func TestFileFailures(t *testing.T) {
	s := newFileSite(t)
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(s.dir, "link")); err != nil {
		t.Fatal(err)
	}
	s.write(t, "empty", "")
	for source, text := range map[string]string{
		"file://" + outside:          "no folder that is open to nodes",
		"file://" + s.dir + "/..":    "no folder that is open to nodes",
		"file://" + s.dir + "/link":  "no folder that is open to nodes",
		"file:///dev/zero":           "no folder that is open to nodes",
		"file://" + s.dir + "/none":  "no such file",
		"file://" + s.dir + "/empty": "it is an empty file",
		"gopher://h/x":               "nothing this conductor finds images by",
		"file://h\x7f/":              "is no URL",
	} {
		_, err := s.Locate(t.Context(), s.node, info(source))
		_, checked := s.Check(t.Context(), node.Node{}, source)
		for _, err := range []error{err, checked} {
			if err == nil || !strings.Contains(err.Error(), text) || !permanently(err) {
				t.Errorf("%s: error %v, expected %q for good", source, err, text)
			}
		}
	}
	good := "file://" + s.write(t, "os.raw", "\x00")
	unserved := imagesource.New(imagesource.Config{Files: localfile.Folders{s.dir}})
	if _, err := unserved.Check(t.Context(), node.Node{}, good); err == nil || !strings.Contains(err.Error(), "--boot") {
		t.Errorf("without boot service: %v", err)
	}
	if _, err := s.Locate(t.Context(), node.Node{UUID: uuid}, info(good)); err == nil ||
		!strings.Contains(err.Error(), "token") {
		t.Errorf("an agent without token: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Locate(ctx, s.node, info(good)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// A file that goes away after its URL was given is missed, and the log says which.
	got, err := s.Locate(t.Context(), s.node, info(good))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.dir, "os.raw")); err != nil {
		t.Fatal(err)
	}
	if status, _ := get(t, got.URLs[0], ""); status != 404 || !strings.Contains(s.log.String(), "os.raw") {
		t.Errorf("a file that is gone: %d, log %s", status, s.log)
	}
}

// TestSumIsRemembered: a file is read again when size or time have changed, and
// not before.
func TestSumIsRemembered(t *testing.T) {
	s := newFileSite(t)
	path := s.write(t, "os.raw", "\x00first")
	at := time.Unix(1_000_000, 0)
	for i, step := range []struct {
		content string
		at      time.Time
		want    string
	}{
		{"\x00first", at, "\x00first"},
		{"\x00other", at, "\x00first"}, // same size, same time: taken for the same
		{"\x00other", at.Add(time.Nanosecond), "\x00other"},
		{"\x00longer than that", at, "\x00longer than that"},
	} {
		s.write(t, "os.raw", step.content)
		if err := os.Chtimes(path, step.at, step.at); err != nil {
			t.Fatal(err)
		}
		got, err := s.Locate(t.Context(), s.node, info("file://"+path))
		if err != nil || got.OSHashValue != sha(step.want) {
			t.Errorf("%d: sum of %q is %s, expected that of %q: %v", i, step.content, got.OSHashValue, step.want, err)
		}
	}
	given := info("file://" + path)
	given.Checksum = fmt.Sprint("sha256:", sha("given"))
	if got, err := s.Locate(t.Context(), s.node, given); err != nil || got.OSHashValue != "" ||
		got.Checksum != given.Checksum {
		t.Errorf("a checksum that was given is not kept: %+v, %v", got, err)
	}
}
