package bootlog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const aNode = "11111111-2222-4333-8444-555555555555"

// key is the name of the nth boot.
func key(n int) string { return fmt.Sprintf("%016x", n) }

func open(t *testing.T, dir string, l Limits) *Keeper {
	t.Helper()
	k, err := Open(dir, l)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func add(t *testing.T, k *Keeper, boot, first int, lines ...string) {
	t.Helper()
	if err := k.Append(aNode, key(boot), int64(first), lines); err != nil {
		t.Fatal(err)
	}
}

// text is the result of a query.
func text(t *testing.T, k *Keeper, q nodeapi.LogQuery) string {
	t.Helper()
	var out strings.Builder
	if err := k.Stream(t.Context(), aNode, q, func(b []byte) error { out.Write(b); return nil }); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestBootsSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	k := open(t, dir, Limits{})
	if err := k.Stream(t.Context(), aNode, nodeapi.LogQuery{}, nil); err == nil ||
		!strings.Contains(err.Error(), "no ramdisk of this node has logged") {
		t.Errorf("no boot at all: %v", err)
	}
	add(t, k, 7, 0, "a", "b")
	add(t, k, 7, 2, "c")
	add(t, k, 3, 0, "second boot") // names say nothing about order
	for range 2 {
		if got := text(t, k, nodeapi.LogQuery{}); got != "second boot\n" {
			t.Errorf("latest boot %q", got)
		}
		if got := text(t, k, nodeapi.LogQuery{Boot: 1}); got != "a\nb\nc\n" {
			t.Errorf("the boot before %q", got)
		}
		if got := text(t, k, nodeapi.LogQuery{Boot: 1, Tail: 2}); got != "b\nc\n" {
			t.Errorf("its last two lines %q", got)
		}
		if got := text(t, k, nodeapi.LogQuery{Boot: 1, Tail: 99}); got != "a\nb\nc\n" {
			t.Errorf("more lines than there are %q", got)
		}
		if err := k.Stream(t.Context(), aNode, nodeapi.LogQuery{Boot: 2}, nil); err == nil ||
			!strings.Contains(err.Error(), "logs of 2 boots are kept") {
			t.Errorf("a boot that is not there: %v", err)
		}
		k = open(t, dir, Limits{}) // again, after a restart
	}
	add(t, k, 3, 1, "goes on")
	if diff := cmp.Diff([]string{"second boot", "goes on"}, k.Tail(aNode, 10)); diff != "" {
		t.Error(diff)
	}
	if got := k.Tail(aNode, 0); got != nil {
		t.Errorf("no lines: %q", got)
	}
}

func TestLinesAreTakenOnce(t *testing.T) {
	k := open(t, t.TempDir(), Limits{})
	add(t, k, 1, 0, "0", "1")
	add(t, k, 1, 2, "2", "3")
	add(t, k, 1, 2, "2", "3", "4") // the answer was lost, and a line has come since
	add(t, k, 1, 3, "3", "4")      // sent again after some were dropped
	add(t, k, 1, 9, "9")           // dropped lines are noted in a line
	add(t, k, 1, 0, "0 again")     // an agent that was started anew
	if got, want := text(t, k, nodeapi.LogQuery{}), "0\n1\n2\n3\n4\n9\n0 again\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestBounds(t *testing.T) {
	dir := t.TempDir()
	k := open(t, dir, Limits{Boots: 3, Bytes: 10_000})
	for boot := range 10 {
		for i := range 300 {
			add(t, k, boot, i, fmt.Sprintf("%04d %s", i, strings.Repeat("x", 94)))
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, aNode, "*"))
	if err != nil || len(files) != 3 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Size() > 10_100 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", f, info, err)
		}
	}
	got := text(t, k, nodeapi.LogQuery{})
	if !strings.HasPrefix(got, "(older lines are dropped)\n0") || !strings.Contains(got, "\n0299 ") {
		t.Errorf("the log begins with %.60q and is %d bytes", got, len(got))
	}
	if k = open(t, dir, Limits{Boots: 3, Bytes: 10_000}); text(t, k, nodeapi.LogQuery{}) != got {
		t.Error("after a restart the log is another one")
	}
}

// TestNamesCannotEscape: a name that is no UUID or no boot never becomes a path.
func TestNamesCannotEscape(t *testing.T) {
	dir := t.TempDir()
	k := open(t, filepath.Join(dir, "logs"), Limits{})
	for _, node := range []string{"", "..", "../x", "n1", strings.ToUpper("aaaaaaaa-2222-4333-8444-555555555555"),
		aNode + "/..", aNode + "\n"} {
		if err := k.Append(node, key(1), 0, []string{"x"}); err == nil {
			t.Errorf("node %q was taken", node)
		}
		if err := k.Forget(node); err == nil {
			t.Errorf("node %q was removed", node)
		}
		if err := k.Stream(t.Context(), node, nodeapi.LogQuery{}, nil); err == nil {
			t.Errorf("node %q was read", node)
		}
	}
	for _, boot := range []string{"", "../../../../x", "000000000000000g", key(1) + "0"} {
		if err := k.Append(aNode, boot, 0, []string{"x"}); err == nil {
			t.Errorf("boot %q was taken", boot)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "logs")); err != nil || len(entries) != 0 {
		t.Errorf("in the folder: %v %v", entries, err)
	}
}

// TestLinesAreHarmless: nothing a terminal would obey is kept.
func TestLinesAreHarmless(t *testing.T) {
	k := open(t, t.TempDir(), Limits{})
	add(t, k, 1, 0, "\x1b]0;title\x07\x1b[2Jgone", "one\ntwo\r\x00", "right\u202eleft", "\x9b31m c1 \xff", "\tünïcödé",
		strings.Repeat("y", 3*maxLine))
	want := []string{"\uFFFD]0;title\uFFFD\uFFFD[2Jgone", "one\uFFFDtwo\uFFFD\uFFFD", "right\uFFFDleft",
		"\uFFFD31m c1 \uFFFD", "\tünïcödé", strings.Repeat("y", maxLine) + " (cut)"}
	if diff := cmp.Diff(want, k.Tail(aNode, 10)); diff != "" {
		t.Error(diff)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m")
	f.Add("\u2028\u0085\u200f")
	f.Fuzz(func(t *testing.T, line string) {
		for _, r := range clean(line) {
			if r != '\t' && !unicode.IsPrint(r) {
				t.Errorf("%q is kept in %q", r, clean(line))
			}
		}
	})
}

// follower reads a log as it grows.
type follower struct {
	t      *testing.T
	pieces chan string
	ended  chan error
	stop   context.CancelFunc
}

func follow(t *testing.T, k *Keeper, q nodeapi.LogQuery) *follower {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	f := &follower{t: t, pieces: make(chan string), ended: make(chan error, 1), stop: stop}
	q.Follow = true
	go func() {
		f.ended <- k.Stream(ctx, aNode, q, func(b []byte) error {
			select {
			case f.pieces <- string(b):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	return f
}

func (f *follower) expect(want string) {
	f.t.Helper()
	got := ""
	for len(got) < len(want) {
		select {
		case p := <-f.pieces:
			got += p
		case err := <-f.ended:
			f.t.Fatalf("it ended with %v after %q", err, got)
		}
	}
	if got != want {
		f.t.Fatalf("%q, want %q", got, want)
	}
}

func TestFollow(t *testing.T) {
	k := open(t, t.TempDir(), Limits{})
	f := follow(t, k, nodeapi.LogQuery{}) // before anything was logged
	add(t, k, 1, 0, "a")
	f.expect("a\n")
	add(t, k, 1, 1, "b", "c")
	f.expect("b\nc\n")
	late := follow(t, k, nodeapi.LogQuery{Tail: 1})
	late.expect("c\n")
	add(t, k, 2, 0, "d")
	for _, f := range []*follower{f, late} {
		f.expect("(the machine has booted again)\nd\n")
	}
	f.stop()
	if err := <-f.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a follower that left ended with %v", err)
	}
	over := follow(t, k, nodeapi.LogQuery{Boot: 1})
	over.expect("a\nb\nc\n")
	if err := <-over.ended; err != nil {
		t.Errorf("a boot that is over: %v", err)
	}
	if err := k.Forget(aNode); err != nil {
		t.Fatal(err)
	}
	if err := <-late.ended; err != nil {
		t.Errorf("a follower of a deleted node ended with %v", err)
	}
}

// TestFollowASlowReader: a reader that the bound overtakes goes on at the new beginning of the log.
func TestFollowASlowReader(t *testing.T) {
	k := open(t, t.TempDir(), Limits{Boots: 2, Bytes: 1000})
	add(t, k, 1, 0, "first")
	f := follow(t, k, nodeapi.LogQuery{})
	f.expect("first\n")
	f.stop() // it is not read from while much is logged
	<-f.ended
	s, err := k.shelf(aNode)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.reader(nodeapi.LogQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		add(t, k, 1, 1+i, fmt.Sprintf("line %04d %s", i, strings.Repeat(".", 40)))
	}
	piece, _, err := r.next()
	if err != nil || !strings.HasPrefix(string(piece), "(older lines are dropped)\nline 00") ||
		!strings.Contains(string(piece), "line 0099 ") {
		t.Errorf("%.80q %v", piece, err)
	}
	if piece, changed, err := r.next(); len(piece) != 0 || changed == nil || err != nil {
		t.Errorf("again: %q %v", piece, err)
	}
	add(t, k, 2, 0, "x")
	add(t, k, 3, 0, "y") // the boot that was read is gone now
	if piece, _, err := r.next(); string(piece) != "(the machine has booted again)\n" || err != nil {
		t.Errorf("after its boot is gone: %q %v", piece, err)
	}
}

func TestForget(t *testing.T) {
	dir := t.TempDir()
	k := open(t, dir, Limits{})
	add(t, k, 1, 0, "a")
	if nodes, err := k.Nodes(); err != nil || len(nodes) != 1 || nodes[0] != aNode {
		t.Errorf("nodes %v %v", nodes, err)
	}
	if err := k.Forget(aNode); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left: %v %v", entries, err)
	}
	if err := k.Forget(aNode); err != nil {
		t.Errorf("forgetting twice: %v", err)
	}
	if got := k.Tail(aNode, 3); got != nil {
		t.Errorf("tail %q", got)
	}
}

// TestBeforeBoot: the log of a boot begins with the console's lines, once and cleaned.
func TestBeforeBoot(t *testing.T) {
	k, err := Open(t.TempDir(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	k.BeforeBoot(func(node string) []string { return []string{"UEFI of " + node[:4], "\x1b[2Jhostile"} })
	const uuid = "4e6ab7a7-7a37-4d5c-8f3d-6f0c5a1f9d11"
	for i, line := range []string{"[0.0] Linux", "[0.1] more"} {
		if err := k.Append(uuid, "00000000000000aa", int64(i), []string{line}); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"console: UEFI of 4e6a", "console: \uFFFD[2Jhostile", "[0.0] Linux", "[0.1] more"}
	if got := k.Tail(uuid, 10); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
