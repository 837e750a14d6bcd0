package host

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// lastApplied is the annotation with the document as applied last. It is kubectl's, to the byte, so that one document
// can be applied by either in turn.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// annotate writes a document, without the annotation itself, into its annotation lastApplied.
func annotate(object map[string]any) error {
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		return fmt.Errorf("metadata: expected an object, found %s", output.Cell(object["metadata"]))
	}
	notes, ok := meta["annotations"].(map[string]any)
	if !ok {
		notes = map[string]any{}
		meta["annotations"] = notes
	}
	delete(notes, lastApplied)
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	notes[lastApplied] = string(text) + "\n"
	return nil
}

// appliedBefore returns the document as applied last; nil and false where the annotation is missing.
func appliedBefore(current map[string]any) (original map[string]any, ok bool, err error) {
	meta, _ := current["metadata"].(map[string]any)
	notes, _ := meta["annotations"].(map[string]any)
	text, ok := notes[lastApplied].(string)
	if !ok {
		return nil, false, nil
	}
	if original, err = parseObject([]byte(text)); err != nil {
		return nil, true, fmt.Errorf("metadata.annotations[%s]: %w; remove the annotation to have the document applied as "+
			"if for the first time",
			lastApplied, err)
	}
	return original, true, nil
}

// threeWay returns the merge patch (RFC 7386) from the current document to the applied one. It sets the fields of
// modified. It removes the fields of original that modified lacks. Other fields stay, since they belong to other
// clients. Null counts as missing. Lists are replaced whole.
func threeWay(original, modified, current map[string]any) map[string]any {
	patch := map[string]any{}
	for key, want := range modified {
		if want == nil {
			continue
		}
		have, there := current[key]
		wanted, isObject := want.(map[string]any)
		had, wasObject := have.(map[string]any)
		switch {
		case isObject && wasObject:
			before, _ := original[key].(map[string]any)
			if part := threeWay(before, wanted, had); len(part) > 0 {
				patch[key] = part
			}
		case !there || !reflect.DeepEqual(have, want):
			patch[key] = want
		}
	}
	for key := range original {
		if _, there := current[key]; there && modified[key] == nil {
			patch[key] = nil
		}
	}
	return patch
}

// placeholder is the API's mask of a password. In a Secret it marks a value that the user must fill in.
const placeholder = nodeapi.Masked

// filledIn refuses a Secret that still contains placeholders.
func filledIn(m manifest) error {
	if m.kind.Kind != hostapi.KindSecret {
		return nil
	}
	values, _ := m.object["stringData"].(map[string]any)
	for _, key := range output.Sorted(values) {
		if values[key] == placeholder {
			return fmt.Errorf("stringData.%s: it is still %s, which stands for a hidden value: write the real "+
				"value there", key, placeholder)
		}
	}
	return nil
}
