package hostapi

import (
	"bytes"
	"fmt"
	"time"
)

// TypeMeta names the kind of a document.
type TypeMeta struct {
	Kind       string `json:"kind,omitempty" doc:"Which kind of document this is."`
	APIVersion string `json:"apiVersion,omitempty" doc:"The group and version of its shape."`
}

// About returns the TypeMeta, for code that handles all kinds.
func (t *TypeMeta) About() *TypeMeta { return t }

// ObjectMeta is the metadata that all documents share. The server alone writes UID, ResourceVersion, Generation and
// the timestamps.
type ObjectMeta struct {
	Name              string            `json:"name,omitempty" rule:"form=name" doc:"Name of the document, unique in its namespace and kind."`
	GenerateName      string            `json:"generateName,omitempty" doc:"Beginning of a name that the server completes, for documents without a name."`
	Namespace         string            `json:"namespace,omitempty" rule:"form=label" doc:"Namespace the document is in."`
	UID               string            `json:"uid,omitempty" doc:"Identity of this very document, given by the server and never given again."`
	ResourceVersion   string            `json:"resourceVersion,omitempty" doc:"Version of the document. A change that names an older one is refused."`
	Generation        int64             `json:"generation,omitempty" doc:"Counts the changes of the spec, by the server."`
	CreationTimestamp Time              `json:"creationTimestamp,omitzero" doc:"When the document was made."`
	DeletionTimestamp *Time             `json:"deletionTimestamp,omitempty" doc:"When its deletion was asked for. It goes with its last finalizer."`
	DeletionGrace     *int64            `json:"deletionGracePeriodSeconds,omitempty" doc:"Always 0 of a document that is being deleted."`
	Labels            map[string]string `json:"labels,omitempty" rule:"form=labels" doc:"Words to select documents by."`
	Annotations       map[string]string `json:"annotations,omitempty" rule:"form=annotations" doc:"Notes on the document, some of which hosts are steered by."`
	OwnerReferences   []OwnerReference  `json:"ownerReferences,omitempty" doc:"Documents this one goes with when the last of them is deleted."`
	Finalizers        []string          `json:"finalizers,omitempty" rule:"form=qualified" doc:"Tasks to finish, and to remove from this list, before the deleted document goes."`
}

// Meta returns the ObjectMeta, for code that handles all kinds.
func (m *ObjectMeta) Meta() *ObjectMeta { return m }

// OwnerReference is the document another one goes with.
type OwnerReference struct {
	APIVersion         string `json:"apiVersion" rule:"required" doc:"Group and version of the owner."`
	Kind               string `json:"kind" rule:"required" doc:"Kind of the owner."`
	Name               string `json:"name" rule:"required" doc:"Name of the owner."`
	UID                string `json:"uid" rule:"required" doc:"Identity of the owner."`
	Controller         *bool  `json:"controller,omitempty" doc:"Whether this owner manages the document."`
	BlockOwnerDeletion *bool  `json:"blockOwnerDeletion,omitempty" doc:"Whether an owner deleted in the foreground waits for the document."`
}

// ObjectReference names any document.
type ObjectReference struct {
	Kind            string `json:"kind,omitempty" doc:"Kind of the document."`
	Namespace       string `json:"namespace,omitempty" doc:"Its namespace."`
	Name            string `json:"name,omitempty" doc:"Its name."`
	UID             string `json:"uid,omitempty" doc:"Its identity."`
	APIVersion      string `json:"apiVersion,omitempty" doc:"Its group and version."`
	ResourceVersion string `json:"resourceVersion,omitempty" doc:"Its version."`
	FieldPath       string `json:"fieldPath,omitempty" doc:"A part of it."`
}

// SecretReference names a Secret; without a namespace, one of the host's own.
type SecretReference struct {
	Name      string `json:"name,omitempty" rule:"form=name" doc:"Name of a Secret."`
	Namespace string `json:"namespace,omitempty" rule:"form=label" doc:"Namespace of the Secret, which is the host's own."`
}

// Condition is one thing that is so, or not, with its reason.
type Condition struct {
	Type               string `json:"type" rule:"required" doc:"The fact that the condition is about."`
	Status             string `json:"status" rule:"required,enum=True/False/Unknown" doc:"Whether it is so."`
	ObservedGeneration int64  `json:"observedGeneration,omitempty" doc:"Generation of the document this is said of."`
	LastTransitionTime Time   `json:"lastTransitionTime" doc:"Since when it is so."`
	Reason             string `json:"reason" doc:"Why, in a word."`
	Message            string `json:"message" doc:"Why, in a sentence."`
}

// Values of Condition.Status.
const (
	True    = "True"
	False   = "False"
	Unknown = "Unknown"
)

// Time is a moment to the second, as Kubernetes writes it: RFC 3339 in UTC, and
// null for none.
type Time struct{ time.Time }

// At is a moment as documents have it.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Second)} }

// MarshalJSON writes RFC 3339, or null.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(t.UTC().Format(`"` + time.RFC3339 + `"`)), nil
}

// UnmarshalJSON reads the output of MarshalJSON, with or without fractions.
func (t *Time) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		*t = Time{}
		return nil
	}
	at, err := time.Parse(`"`+time.RFC3339+`"`, string(b))
	if err != nil {
		return fmt.Errorf("%s is no time: it is written like \"2006-01-02T15:04:05Z\"", b)
	}
	*t = At(at)
	return nil
}
