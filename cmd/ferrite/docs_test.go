package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
	hidden bool // a comment, for the test alone
}

func (b block) run() bool { return b.info == "sh run" }

// unclosed is the info of a block without an end: its commands, and the blocks after it, would not be run.
const unclosed = "unclosed"

// blocks are the blocks of one page, in order. A comment <!-- run ... --> holds commands that readers need not see.
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
		case strings.HasPrefix(strings.TrimSpace(line), "```"): // a list's are indented
			cur, end = &block{line: i + 2, info: strings.TrimPrefix(strings.TrimSpace(line), "```")}, "```"
		case line == "<!-- run":
			cur, end = &block{line: i + 2, info: "sh run", hidden: true}, "-->"
		}
	}
	if cur != nil {
		out = append(out, block{line: cur.line, info: unclosed})
	}
	return out
}
