package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRelease: the provenance names every file with its sum. The Makefile's targets sign a release and accept it, and
// refuse it with a flipped bit.
func TestRelease(t *testing.T) {
	p := packer{out: t.TempDir(), version: "1.2.3", at: time.Unix(1_700_000_000, 0)}
	const deb = "ferrite_1.2.3_amd64.deb"
	for _, name := range []string{deb, "ferrite-1.2.3-source.tar.gz"} {
		if err := os.WriteFile(p.path("%s", name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	forge := map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_SERVER_URL": "https://forge", "GITHUB_REPOSITORY": "o/r",
		"GITHUB_WORKFLOW_REF": "o/r/release.yml@refs/tags/v1.2.3", "GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": "1"}
	files, err := p.files()
	if err != nil {
		t.Fatal(err)
	}
	getenv := func(key string) string { return forge[key] }
	statement, err := json.Marshal(p.provenance(files, "0123abcd", "v1.2.3", getenv))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"_type":"https://in-toto.io/Statement/v1"`, `"gitCommit":"0123abcd"`,
		fmt.Sprintf(`{"digest":{"sha256":"%s"},"name":"%s"}`, files[1].sum, deb),
		`"id":"https://forge/o/r/release.yml@refs/tags/v1.2.3"`,
		`"invocationId":"https://forge/o/r/actions/runs/7/attempts/1"`} {
		if !strings.Contains(string(statement), want) {
			t.Errorf("no %s in %s", want, statement)
		}
	}
	if err := os.WriteFile(p.path(provenanceFile), statement, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := p.sums(); err != nil {
		t.Fatal(err)
	}
	checkSignature(t, p.out, deb, provenanceFile, sumsFile, signatureFile)
}

// checkSignature signs the files of a folder, and flips a bit of each named one.
func checkSignature(t *testing.T, dir string, names ...string) {
	t.Helper()
	private, public := filepath.Join(t.TempDir(), "key.pem"), filepath.Join(t.TempDir(), "key.pub")
	try := func(program string, args ...string) error {
		out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s %v: %w: %s", program, args, err, out)
		}
		return nil
	}
	target := func(name, key string) error {
		return try("make", "-C", "../..", "release-"+name, "KEY="+key, "RELEASE="+dir)
	}
	for _, err := range []error{try("openssl", "genpkey", "-algorithm", "ed25519", "-out", private),
		try("openssl", "pkey", "-in", private, "-pubout", "-out", public), target("sign", private),
		target("verify", public)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		whole, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, flip := range []byte{1, 0} { // broken, and whole again
			text := append([]byte(nil), whole...)
			text[len(text)/2] ^= flip
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := target("verify", public); (err != nil) != (flip == 1) {
				t.Errorf("%s, flipped by %d: %v", name, flip, err)
			}
		}
	}
}
