package sitestep

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	m, limit, err := Parse([]byte(`{"interface": "raid", "step": "burn_in", "priority": {"clean": 99, "deploy": 41},
		"arguments": {"minutes": {"description": "how long", "required": true}}, "abortable": true, "timeout": "90m"}`))
	want := Manifest{Interface: "raid", Step: "burn_in", Priority: map[string]int{"clean": 99, "deploy": 41},
		Arguments: map[string]Argument{"minutes": {"how long", true}}, Abortable: true, Timeout: "90m"}
	if diff := cmp.Diff(want, m); diff != "" || err != nil || limit != 90*time.Minute {
		t.Errorf("%v, %v, %s", err, limit, diff)
	}
	m, limit, err = Parse([]byte(` {"step": "a"} `))
	want = Manifest{Interface: "deploy", Step: "a", Priority: map[string]int{"clean": 0, "deploy": 0, "service": 0}}
	if diff := cmp.Diff(want, m); diff != "" || err != nil || limit != DefaultTimeout || m.ArgsInfo() != nil {
		t.Errorf("%v, %v, %s", err, limit, diff)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"no JSON":               {`step: a`, "expected a JSON object"},
		"unknown key":           {`{"step": "a", "abortible": true}`, `"abortible"`},
		"more":                  {`{"step": "a"} {}`, "found more after it"},
		"no step":               {`{}`, `step ""`},
		"bad name":              {`{"step": "Burn-In"}`, `step "Burn-In"`},
		"long name":             {`{"step": "` + strings.Repeat("a", maxName+1) + `"}`, "at most 64"},
		"interface":             {`{"step": "a", "interface": "bios"}`, `interface "bios": expected deploy or raid`},
		"ours":                  {`{"step": "erase_devices"}`, "deploy.erase_devices is the agent's own"},
		"conductor's":           {`{"step": "reboot", "interface": "raid"}`, "the conductor's own"},
		"priority":              {`{"step": "a", "priority": {"clean": 100}}`, "priority clean 100: expected 0, or 1 to 99"},
		"priority of a deploy":  {`{"step": "a", "priority": {"deploy": 40}}`, "expected 0, or 41 to 99"},
		"priority of a service": {`{"step": "a", "priority": {"service": 1}}`, "expected 0"},
		"negative priority":     {`{"step": "a", "priority": {"clean": -1}}`, "priority clean -1"},
		"broken priority":       {`{"step": "a", "priority": {"clean": 1.5}}`, "priority"},
		"plain priority":        {`{"step": "a", "priority": 10}`, "priority"},
		"kind":                  {`{"step": "a", "priority": {"inspect": 1}}`, `kind of run "inspect"`},
		"no kind":               {`{"step": "a", "priority": {}}`, "found none"},
		"argument":              {`{"step": "a", "arguments": {"a b": {}}}`, `argument "a b"`},
		"description": {`{"step": "a", "arguments": {"b": {"description": "` + strings.Repeat("x", 257) + `"}}}`,
			"at most 256 bytes"},
		"timeout":      {`{"step": "a", "timeout": "soon"}`, `timeout "soon"`},
		"long timeout": {`{"step": "a", "timeout": "25h"}`, "1s to 24h"},
		"no timeout":   {`{"step": "a", "timeout": "0s"}`, "1s to 24h"},
		"large":        {strings.Repeat(" ", maxManifest+1), "at most 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := Parse([]byte(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
	var many strings.Builder
	for i := range maxArguments + 1 {
		fmt.Fprintf(&many, `,"a%d": {}`, i)
	}
	if _, _, err := Parse([]byte(`{"step": "a", "arguments": {` + many.String()[1:] + `}}`)); err == nil {
		t.Error("too many arguments were taken")
	}
}

// folder is a ramdisk with files in the folder of site steps; those without .json can be
// executed, unless their name ends in .txt.
func folder(files map[string]string) fstest.MapFS {
	root := fstest.MapFS{}
	for name, text := range files {
		f := &fstest.MapFile{Data: []byte(text), Mode: 0o755}
		if strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".txt") {
			f.Mode = 0o644
		}
		root[Folder+"/"+name] = f
	}
	return root
}

func TestRead(t *testing.T) {
	all, err := Read(folder(map[string]string{"b": "", "b.json": `{"step": "one", "timeout": "2m"}`, "a": "",
		"a.json": `{"step": "two"}`, "notes.txt": "", "data/x": ""}))
	if err != nil || len(all) != 2 || all[0].Step != "one" || all[0].Program != "b" || all[0].File != "b.json" ||
		all[0].Limit != 2*time.Minute || all[1].Step != "two" {
		t.Errorf("%+v, %v", all, err)
	}
	if all, err := Read(fstest.MapFS{}); len(all) != 0 || err != nil {
		t.Errorf("without the folder: %v, %v", all, err)
	}
	for name, tc := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"no program":  {map[string]string{"a.json": `{"step": "a"}`}, []string{"steps.d/a.json", "its program a beside it"}},
		"no manifest": {map[string]string{"a": ""}, []string{"steps.d/a:", "its manifest a.json"}},
		"bad": {map[string]string{"a": "", "a.json": `{}`, "b": "", "b.json": `[]`}, []string{"steps.d/a.json",
			"steps.d/b.json"}},
		"no exec bit": {map[string]string{"a.txt": "", "a.txt.json": `{"step": "a"}`}, []string{"a.txt has mode 0644", "0755"}},
		"one name twice": {map[string]string{"a": "", "a.json": `{"step": "a"}`, "b": "", "b.json": `{"step": "a"}`},
			[]string{"a.json and b.json both are deploy.a"}},
		"a folder": {map[string]string{"a/x": "", "a.json": `{"step": "a"}`}, []string{"program a is a d"}},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := Read(folder(tc.files))
			for _, w := range tc.want {
				if err == nil || !strings.Contains(err.Error(), w) || all != nil {
					t.Errorf("%v, error %v, want %q", all, err, w)
				}
			}
		})
	}
}

func TestCheckProgram(t *testing.T) {
	own, err := os.Executable() // of Go, with CGO_ENABLED=0 static
	if err != nil {
		t.Fatal(err)
	}
	static, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(static))
	if err != nil {
		t.Fatal(err)
	}
	dynamic := withInterpreter(t, static, f)
	for name, tc := range map[string]struct {
		program           []byte
		machine           elf.Machine
		interpreter, want string
	}{
		"other machine": {static, elf.EM_S390, "", "expected a program for EM_S390"},
		"dynamic":       {dynamic, f.Machine, "", "linked dynamically and needs "},
		"script":        {[]byte("#! /bin/sh -e\necho"), f.Machine, "/bin/sh", ""},
		"no path":       {[]byte("#!sh\n"), f.Machine, "", "the path of an interpreter"},
		"empty":         {nil, f.Machine, "", "expected a static ELF program, or a script"},
		"text":          {[]byte("echo"), f.Machine, "", "expected a static ELF program, or a script"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := CheckProgram(bytes.NewReader(tc.program), tc.machine)
			if got != tc.interpreter || (err == nil) != (tc.want == "") {
				t.Fatalf("%q, %v", got, err)
			}
			if err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

// withInterpreter is a 64-bit program with an interpreter in its first segment.
func withInterpreter(t *testing.T, program []byte, f *elf.File) []byte {
	t.Helper()
	out := bytes.Clone(program)
	headers := f.ByteOrder.Uint64(program[32:])
	f.ByteOrder.PutUint32(out[headers:], uint32(elf.PT_INTERP))
	if _, err := elf.NewFile(bytes.NewReader(out)); err != nil {
		t.Fatal(err)
	}
	return out
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"step": "a"}`))
	f.Add([]byte(`{"interface": "raid", "step": "burn_in", "priority": {"clean": 99, "deploy": 41, "service": 0},
		"arguments": {"minutes": {"description": "how long", "required": true}}, "abortable": true, "timeout": "90m"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, limit, err := Parse(raw)
		if err != nil {
			return
		}
		if m.Step == "" || m.Interface == "" || limit < time.Second || limit > MaxTimeout || len(m.Priority) == 0 ||
			len(m.Arguments) > maxArguments {
			t.Errorf("%+v, %v was taken", m, limit)
		}
	})
}
