package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// The files that a release has beside its packages.
const (
	provenanceFile = "provenance.json"
	signatureFile  = "SHA256SUMS.sig" // made by openssl (Makefile)
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
	if err := errors.Join(os.RemoveAll(p.path(provenanceFile)), os.RemoveAll(p.path(signatureFile))); err != nil {
		return err
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
