package hostapi

// Namespace is core/v1's: documents in it have names of their own.
type Namespace struct {
	TypeMeta
	ObjectMeta `json:"metadata" doc:"Metadata that all documents share."`

	Spec   NamespaceSpec   `json:"spec,omitzero" doc:"Read for the sake of documents that have one."`
	Status NamespaceStatus `json:"status,omitzero" doc:"The state of the namespace."`
}

// NamespaceSpec is here for documents that have one.
type NamespaceSpec struct {
	Finalizers []string `json:"finalizers,omitempty" doc:"Read, not acted on."`
}

// NamespaceStatus is how a namespace is.
type NamespaceStatus struct {
	Phase string `json:"phase,omitempty" doc:"Active: a namespace is deleted when it is empty, and then it is gone."`
}

// NamespaceActive is the one phase there is: a namespace is deleted when it is
// empty, and then it is gone.
const NamespaceActive = "Active"

// DefaultNamespace is where documents are that name none.
const DefaultNamespace = "default"

// SetDefaults says that the namespace is there.
func (n *Namespace) SetDefaults() { n.Status.Phase = NamespaceActive }
