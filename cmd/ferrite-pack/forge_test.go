package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"
)

// steps are the commands of both forges' files for a release.
func steps(t *testing.T) map[string][]string {
	t.Helper()
	var github struct {
		Jobs map[string]struct {
			Container struct{ Image string }
			Steps     []struct{ Uses, Run string }
		}
	}
	var gitlab struct {
		Image   string
		Release struct{ Script []string }
	}
	for file, into := range map[string]any{".github/workflows/release.yml": &github, ".gitlab-ci.yml": &gitlab} {
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text, into); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	all := map[string][]string{"gitlab": gitlab.Release.Script}
	for _, s := range github.Jobs["release"].Steps {
		if s.Uses != "" && !regexp.MustCompile(`@v\d+\.\d+\.\d+$`).MatchString(s.Uses) {
			t.Errorf("%s is not pinned by a full version", s.Uses)
		}
		if s.Run != "" && !strings.HasPrefix(s.Run, "git config ") {
			all["github"] = append(all["github"], s.Run)
		}
	}
	module, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\S+)$`).FindSubmatch(module)
	if want := "golang:" + string(version[1]) + "-bookworm"; gitlab.Image != want ||
		github.Jobs["release"].Container.Image != want {
		t.Errorf("images %s and %s, expected %s by go.mod", gitlab.Image, github.Jobs["release"].Container.Image, want)
	}
	page, err := os.ReadFile("../../docs/install.md")
	link := "https://go.dev/dl/go" + string(version[1]) + ".linux-"
	if err != nil || !strings.Contains(string(page), link) {
		t.Errorf("docs/install.md has no %s, which go.mod wants: %v", link, err)
	}
	return all
}

// TestForges: both forges test, pack, sign and publish, in one line each, with targets that the Makefile has.
func TestForges(t *testing.T) {
	for forge, lines := range steps(t) {
		var called []string
		for _, line := range lines {
			if strings.Contains(line, "\n") {
				t.Errorf("%s: a step of more than one line cannot be tried without the forge: %q", forge, line)
			}
			words := strings.Fields(line)
			if words[0] != "make" {
				called = append(called, words[0])
				continue
			}
			called = append(called, words[1])
			c := exec.CommandContext(t.Context(), "make", "-C", "../..", "--dry-run", words[1], "KEY=k", "TAG=v7.7.7")
			out, err := c.CombinedOutput()
			if err != nil || strings.Contains(string(out), "v7.7.7") { // a tag may hold "$(date)"
				t.Errorf("%s: make %s: %v, or the tag became part of a command:\n%s", forge, words[1], err, out)
			}
		}
		if want := []string{"test", "release-files", "release-sign", ".ci/publish"}; !slices.Equal(called, want) {
			t.Errorf("%s calls %v, expected %v", forge, called, want)
		}
	}
}

// published is a forge that keeps the requests it gets.
type published struct {
	mu    sync.Mutex
	lines []string
	files map[string]string
}

func (p *published) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	name := filepath.Base(r.URL.Path) + r.URL.Query().Get("name")
	switch {
	case r.Header.Get("Authorization") != "Bearer t" && r.Header.Get("Job-Token") != "t":
		w.WriteHeader(http.StatusUnauthorized)
	case strings.Contains(r.URL.Path, "/generic/") || strings.Contains(r.URL.Path, "/assets"):
		p.files[strings.TrimPrefix(name, "assets")] = string(body)
	default:
		if !json.Valid(body) {
			w.WriteHeader(http.StatusBadRequest)
		}
		p.lines = append(p.lines, r.Method+" "+r.URL.Path+" "+string(body))
		_, _ = io.WriteString(w, `{"url": "https://x/releases/7", "upload_url": "http://`+r.Host+
			`/up/7/assets{?name,label}", "id": 7, "author": {"login": "a", "id": 9}}`)
	}
}

// TestPublish: the script sends every file to the forge, and shows the release at the end. Without a signature it sends
// nothing.
func TestPublish(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed: ", err)
	}
	script, err := os.ReadFile("../../.ci/publish")
	if err != nil {
		t.Fatal(err)
	}
	for forge, want := range map[string][]string{
		"GITHUB_ACTIONS": {`POST /repos/o/r/releases {"tag_name": "v1.2.3", "name": "v1.2.3", "draft": true}`,
			`PATCH /repos/o/r/releases/7 {"draft": false}`},
		"GITLAB_CI": {`POST /projects/5/releases {"tag_name": "v1.2.3", "name": "v1.2.3", "assets": {"links": [` +
			`{"name": "ferrite.deb", "url": "URL/projects/5/packages/generic/ferrite/v1.2.3/ferrite.deb"}, ` +
			`{"name": "SHA256SUMS", "url": "URL/projects/5/packages/generic/ferrite/v1.2.3/SHA256SUMS"}, ` +
			`{"name": "SHA256SUMS.sig", "url": "URL/projects/5/packages/generic/ferrite/v1.2.3/SHA256SUMS.sig"}]}}`},
	} {
		p := &published{files: map[string]string{}}
		server := httptest.NewServer(p)
		defer server.Close()
		dir := t.TempDir()
		for name, text := range map[string]string{".ci/publish": string(script), "bin/packages/ferrite.deb": "deb",
			"bin/packages/SHA256SUMS": "sums"} {
			if err := writeFile(filepath.Join(dir, name), []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		run := func() ([]byte, error) {
			c := exec.CommandContext(t.Context(), "bash", filepath.Join(dir, ".ci/publish"))
			c.Env = []string{"PATH=" + os.Getenv("PATH"), forge + "=true", "GITHUB_TOKEN=t", "CI_JOB_TOKEN=t",
				"GITHUB_API_URL=" + server.URL, "GITHUB_REPOSITORY=o/r", "GITHUB_REF_NAME=v1.2.3",
				"CI_API_V4_URL=" + server.URL, "CI_PROJECT_ID=5", "CI_COMMIT_TAG=v1.2.3"}
			return c.CombinedOutput()
		}
		if out, err := run(); err == nil || p.lines != nil || !strings.Contains(string(out), "release-sign") {
			t.Errorf("%s without a signature: %v, %s, sent %v", forge, err, out, p.lines)
		}
		if err := writeFile(filepath.Join(dir, "bin/packages/SHA256SUMS.sig"), []byte("signature")); err != nil {
			t.Fatal(err)
		}
		out, err := run()
		if err != nil || string(out) != "publish: ok 3 files\n" {
			t.Errorf("%s: %v\n%s", forge, err, out)
		}
		if got := strings.ReplaceAll(strings.Join(p.lines, "\n"), server.URL, "URL"); got != strings.Join(want, "\n") {
			t.Errorf("%s got\n%s\nwant\n%s", forge, got, strings.Join(want, "\n"))
		}
		if p.files["ferrite.deb"] != "deb" || p.files["SHA256SUMS.sig"] != "signature" || len(p.files) != 3 {
			t.Errorf("%s has the files %v", forge, p.files)
		}
	}
}
