package host

import (
	"encoding/json"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// documentList is documents as listed: whole, or as a table.
type documentList struct {
	Kind       string              `json:"kind"`
	APIVersion string              `json:"apiVersion"`
	Metadata   wait.ListMetadata   `json:"metadata"`
	Items      []json.RawMessage   `json:"items,omitempty"`
	Columns    []output.GridColumn `json:"columnDefinitions,omitempty"`
	Rows       []output.GridRow    `json:"rows,omitempty"`
}

// documents returns the metadata of all entries of a list.
func (l documentList) documents() (all []hostapi.ObjectMeta) {
	for _, r := range l.Rows {
		all = append(all, r.Object.Metadata)
	}
	for _, item := range l.Items {
		all = append(all, documentsIn(item)...)
	}
	return all
}

// documentsIn are the metadata of a document, or of the rows of a table.
func documentsIn(object json.RawMessage) []hostapi.ObjectMeta {
	var d struct {
		Metadata hostapi.ObjectMeta
		Rows     []output.GridRow
	}
	if json.Unmarshal(object, &d) != nil {
		return nil
	}
	if d.Rows == nil {
		return []hostapi.ObjectMeta{d.Metadata}
	}
	var all []hostapi.ObjectMeta
	for _, r := range d.Rows {
		all = append(all, r.Object.Metadata)
	}
	return all
}
