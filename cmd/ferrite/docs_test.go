package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// asFerrite makes the test binary the program itself, for the shells that run the pages.
const asFerrite = "FERRITE_DOCS_TEST_RUN"

func TestMain(m *testing.M) {
	if os.Getenv(asFerrite) != "" {
		main()
	}
	os.Exit(m.Run())
}

// pages are the documents by their path below the module's folder.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	read := func(path string) {
		b, err := os.ReadFile(filepath.Join("../..", path))
		if err != nil {
			t.Fatal(err)
		}
		out[path] = string(b)
	}
	top, err := filepath.Glob("../../*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range top {
		read(filepath.Base(p))
	}
	err = fs.WalkDir(os.DirFS("../.."), "docs", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.HasSuffix(path, ".md") {
			read(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// block is a fenced part of a page, or a comment that begins with "run".
type block struct {
	line   int
	info   string // sh, sh run
	script string
}

func (b block) run() bool { return b.info == "sh run" }

// blocks are those of one page, in order. A comment <!-- run ... --> holds commands that readers need not see.
func blocks(page string) []block {
	var out []block
	var cur *block
	end := ""
	for i, line := range strings.Split(page, "\n") {
		switch {
		case cur != nil && strings.TrimSpace(line) == end:
			out = append(out, *cur)
			cur = nil
		case cur != nil:
			cur.script += line + "\n"
		case strings.HasPrefix(line, "```"):
			cur, end = &block{line: i + 2, info: strings.TrimPrefix(line, "```")}, "```"
		case line == "<!-- run":
			cur, end = &block{line: i + 2, info: "sh run"}, "-->"
		}
	}
	return out
}

// TestDocsParse: each ferrite command on a page has a name, flags and arguments that the program knows.
func TestDocsParse(t *testing.T) {
	seen := 0
	for path, page := range pages(t) {
		for _, b := range blocks(page) {
			if b.info != "" && !strings.HasPrefix(b.info, "sh") {
				continue
			}
			found, err := commands(b.script)
			if err != nil && b.info != "" {
				t.Errorf("%s:%d: no shell script: %v", path, b.line, err)
			}
			for _, words := range found {
				seen++
				if err := parses(words); err != nil {
					t.Errorf("%s:%d: %s: %v", path, b.line, strings.Join(words, " "), err)
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("the pages have %d ferrite commands; expected more than a hundred", seen)
	}
}

// commands are the calls of ferrite in a script.
func commands(script string) ([][]string, error) {
	f, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, err
	}
	var out [][]string
	syntax.Walk(f, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			words := make([]string, len(call.Args))
			for i, w := range call.Args {
				words[i] = text(w)
			}
			if name := words[0]; name == "ferrite" || name == "bin/ferrite" {
				out = append(out, words[1:])
			}
		}
		return true
	})
	return out, nil
}

// text is a word without its quotes. An expansion stands for any value.
func text(w *syntax.Word) string {
	var s strings.Builder
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			s.WriteString(n.Value)
		case *syntax.SglQuoted:
			s.WriteString(n.Value)
		case *syntax.ParamExp, *syntax.CmdSubst:
			s.WriteString("value")
			return false
		}
		return true
	})
	return s.String()
}

func parses(words []string) error {
	root := program()
	c, rest, err := root.Find(words)
	switch {
	case err != nil:
		return err
	case len(words) > 0 && c == root && words[0] != "help" && !strings.HasPrefix(words[0], "-"):
		return fmt.Errorf("unknown command %q", words[0])
	case c.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-"):
		return fmt.Errorf("%s has no command %q", c.CommandPath(), rest[0])
	}
	c.InitDefaultHelpFlag()
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	if help, err := c.Flags().GetBool("help"); err == nil && help || !c.Runnable() {
		return nil
	}
	if err := c.ValidateRequiredFlags(); err != nil {
		return err
	}
	return c.ValidateArgs(c.Flags().Args())
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestDocsLinks: each relative link of a page leads to a file, and to a heading where it names one.
func TestDocsLinks(t *testing.T) {
	all := pages(t)
	for path, page := range all {
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			file, heading, _ := strings.Cut(m[1], "#")
			to := path
			if file != "" {
				to = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(filepath.Join("../..", to)); err != nil {
				t.Errorf("%s: link to %s: %v", path, m[1], err)
				continue
			}
			if heading != "" && !headings(all[to])[heading] {
				t.Errorf("%s: link to %s: %s has no such heading", path, m[1], to)
			}
		}
	}
}

var notAnchor = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)

// headings are the anchors that GitHub gives the headings of a page.
func headings(page string) map[string]bool {
	out := map[string]bool{}
	for line := range strings.SplitSeq(page, "\n") {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			out[strings.ReplaceAll(notAnchor.ReplaceAllString(strings.ToLower(title), ""), " ", "-")] = true
		}
	}
	return out
}

var source = regexp.MustCompile("`((?:proto|conductor|pxe|agent|images|lab|cmd)/[A-Za-z0-9_./-]+)`")

// TestDocsPaths: each file or folder of the sources that a page names is there. Decisions stay as they were written.
func TestDocsPaths(t *testing.T) {
	for path, page := range pages(t) {
		if strings.HasPrefix(path, "docs/decisions/") || path == "CHANGELOG.md" {
			continue
		}
		for _, m := range source.FindAllStringSubmatch(page, -1) {
			name, _, _ := strings.Cut(m[1], ".Write") // a function of a package
			if _, err := os.Stat(filepath.Join("../..", name)); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

// TestDocsRun: the commands of each page that are marked to be run succeed, one after the other, against a conductor
// with fake hardware.
func TestDocsRun(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a conductor for each page")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash: ", err)
	}
	ran := 0
	for path, page := range pages(t) {
		var script strings.Builder
		for _, b := range blocks(page) {
			if b.run() {
				fmt.Fprintf(&script, "# %s:%d\n%s\n", path, b.line, b.script)
			}
		}
		if script.Len() == 0 {
			continue
		}
		ran++
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			runPage(t, bash, script.String())
		})
	}
	if ran < 10 {
		t.Errorf("%d pages have commands to run; expected ten or more", ran)
	}
}

// runPage runs a page's commands with the folders, the address and the port of a real server replaced by the test's own.
func runPage(t *testing.T, bash, script string) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bin", "work"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(self, filepath.Join(dir, "bin/ferrite")); err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	script = strings.NewReplacer(
		"/etc/ferrite", filepath.Join(dir, "etc"),
		"/var/lib/ferrite", filepath.Join(dir, "data"),
		"10.0.0.1:6385", "127.0.0.1:"+port,
		"127.0.0.1:6385", "127.0.0.1:"+port,
		"CN=10.0.0.1", "CN=127.0.0.1",
		"IP:10.0.0.1", "IP:127.0.0.1",
	).Replace(script)

	env := append(os.Environ(), asFerrite+"=1", "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "HOME="+dir,
		"FERRITE_URL=http://127.0.0.1:"+port)
	if !strings.Contains(script, "ferrite serve") {
		serveFake(t, self, dir, port, env)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, bash, "-c", "set -euo pipefail; trap 'kill $(jobs -p) 2>/dev/null || true; wait || true' EXIT\n"+script)
	shell.Dir, shell.Env = filepath.Join(dir, "work"), env
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.Cancel = func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }
	shell.WaitDelay = 10 * time.Second
	if out, err := shell.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\nof these commands:\n%s", err, out, script)
	}
}

// serveFake runs a conductor with fake hardware until the test ends.
func serveFake(t *testing.T, self, dir, port string, env []string) {
	t.Helper()
	var log bytes.Buffer
	c := exec.CommandContext(t.Context(), self, "serve", "--data-dir", filepath.Join(dir, "data"), //nolint:gosec // the test binary itself
		"--api-address", "127.0.0.1:"+port, "--hardware-types", "fake-hardware,redfish", "--log-level", "error")
	c.Env, c.Stderr = env, &log
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 10 * time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Wait() })
	for range 300 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+"/v1", nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("the conductor does not answer: %s", log.String())
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // bound at once
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
