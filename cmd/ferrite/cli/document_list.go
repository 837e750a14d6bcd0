package cli

import (
	"encoding/json"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// documentList is documents as listed: whole, or as a table.
type documentList struct {
	Kind       string            `json:"kind"`
	APIVersion string            `json:"apiVersion"`
	Metadata   listMetadata      `json:"metadata"`
	Items      []json.RawMessage `json:"items,omitempty"`
	Columns    []gridColumn      `json:"columnDefinitions,omitempty"`
	Rows       []gridRow         `json:"rows,omitempty"`
}

type listMetadata struct {
	ResourceVersion string `json:"resourceVersion"`
	Continue        string `json:"continue,omitempty"`
}

// documents are the metadata of what a list has.
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
		Rows     []gridRow
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
