package host

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/suggest"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// unknownField is how the server names a field that no document has.
var unknownField = regexp.MustCompile(`unknown field \\?"([^"\\]+)`)

// explainMisspelt names the field that was meant, and the ways on.
func explainMisspelt(err error, kind hostapi.Kind) error {
	near := ""
	if m := unknownField.FindStringSubmatch(err.Error()); m != nil {
		path := strings.Split(m[1], ".")
		last := path[len(path)-1]
		path[len(path)-1] = ""
		known := map[string]bool{}
		for _, document := range []any{hostapi.Host{}, hostapi.DataImage{}, hostapi.HostFirmwareComponents{},
			hostapi.HostFirmwareSettings{}, hostapi.FirmwareSchema{}} {
			fieldNames(reflect.TypeOf(document), known)
		}
		near = suggest.DidYouMean(last, strings.Join(path, "."), output.Sorted(known))
	}
	return fmt.Errorf("%w%s\n  correct its name, or have it left out by --validate=warn; ferrite get %s -o yaml shows "+
		"names that are known", err, near, kindNames(kind)[0])
}

// fieldNames adds the names of all fields of a type, also of those within.
func fieldNames(t reflect.Type, known map[string]bool) {
	if k := t.Kind(); k == reflect.Pointer || k == reflect.Slice || k == reflect.Map {
		fieldNames(t.Elem(), known)
	}
	if t.Kind() != reflect.Struct {
		return
	}
	for f := range t.NumField() {
		field := t.Field(f)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if known[name] || !field.IsExported() {
			continue
		}
		if name != "" && name != "-" {
			known[name] = true
		}
		fieldNames(field.Type, known)
	}
}
