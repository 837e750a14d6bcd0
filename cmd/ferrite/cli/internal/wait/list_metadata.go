package wait

// ListMetadata is the metadata of a list of documents.
type ListMetadata struct {
	ResourceVersion string `json:"resourceVersion"`
	Continue        string `json:"continue,omitempty"`
}
