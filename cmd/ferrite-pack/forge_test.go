package main

import (
	"encoding/json"
	"fmt"
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

// rules are when GitLab runs a job.
type rules []struct{ If string }

// steps are the commands of both forges' files, by forge and job.
func steps(t *testing.T) map[string][]string {
	t.Helper()
	type workflow struct {
		On struct {
			Push struct{ Branches, Tags []string }
		} `json:"true"` // as YAML 1.1 reads on
		Jobs map[string]struct {
			Container struct{ Image string }
			Steps     []struct{ Uses, Run string }
		}
	}
	var check, release workflow
	var gitlab struct {
		Image          string
		Workflow       struct{ Rules rules }
		Check, Release struct {
			Rules  rules
			Script []string
		}
	}
	for file, into := range map[string]any{".github/workflows/check.yml": &check,
		".github/workflows/release.yml": &release, ".gitlab-ci.yml": &gitlab} {
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text, into); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	push, tag := rules{{"$CI_COMMIT_BRANCH"}}, rules{{"$CI_COMMIT_TAG =~ /^v/"}}
	if !slices.Equal(gitlab.Check.Rules, push) || !slices.Equal(gitlab.Release.Rules, tag) ||
		!slices.Equal(gitlab.Workflow.Rules, slices.Concat(push, tag)) {
		t.Errorf("gitlab checks by %v, releases by %v, begins by %v; expected every push, tags, and both",
			gitlab.Check.Rules, gitlab.Release.Rules, gitlab.Workflow.Rules)
	}
	if on := []any{check.On.Push.Branches, release.On.Push.Tags}; fmt.Sprint(on) != "[[**] [v*]]" ||
		check.On.Push.Tags != nil || release.On.Push.Branches != nil {
		t.Errorf("github checks and releases by %v, expected every push, and tags", on)
	}
	all := map[string][]string{"gitlab check": gitlab.Check.Script, "gitlab release": gitlab.Release.Script}
	images := []string{gitlab.Image}
	for name, w := range map[string]workflow{"check": check, "release": release} {
		images = append(images, w.Jobs[name].Container.Image)
		for _, s := range w.Jobs[name].Steps {
			if s.Uses != "" && !regexp.MustCompile(`@v\d+\.\d+\.\d+$`).MatchString(s.Uses) {
				t.Errorf("%s is not pinned by a full version", s.Uses)
			}
			if s.Run != "" && !strings.HasPrefix(s.Run, "git config ") {
				all["github "+name] = append(all["github "+name], s.Run)
			}
		}
	}
	module, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\S+)$`).FindSubmatch(module)
	want := "golang:" + string(version[1]) + "-bookworm"
	if slices.ContainsFunc(images, func(image string) bool { return image != want }) {
		t.Errorf("images %v, expected %s by go.mod", images, want)
	}
	page, err := os.ReadFile("../../docs/install.md")
	link := "https://go.dev/dl/go" + string(version[1]) + ".linux-"
	if err != nil || !strings.Contains(string(page), link) {
		t.Errorf("docs/install.md has no %s, which go.mod wants: %v", link, err)
	}
	return all
}

// TestForges: both forges check every push, and test, pack, sign and publish a tag, in one line each, with targets that
// the Makefile has.
func TestForges(t *testing.T) {
	wants := map[string][]string{"check": {"check"}, "release": {"test", "release-files", "release-sign", ".ci/publish"}}
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
		if want := wants[strings.Fields(forge)[1]]; !slices.Equal(called, want) {
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
