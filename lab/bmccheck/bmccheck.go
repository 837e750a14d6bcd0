// Package bmccheck runs the Redfish driver over recorded BMCs, and reports for each operation whether it works. The
// table shows, before a machine is bought or a driver is released, on which BMCs an operator would get stuck.
//
// It must not know any BMC by name: it reads from the tree which operations the BMC offers.
package bmccheck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/lab/recorded"
	redfishlab "github.com/ferrite-metal/ferrite/lab/redfish"
)

// Verdict is the outcome of an operation.
type Verdict string

// The verdicts. WorksAround is a success after the BMC had refused the first way.
const (
	Works       Verdict = "works"
	WorksAround Verdict = "works around"
	NotOffered  Verdict = "not offered"
	Fails       Verdict = "fails"
)

// Result is an operation on a system of a tree.
type Result struct {
	Tree, Operation string
	Verdict         Verdict
	Reason          string // of NotOffered and Fails; of WorksAround the refused request
}

// operationTime bounds one operation.
const operationTime = 2 * time.Minute

// Run checks all operations on each system of each tree at or below the paths, as a name says that
// a path is an archive. With personalities each tree is checked once as each, as far as a recording
// can have it.
func Run(ctx context.Context, paths []string, personalities ...redfishlab.Personality) (all []Result, trees int,
	err error) {
	files, err := find(paths)
	if err != nil {
		return nil, 0, err
	}
	var unread []error
	seen := map[string]bool{}
	for _, file := range files {
		tree, err := recorded.Load(file)
		if err != nil {
			unread = append(unread, err)
			continue
		}
		if seen[tree.Name] {
			tree.Name = file
		}
		seen[tree.Name] = true
		trees++
		systems := tree.Systems()
		if len(systems) == 0 {
			all = append(all, none(tree.Name, "it is no server: it lists no computer system")...)
		}
		for _, system := range systems {
			name := tree.Name
			if len(systems) > 1 {
				name += " " + path.Base(system)
			}
			if len(personalities) == 0 {
				all = append(all, check(ctx, tree, system, name, nil)...)
			}
			for _, p := range personalities {
				all = append(all, check(ctx, tree, system, name+" as "+p.Name, recorded.Deviations(p))...)
			}
		}
	}
	return all, trees, errors.Join(unread...)
}

// none are the results of a tree, or of a system, on which no operation can be tried.
func none(name, why string) (all []Result) {
	for _, op := range operations {
		all = append(all, Result{Tree: name, Operation: op.name, Verdict: NotOffered, Reason: why})
	}
	return all
}

// find lists the trees at the paths, or in the folders there.
func find(paths []string) (all []string, err error) {
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() || isTree(p) {
			all = append(all, p)
			continue
		}
		entries, err := os.ReadDir(p)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			at := filepath.Join(p, e.Name())
			if e.IsDir() && isTree(at) || strings.Contains(e.Name(), ".tar") {
				all = append(all, at)
			}
		}
	}
	if len(all) == 0 {
		return nil,
			fmt.Errorf("there is no recorded tree in %s: expected folders with redfish/v1/index.json or index.json, or "+
				"archives .tar.xz", strings.Join(paths, ", "))
	}
	return all, nil
}

// isTree reports whether a folder is a tree, at its top or one folder below.
func isTree(folder string) bool {
	for _, at := range []string{"index.json", "redfish/v1/index.json", "*/redfish/v1/index.json"} {
		if found, err := filepath.Glob(filepath.Join(folder, at)); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// check runs the operations on one system. Each starts with the BMC as it was recorded.
func check(ctx context.Context, tree *recorded.Tree, system, name string,
	deviations []redfishlab.Deviation) (all []Result) {
	if !tree.Switchable(system) {
		return none(name, "it is no machine: no reset is offered of it")
	}
	for _, op := range operations {
		r := Result{Tree: name, Operation: op.name}
		r.Verdict, r.Reason = try(ctx, tree, system, op, deviations)
		all = append(all, r)
	}
	return all
}

// try does one operation on a BMC of its own.
func try(ctx context.Context, tree *recorded.Tree, system string, op operation,
	deviations []redfishlab.Deviation) (v Verdict, reason string) {
	ctx, cancel := context.WithTimeout(ctx, operationTime)
	defer cancel()
	bmc := recorded.New(recorded.Config{Tree: tree, Username: "admin", Password: "recorded",
		PowerDelay: 20 * time.Millisecond, Deviations: deviations})
	web := httptest.NewServer(bmc)
	defer web.Close()
	d := redfish.New(redfish.Options{Log: slog.New(slog.DiscardHandler), CallTimeout: operationTime,
		Pause: 10 * time.Millisecond})
	defer func() {
		if err := d.Close(); err != nil && v == Works {
			v, reason = Fails, "end the session: "+err.Error()
		}
	}()
	n := node.Node{UUID: "00000000-0000-4000-8000-000000000001", Driver: "redfish", DriverInfo: map[string]any{
		"redfish_address": web.URL, "redfish_system_id": system, "redfish_username": "admin", "redfish_password": "recorded"}}
	err := op.do(ctx, d, n)
	refusals := bmc.Refusals()
	var lacks notOffered
	var part notReported
	var refused *node.Refusal
	switch {
	case errors.As(err, &part):
		whole := slices.ContainsFunc(part.parts, func(p string) bool { return slices.Contains(essential, p) })
		return part.verdict(tree, system, whole)
	case err == nil && len(refusals) > 0:
		return WorksAround, refusals[0]
	case err == nil:
		return Works, ""
	case errors.As(err, &lacks):
		return NotOffered, lacks.reason
	case errors.As(err, &refused):
		return NotOffered, refused.Reason
	}
	return Fails, strings.ReplaceAll(err.Error(), web.URL, "BMC")
}

// Print writes the table, the reasons, and the summary line.
func Print(w io.Writer, all []Result, trees int) error {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	header := table.Row{"tree"}
	for _, op := range operations {
		header = append(header, op.name)
	}
	t.AppendHeader(header)
	var names []string
	for _, r := range all {
		if !slices.Contains(names, r.Tree) {
			names = append(names, r.Tree)
		}
	}
	count := map[Verdict]int{}
	var reasons strings.Builder
	for _, name := range names {
		row := table.Row{name}
		of := slices.DeleteFunc(slices.Clone(all), func(r Result) bool { return r.Tree != name })
		for _, r := range of {
			row = append(row, string(r.Verdict))
			count[r.Verdict]++
		}
		t.AppendRow(row)
		explain(&reasons, of)
	}
	_, err := fmt.Fprintf(w, "%s\n\n%s\nbmc-check: %d trees, %d works, %d works around, %d not offered, %d fails\n",
		t.Render(),
		&reasons, trees, count[Works], count[WorksAround], count[NotOffered], count[Fails])
	return err
}

// explain writes why operations of a tree do not just work: one line, where that is so of all for one reason.
func explain(w io.Writer, of []Result) {
	same := !slices.ContainsFunc(of, func(r Result) bool { return r.Verdict != of[0].Verdict || r.Reason != of[0].Reason })
	if same && of[0].Verdict != Works {
		fmt.Fprintf(w, "%s, all operations: %s: %s\n", of[0].Tree, of[0].Verdict, of[0].Reason)
		return
	}
	for _, r := range of {
		if r.Verdict != Works {
			fmt.Fprintf(w, "%s, %s: %s: %s\n", r.Tree, r.Operation, r.Verdict, r.Reason)
		}
	}
}

// Failed reports whether any operation fails.
func Failed(all []Result) bool {
	return slices.ContainsFunc(all, func(r Result) bool { return r.Verdict == Fails })
}
