package output

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValues(t *testing.T) {
	got, err := Pairs("property", []string{"cpus=4", "arch=x86_64", "a=b=c", `m={"k":[1]}`, "e="}, JsonOrText)
	want := map[string]any{"cpus": 4.0, "arch": "x86_64", "a": "b=c", "m": map[string]any{"k": []any{1.0}}, "e": ""}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	got, err = Pairs("driver-info", []string{"password=12345", "verify=false"}, MostlyText)
	if diff := cmp.Diff(map[string]any{"password": "12345", "verify": false}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
