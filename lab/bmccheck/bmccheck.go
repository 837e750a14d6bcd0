// Package bmccheck runs the doctor of BMCs over recorded ones, and reports for each operation whether it works. The
// table shows, before a machine is bought or a driver is released, on which BMCs an operator would get stuck.
//
// It must not know any BMC by name: it reads from the tree which operations the BMC offers.
package bmccheck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/ferrite-metal/ferrite/conductor/bmc/doctor"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/lab/recorded"
	redfishlab "github.com/ferrite-metal/ferrite/lab/redfish"
)

// WorksAround is the verdict of a success after the BMC had refused the first way. The detail is the refused request.
const WorksAround doctor.Verdict = "works around"

// Result is an operation on a system of a tree.
type Result struct {
	Tree string
	doctor.Finding
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
	for _, operation := range doctor.Operations() {
		all = append(all, Result{name, doctor.Finding{Operation: operation, Verdict: doctor.NotOffered, Detail: why}})
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

// check has the doctor look at one system, and try each operation. Each starts with the BMC as it was recorded.
func check(ctx context.Context, tree *recorded.Tree, system, name string,
	deviations []redfishlab.Deviation) (all []Result) {
	if !tree.Switchable(system) {
		return none(name, "it is no machine: no reset is offered of it")
	}
	for _, operation := range doctor.Operations() {
		b := &bench{tree: tree, system: system}
		all = append(all, Result{name, b.try(ctx, operation, deviations)})
	}
	return all
}

// bench is one operation on a system.
type bench struct {
	tree     *recorded.Tree
	system   string
	compared bool // the parts that the driver reports, with the tree
}

// try does one operation on a BMC of its own.
func (b *bench) try(ctx context.Context, operation string, deviations []redfishlab.Deviation) doctor.Finding {
	ctx, cancel := context.WithTimeout(ctx, operationTime)
	defer cancel()
	bmc := recorded.New(recorded.Config{Tree: b.tree, Username: "admin", Password: "recorded",
		PowerDelay: 20 * time.Millisecond, Deviations: deviations})
	web := httptest.NewServer(bmc)
	defer web.Close()
	n := node.Node{UUID: "00000000-0000-4000-8000-000000000001", Driver: "redfish", DriverInfo: map[string]any{
		"redfish_address": web.URL, "redfish_system_id": b.system, "redfish_username": "admin",
		"redfish_password": "recorded"}}
	report, err := doctor.Examine(ctx, n, doctor.Options{Pause: 10 * time.Millisecond, Only: operation,
		Trials: b.trials(), Exercise: doctor.Exercise{Medium: "http://192.0.2.1/ramdisk.iso"}})
	if err != nil {
		return doctor.Finding{Operation: operation, Verdict: doctor.Fails, Detail: err.Error()}
	}
	f := report.Findings[len(report.Findings)-1]
	if login := report.Findings[0]; login.Verdict != doctor.Works {
		f = login
	}
	f.Operation = operation
	refused := bmc.Refusals()
	switch {
	case f.Verdict == doctor.Works && len(refused) > 0:
		f.Verdict, f.Detail = WorksAround, refused[0]
	case f.Verdict == doctor.NotOffered && !b.compared:
		var lacks *node.Refusal
		if err := b.reported(listed[operation]); err != nil && !errors.As(err, &lacks) {
			f.Verdict, f.Detail = doctor.Fails, err.Error()
		}
	}
	f.Detail = strings.ReplaceAll(f.Detail, web.URL, "BMC")
	return f
}

// Print writes the table, the reasons, and the summary line.
func Print(w io.Writer, all []Result, trees int) error {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	header := table.Row{"tree"}
	for _, operation := range doctor.Operations() {
		header = append(header, operation)
	}
	t.AppendHeader(header)
	var names []string
	for _, r := range all {
		if !slices.Contains(names, r.Tree) {
			names = append(names, r.Tree)
		}
	}
	count := map[doctor.Verdict]int{}
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
		&reasons, trees, count[doctor.Works], count[WorksAround], count[doctor.NotOffered], count[doctor.Fails])
	return err
}

// explain writes why operations of a tree do not just work: one line, where that is so of all for one reason.
func explain(w io.Writer, of []Result) {
	same := !slices.ContainsFunc(of, func(r Result) bool { return r.Verdict != of[0].Verdict || r.Detail != of[0].Detail })
	if same && of[0].Verdict != doctor.Works {
		fmt.Fprintf(w, "%s, all operations: %s: %s\n", of[0].Tree, of[0].Verdict, of[0].Detail)
		return
	}
	for _, r := range of {
		if r.Verdict != doctor.Works {
			fmt.Fprintf(w, "%s, %s: %s: %s\n", r.Tree, r.Operation, r.Verdict, r.Detail)
		}
	}
}

// Failed reports whether any operation fails.
func Failed(all []Result) bool {
	return slices.ContainsFunc(all, func(r Result) bool { return r.Verdict == doctor.Fails })
}
