package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// The files that a release has beside its packages.
const (
	provenanceFile = "provenance.json"        // an in-toto statement
	envelopeFile   = "provenance.intoto.json" // the same, signed
	signatureFile  = "SHA256SUMS.sig"
	statementType  = "application/vnd.in-toto+json"
	repository     = "https://github.com/ferrite-metal/ferrite"
)

// releaseFiles writes the SPDX document of each architecture, the provenance and the sums beside the packages.
func (p *packer) releaseFiles(ctx context.Context, tag string) error {
	if tag != "" && tag != "v"+p.version {
		return fmt.Errorf("--tag %s: expected v%s, the version of the program", tag, p.version)
	}
	for _, arch := range p.archs {
		bill, err := p.bill(filepath.Join(p.programs, arch, "ferrite"))
		if err == nil {
			err = os.WriteFile(p.path("ferrite-%s-linux-%s.spdx.json", p.version, arch), bill, 0o644)
		}
		if err != nil {
			return err
		}
	}
	commit, err := committed(ctx)
	if err != nil {
		return err
	}
	for _, old := range []string{provenanceFile, envelopeFile, signatureFile} {
		if err := os.RemoveAll(p.path("%s", old)); err != nil {
			return err
		}
	}
	files, err := p.files()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(p.provenance(files, commit, cmp.Or(tag, "HEAD"), os.Getenv), "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(p.path(provenanceFile), append(text, '\n'), 0o644); err != nil {
		return err
	}
	return p.sums()
}

// committed is the commit of the checkout. A provenance of other sources would be wrong.
func committed(ctx context.Context) (string, error) {
	changes, err := exec.CommandContext(ctx, "git", "status", "--porcelain").Output()
	if err != nil {
		return "", fmt.Errorf("provenance: git status: %w", err)
	}
	if len(changes) > 0 {
		return "", fmt.Errorf("provenance: the checkout has changes that are not committed:\n%s", changes)
	}
	head, err := exec.CommandContext(ctx, "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "", fmt.Errorf("provenance: git rev-parse: %w", err)
	}
	return strings.TrimSpace(string(head)), nil
}

// provenance is a statement of in-toto (https://in-toto.io/Statement/v1) with the predicate of SLSA
// (https://slsa.dev/provenance/v1): the files, their builder, and the commit they were made from.
func (p *packer) provenance(files []summed, commit, ref string, getenv func(string) string) map[string]any {
	subjects := make([]map[string]any, 0, len(files))
	for _, f := range files {
		subjects = append(subjects, map[string]any{"name": f.name, "digest": map[string]string{"sha256": f.sum}})
	}
	builder, invocation := "urn:ferrite:build-by-hand", ""
	switch { // as the forges name their builders in provenances of their own
	case getenv("GITHUB_ACTIONS") == "true":
		server := getenv("GITHUB_SERVER_URL") + "/"
		builder = server + getenv("GITHUB_WORKFLOW_REF")
		invocation = server + getenv("GITHUB_REPOSITORY") + "/actions/runs/" + getenv("GITHUB_RUN_ID") + "/attempts/" +
			getenv("GITHUB_RUN_ATTEMPT")
	case getenv("GITLAB_CI") == "true":
		builder = getenv("CI_PROJECT_URL") + "/-/runners/" + getenv("CI_RUNNER_ID")
		invocation = getenv("CI_JOB_URL")
	}
	run := map[string]any{"builder": map[string]any{"id": builder}}
	if invocation != "" {
		run["metadata"] = map[string]any{"invocationId": invocation}
	}
	return map[string]any{
		"_type": "https://in-toto.io/Statement/v1", "subject": subjects, "predicateType": "https://slsa.dev/provenance/v1",
		"predicate": map[string]any{
			"buildDefinition": map[string]any{
				"buildType":          repository + "/blob/main/docs/install.md#release-files",
				"externalParameters": map[string]any{"target": "release-files", "version": p.version, "ref": ref},
				"internalParameters": map[string]any{"SOURCE_DATE_EPOCH": p.at.Unix()},
				"resolvedDependencies": []map[string]any{
					{"uri": "git+" + repository + "@" + ref, "digest": map[string]string{"gitCommit": commit}},
					{"uri": "pkg:golang/std@" + strings.TrimPrefix(runtime.Version(), "go")},
				},
			},
			"runDetails": run,
		},
	}
}

// sign signs the provenance and the sums with an Ed25519 key in PEM (PKCS #8), as `openssl genpkey -algorithm ed25519`
// makes it. The provenance is put into an envelope of DSSE; the signature of the sums is raw, for `openssl pkeyutl`.
func (p *packer) sign(keyFile string) error {
	text, err := os.ReadFile(keyFile)
	if err != nil {
		return fmt.Errorf("--key: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return fmt.Errorf("--key %s: expected a private key in PEM (PKCS #8)", keyFile)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return fmt.Errorf("--key %s: expected an Ed25519 key (PKCS #8): %w", keyFile, err)
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return fmt.Errorf("--key %s: expected an Ed25519 key, found %T", keyFile, parsed)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	statement, err := os.ReadFile(p.path(provenanceFile))
	if err != nil {
		return fmt.Errorf("%w: run make release-files first", err)
	}
	envelope, err := json.Marshal(map[string]any{"payloadType": statementType, "payload": statement,
		"signatures": []map[string]string{{"keyid": fmt.Sprintf("%x", sha256.Sum256(public)),
			"sig": base64.StdEncoding.EncodeToString(ed25519.Sign(key, preAuthentication(statementType, statement)))}}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(p.path(envelopeFile), append(envelope, '\n'), 0o644); err != nil {
		return err
	}
	if err := p.sums(); err != nil {
		return err
	}
	sums, err := os.ReadFile(p.path(sumsFile))
	if err != nil {
		return err
	}
	return os.WriteFile(p.path(signatureFile), ed25519.Sign(key, sums), 0o644)
}

// preAuthentication is the text that is signed of a payload (DSSE 1.0, PAE).
func preAuthentication(kind string, body []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "DSSEv1 %d %s %d %s", len(kind), kind, len(body), body)
	return b.Bytes()
}
