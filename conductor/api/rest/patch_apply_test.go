package rest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// patchOf is a checked patch.
func patchOf(t *testing.T, text string) []Operation {
	t.Helper()
	var list []any
	if json.Unmarshal([]byte(text), &list) != nil {
		t.Skip("no patch")
	}
	ops := make([]Operation, len(list))
	for i, item := range list {
		o, err := checkOperation(item, escapedPath, "")
		if err != nil {
			t.Skip(err)
		}
		ops[i] = o
	}
	return ops
}

// FuzzApply: patches have the same result as with github.com/evanphx/json-patch. Refusals have its words, for the first
// operation that it refuses.
func FuzzApply(f *testing.F) {
	const doc = `{"extra":{"a":[1,[2],{"b":null}],"c/d":{"~":"x"},"s":"text"},"name":null}`
	for _, path := range []string{"/extra/a/0", "/extra/a/3", "/extra/a/4", "/extra/a/-", "/extra/a/-1", "/extra/a/-4",
		"/extra/a/-9", "/extra/a/x", "/extra/a/99999999999999999999", "/extra/a/1/0", "/extra/a/2/b", "/extra/a/2/b/c",
		"/extra/a/7/b", "/extra/c~1d/~0", "/extra/s/0", "/extra/new", "/extra/new/er", "/name", "/name/a"} {
		for _, op := range []string{"add", "replace", "remove"} {
			f.Add(doc, fmt.Sprintf(`[{"op":"add","path":"/extra/z","value":{"k":[]}},{"op":%q,"path":%q,"value":{"v":[1]}},
				{"op":"add","path":"/extra/z/k/-","value":3},{"op":"remove","path":"/extra/z/none"}]`, op, path))
			f.Add(doc, fmt.Sprintf(`[{"op":%q,"path":%q,"value":null},{"op":%[1]q,"path":%[2]q,"value":[]}]`, op, path))
		}
	}
	f.Fuzz(func(t *testing.T, text, patch string) {
		ops := patchOf(t, patch)
		var doc map[string]any
		if json.Unmarshal([]byte(text), &doc) != nil || doc == nil {
			t.Skip("no document")
		}
		before, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		got, failed := applyAll(before, ops)
		for _, o := range ops {
			before, err = byLibrary(before, o)
			if err != nil {
				want := BadRequest("Couldn't apply patch '%.400s'. Reason: %.400v", Python(o.Raw), err)
				if failed == nil || failed.Error() != want.Error() {
					t.Errorf("error %v, want %v", failed, want)
				}
				return
			}
		}
		var want map[string]any
		if err := json.Unmarshal(before, &want); err != nil {
			t.Fatal(err)
		}
		if failed != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v, %v, want %v", got, failed, want)
		}
	})
}

func byLibrary(doc []byte, o Operation) ([]byte, error) {
	raw, err := json.Marshal([]any{o.Raw})
	if err != nil {
		return nil, err
	}
	p, err := jsonpatch.DecodePatch(raw)
	if err != nil {
		return nil, err
	}
	return p.Apply(doc)
}

// TestRefusedPatchIsCheap: each operation of a refused patch is carried out once, and copies no list.
func TestRefusedPatchIsCheap(t *testing.T) {
	doc := []byte(`{"extra":{"a":[1` + strings.Repeat(",1", 30000) + `]}}`)
	ops := patchOf(t, "["+strings.Repeat(`{"op":"add","path":"/extra/a/0","value":1},`, maxOperations-1)+
		`{"op":"remove","path":"/extra/zz"}]`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := applyAll(doc, ops)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "unable to remove nonexistent key: zz: missing value") {
		t.Errorf("refused with %v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("%d bytes of memory for %d operations", took, len(ops))
	}
	huge := []byte(`{"extra":[1` + strings.Repeat(",1", nodeapi.MaxField) + `]}`)
	_, err = applyAll(huge, patchOf(t, `[{"op":"add","path":"/extra/0","value":1}]`))
	if err == nil || !strings.Contains(err.Error(), "the list has 65537 elements, the limit is 65536") {
		t.Errorf("a list that no field can hold: %v", err)
	}
}
