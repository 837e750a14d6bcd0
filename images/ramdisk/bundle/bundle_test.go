package bundle

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"
)

func TestUnpack(t *testing.T) {
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer packer.Close()
	packed := packer.EncodeAll([]byte("a program"), nil)
	from := fstest.MapFS{"files/ferrite-agent.zst": {Data: packed}, "files/cut.zst": {Data: packed[:len(packed)-3]}}
	cache := t.TempDir()
	for range 2 {
		path, err := unpack(t.Context(), from, cache, Agent)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if string(text) != "a program" || errors.Join(err, statErr) != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("unpacked %q, %v, %v", text, info, err)
		}
	}
	if _, err := unpack(t.Context(), from, cache, Commands); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a program that is not there: %v", err)
	}
	if _, err := unpack(t.Context(), from, cache, "cut"); err == nil || !strings.Contains(err.Error(), "unpack cut") {
		t.Errorf("a damaged program: %v", err)
	}
}
