package steps

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/sitestep"
)

// siteBench is a machine with one site step, deploy.burn_in, which is a shell script.
func siteBench(t *testing.T, script, manifest string) (b *bench, log *bytes.Buffer) {
	t.Helper()
	b, log = newBench(t), &bytes.Buffer{}
	b.SiteRoot, b.Run = t.TempDir(), (*exec.Cmd).Run
	b.Root, b.Log = os.DirFS(b.SiteRoot), slog.New(slog.NewTextHandler(log, nil))
	folder := filepath.Join(b.SiteRoot, sitestep.Folder)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if manifest == "" {
		manifest = `{"step": "burn_in", "timeout": "1m"}`
	}
	writeScript(t, filepath.Join(folder, "burn-in"), "#!/bin/sh\n"+script, 0o755)
	writeScript(t, filepath.Join(folder, "burn-in.json"), manifest, 0o644)
	old := siteGrace
	siteGrace = 300 * time.Millisecond
	t.Cleanup(func() { siteGrace = old })
	return b, log
}

func writeScript(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) burnIn(ctx context.Context, args map[string]any) error {
	_, err := Execute(ctx, b.Machine, Clean, Request{
		Step:  agentapi.Step{Interface: "deploy", Step: "burn_in", Args: args},
		Facts: map[string]any{"node": map[string]any{"uuid": "n-1"}, "ports": []any{map[string]any{"address": "m-1"}}},
	})
	return err
}

func TestSiteStepIsListed(t *testing.T) {
	b, _ := siteBench(t, "", `{"step": "burn_in", "interface": "raid", "priority": {"clean": 20, "deploy": 0},
		"arguments": {"minutes": {"description": "how long", "required": true}}, "abortable": true}`)
	for kind, want := range map[Kind][]agentapi.Step{
		Clean: {{Interface: "raid", Step: "burn_in", Priority: 20, Abortable: true,
			ArgsInfo: map[string]any{"minutes": map[string]any{"description": "how long", "required": true}}}},
		Deploy: {{Interface: "raid", Step: "burn_in", Abortable: true,
			ArgsInfo: map[string]any{"minutes": map[string]any{"description": "how long", "required": true}}}},
		Service: nil,
	} {
		list, err := b.List(t.Context(), kind, agentapi.CommandNode{})
		if err != nil {
			t.Fatal(err)
		}
		got := slices.DeleteFunc(list[Manager], func(s agentapi.Step) bool { return s.Step != "burn_in" })
		if diff := cmp.Diff(want, got,
			cmp.Transformer("len", func(s []agentapi.Step) string { return fmt.Sprint(s) })); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
	}
	// Another set of steps is another version: a plan made with this one must not go on.
	first, err := b.Versions()
	plain, plainErr := newBench(t).Versions()
	if err != nil || plainErr != nil || plain[VersionManager] != Version || first[VersionManager] == Version {
		t.Errorf("versions %v, %v; without site steps %v, %v", first, err, plain, plainErr)
	}
	writeScript(t, filepath.Join(b.SiteRoot, sitestep.Folder, "burn-in.json"), `{"step": "burn_in"}`, 0o644)
	if second, err := b.Versions(); err != nil || second[VersionManager] == first[VersionManager] {
		t.Errorf("another manifest has version %v too, %v", second, err)
	}
	if _, err := Execute(t.Context(), b.Machine, Service, Request{Step: agentapi.Step{Step: "nope"}}); err == nil {
		t.Error("a step that nobody has was done")
	}
	writeScript(t, filepath.Join(b.SiteRoot, sitestep.Folder, "burn-in.json"), `{"stp": "burn_in"}`, 0o644)
	_, listErr := b.List(t.Context(), Clean, agentapi.CommandNode{})
	_, versionErr := b.Versions()
	for _, err := range []error{listErr, versionErr, b.burnIn(t.Context(), nil)} {
		if err == nil || !strings.Contains(err.Error(), "burn-in.json") || !strings.Contains(err.Error(), "stp") {
			t.Errorf("a bad manifest: %v", err)
		}
	}
}

// TestOwnSteps: the names that site steps cannot have are the registry's.
func TestOwnSteps(t *testing.T) {
	own := map[string]bool{}
	for _, s := range Registry() {
		own[s.Interface+"."+s.Name] = true
	}
	if got := slices.Clone(sitestep.Own); len(got) != len(own) {
		t.Errorf("sitestep.Own has %v, the registry %v", got, own)
	}
	for _, name := range sitestep.Own {
		if !own[name] {
			t.Errorf("%s is no step of the registry", name)
		}
	}
}

func TestSiteStepRuns(t *testing.T) {
	b, log := siteBench(t, `cat > "$(dirname "$0")/input"
cat /proc/$$/oom_score_adj > "$(dirname "$0")/victim"
echo starting; echo "a warning" >&2
echo '{"progress": 40, "message": "half of the memory"}'
echo '{"progress": 30}'; echo '{"progress": 40}'; echo '{"progress": NaN}'; echo '{"progress": "50"}'
echo '{"progress": 1e300, "message": "\u001b[31mred"}'; echo '{"other": 1}'; printf 'no end'`,
		`{"step": "burn_in", "arguments": {"minutes": {}}}`)
	if err := b.burnIn(t.Context(), map[string]any{"minutes": 5.0}); err != nil {
		t.Fatal(err)
	}
	want := []agentapi.Progress{{Step: "burn_in", Stage: "half of the memory", Done: 40, Total: 100},
		{Step: "burn_in", Stage: "[31mred", Done: 100, Total: 100}}
	if diff := cmp.Diff(want, b.progress); diff != "" {
		t.Error(diff)
	}
	for _, line := range []string{"line=starting", `line="a warning"`, "NaN", `\"50\"`, "other", `line="no end"`} {
		if !strings.Contains(log.String(), line) {
			t.Errorf("%s is not in the log:\n%s", line, log)
		}
	}
	raw, err := os.ReadFile(filepath.Join(b.SiteRoot, sitestep.Folder, "input"))
	if err != nil {
		t.Fatal(err)
	}
	var input map[string]any
	if err := json.Unmarshal(raw, &input); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	if diff := cmp.Diff(map[string]any{"kind": "clean", "interface": "deploy", "step": "burn_in",
		"args": map[string]any{"minutes": 5.0}, "node": map[string]any{"uuid": "n-1"},
		"ports": []any{map[string]any{"address": "m-1"}}}, input); diff != "" {
		t.Error(diff)
	}
	if raw, err = os.ReadFile(filepath.Join(b.SiteRoot, sitestep.Folder, "victim")); err != nil ||
		strings.TrimSpace(string(raw)) != firstVictim {
		t.Errorf("oom_score_adj is %s, %v", raw, err)
	}
}

func TestSiteStepFails(t *testing.T) {
	for name, tc := range map[string]struct {
		script, manifest string
		args             map[string]any
		want             []string
	}{
		"status": {"echo one >&2; for i in 2 3 4 5 6; do echo line $i >&2; done; exit 3", "", nil,
			[]string{"burn-in exited with status 3", "line 2 | line 3 | line 4 | line 5 | line 6"}},
		"silent": {"exit 1", "", nil, []string{"status 1", "nothing to stderr"}},
		"signal": {"kill -9 $$", "", nil, []string{"ended by a signal", "killed"}},
		"hangs": {`trap "" TERM; echo waiting >&2; sleep 600 & echo $! > "$(dirname "$0")/child"; wait; wait`,
			`{"step": "burn_in", "timeout": "1s"}`, nil,
			[]string{"not done after 1s", "killed with its children", "waiting", `raise "timeout" in`, "burn-in.json"}},
		"argument missing": {"", `{"step": "burn_in", "arguments": {"minutes": {"required": true}}}`, nil,
			[]string{"needs the argument minutes"}},
		"argument unknown": {"", "", map[string]any{"hours": 1}, []string{"no argument hours", "burn-in.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := siteBench(t, tc.script, tc.manifest)
			err := b.burnIn(t.Context(), tc.args)
			for _, w := range tc.want {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("no %q in %v", w, err)
				}
			}
			if err != nil && strings.Contains(err.Error(), "one |") {
				t.Errorf("more than the last lines: %v", err)
			}
			wantDead(t, filepath.Join(b.SiteRoot, sitestep.Folder, "child"))
		})
	}
}

// wantDead checks that the process with the id in a file, if there is one, does not run.
func wantDead(t *testing.T, file string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("process %d runs on", pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

func TestSiteStepIsStopped(t *testing.T) {
	b, _ := siteBench(t, `trap 'echo ended; exit 1' TERM; sleep 600 & echo $! > "$(dirname "$0")/child"; wait`, "")
	ctx, stop := context.WithCancel(t.Context())
	child := filepath.Join(b.SiteRoot, sitestep.Folder, "child")
	go func() {
		for range 500 {
			if raw, err := os.ReadFile(child); err == nil && len(raw) > 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		stop()
	}()
	if err := b.burnIn(ctx, nil); err == nil || !strings.Contains(err.Error(), "was stopped") {
		t.Errorf("error %v", err)
	}
	wantDead(t, child)
}

// TestSiteStepLeavesChild: a child that holds stdout keeps no step from its end.
func TestSiteStepLeavesChild(t *testing.T) {
	b, log := siteBench(t, `sleep 600 & echo $! > "$(dirname "$0")/child"; echo done`, "")
	began := time.Now()
	if err := b.burnIn(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 20*time.Second || !strings.Contains(log.String(), "not all of its processes") {
		t.Errorf("took %v:\n%s", took, log)
	}
	wantDead(t, filepath.Join(b.SiteRoot, sitestep.Folder, "child"))
}

// TestSiteStepOutOfMemory: the kernel's count of ended processes distinguishes a kill by hand from a kill for want of
// memory.
func TestSiteStepOutOfMemory(t *testing.T) {
	for end, want := range map[string]string{
		"kill -9 $$": "burn-in was killed, out of memory",
		"exit 137":   "exited with status 137; meanwhile a program of it was killed, out of memory",
	} {
		b, _ := siteBench(t, `printf 'oom_kill 4\n' > "$(dirname "$0")/../../../proc/vmstat"; `+end, "")
		if err := os.Mkdir(filepath.Join(b.SiteRoot, "proc"), 0o755); err != nil {
			t.Fatal(err)
		}
		writeScript(t, filepath.Join(b.SiteRoot, "proc/vmstat"), "nr_free_pages 1\noom_kill 3\n", 0o644)
		if err := b.burnIn(t.Context(), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", end, err, want)
		}
	}
}

// TestSiteOutputIsBounded: a program that writes without end neither fills memory nor
// the log.
func TestSiteOutputIsBounded(t *testing.T) {
	var log bytes.Buffer
	reports := 0
	o := newSiteOutput(slog.New(slog.NewTextHandler(&log, nil)), func(int64, string) { reports++ })
	s, e := o.stream(false), o.stream(true)
	garbage := make([]byte, 1<<20)
	source := rand.NewChaCha8([32]byte{1})
	for range 8 {
		_, _ = source.Read(garbage)
		for _, w := range []*siteStream{s, e} {
			if n, err := w.Write(garbage); n != len(garbage) || err != nil {
				t.Fatal(n, err)
			}
		}
		_, _ = s.Write(bytes.Repeat([]byte("x"), 1<<20)) // no end of line
	}
	for i := range 10_000 {
		_, _ = fmt.Fprintf(s, "{\"progress\": %v}\n", i%101)
	}
	s.close()
	e.close()
	if cap(s.line) > 4*siteLine || log.Len() > 1<<20 || reports > 101 || len(o.words) > siteWords {
		t.Errorf("%d bytes of a line, %d of log, %d reports, %d last words", cap(s.line), log.Len(), reports, len(o.words))
	}
	if !strings.Contains(log.String(), "wrote too many") {
		t.Error("the log does not say that lines are missing")
	}
	if strings.ContainsFunc(o.lastWords(), func(r rune) bool { return r < ' ' }) {
		t.Errorf("control characters in %q", o.lastWords())
	}
}

func FuzzSiteOutput(f *testing.F) {
	for _, seed := range []string{`{"progress": 40, "message": "x"}`, "a line\nanother",
		`{"progress": -1e999}`, "\x1b[31m",
		strings.Repeat("x", 3*siteLine)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		last := int64(-1)
		o := newSiteOutput(slog.New(slog.DiscardHandler), func(percent int64, stage string) {
			if percent <= last || percent > 100 || len(stage) > siteMessage {
				t.Errorf("progress %d after %d, stage %q", percent, last, stage)
			}
			last = percent
		})
		s := o.stream(len(b)%2 == 1)
		_, _ = s.Write(b)
		s.close()
		if len(s.line) > 0 || len(o.lastWords()) > siteWords*(siteLine+64) {
			t.Errorf("kept %d bytes of a line, %q", len(s.line), o.lastWords())
		}
	})
}
