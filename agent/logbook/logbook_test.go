package logbook

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// deaf is an output that always fails.
type deaf struct{}

func (deaf) Write([]byte) (int, error) { return 0, errors.New("console is gone") }

func TestBookKeepsAndCopies(t *testing.T) {
	var b Book
	var out bytes.Buffer
	b.Add(deaf{})
	b.Add(&out)
	log := b.Logger(false, func() time.Duration { return 1500 * time.Millisecond })
	log.Info("lookup done", "node", "u")
	log.Debug("not shown")
	log.Warn("image http://h/i?temp_url_sig=abc fails", "err", errors.New("GET http://u:pw@h/i?sig=abc: 401"))
	want := "up=1.5s level=INFO msg=\"lookup done\" node=u\n" +
		"up=1.5s level=WARN msg=\"image http://h/i?temp_url_sig=****** fails\" err=\"GET http://******@h/i?sig=****** 401\"\n"
	if out.String() != want || string(b.Tail()) != want {
		t.Errorf("out %q, tail %q", out.String(), b.Tail())
	}
}

func TestBookIsBounded(t *testing.T) {
	var b Book
	line := []byte(strings.Repeat("x", 1023) + "\n")
	for range 3 * keep / len(line) {
		if _, err := b.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.tail) > keep+keep/4 || len(b.Tail()) != keep {
		t.Errorf("held %d, tail %d", len(b.tail), len(b.Tail()))
	}
}

type kernelLog struct{ err error }

func (k kernelLog) KernelLog() ([]byte, error) {
	return []byte("6,1,2,-;Linux version\n5,2,3,-;Command line: a ipa-agent-token=secret b\n"), k.err
}

func TestCollect(t *testing.T) {
	var b Book
	if _, err := b.Write([]byte("agent line\n")); err != nil {
		t.Fatal(err)
	}
	root := fstest.MapFS{"proc/cmdline": {Data: []byte("quiet ipa-agent-token=secret " +
		"ipa-inspection-callback-url=http://h/v1/continue_inspection?boot_word=secret&a=b x=y\n")}}
	text, err := Collect(&b, kernelLog{errors.New("cut")}, root, []byte("proc/cpuinfo = \"\"\n"), time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	files := unpack(t, text)
	for name, part := range map[string]string{
		"agent.log": "agent line", "dmesg": "(not whole: cut)", "proc-mounts": "(open proc/mounts", "ip-addr": "1: lo",
		"proc-cmdline": "quiet ipa-agent-token=****** " +
			"ipa-inspection-callback-url=http://h/v1/continue_inspection?boot_word=******&a=b x=y\n",
		"inventory.tree": "proc/cpuinfo = ",
	} {
		if !strings.Contains(files[name], part) {
			t.Errorf("%s = %q, want part %q", name, files[name], part)
		}
	}
	for name, text := range files {
		if strings.Contains(text, "secret") {
			t.Errorf("the token is in %s", name)
		}
	}
}

func unpack(t *testing.T, text string) map[string]string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	zr, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(b)
	}
}
