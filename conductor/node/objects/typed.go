package objects

import (
	"context"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// document is a pointer to a type of documents.
type document[T any] interface {
	*T
	hostapi.Document
}

// kindOf is the kind that a type of documents is of.
func kindOf[T any, P document[T]]() string {
	for _, k := range hostapi.Kinds() {
		if _, ok := k.New().(P); ok {
			return k.Kind
		}
	}
	return ""
}

// value is a document as its type.
func value[T any, P document[T]](d hostapi.Document, err error) (T, error) {
	var none T
	if err != nil {
		return none, err
	}
	return *d.(P), nil
}

// named sets the kind of a document.
func named[T any, P document[T]](d T) hostapi.Document {
	P(&d).About().Kind = kindOf[T, P]()
	return P(&d)
}

// Get reads a document.
func Get[T any, P document[T]](ctx context.Context, k *Keeper, namespace, name string) (T, error) {
	return value[T, P](k.Get(ctx, Key{Kind: kindOf[T, P](), Namespace: namespace, Name: name}))
}

// List reads the documents of a namespace, or of all with "", and returns the revision from which to follow them. Its
// error may be an *UnreadableError.
func List[T any, P document[T]](ctx context.Context, k *Keeper, namespace string) ([]T, int64, error) {
	docs, revision, err := k.List(ctx, Query{Kind: kindOf[T, P](), Namespace: namespace})
	all := make([]T, len(docs))
	for i, d := range docs {
		all[i] = *d.(P)
	}
	return all, revision, err
}

// Create adds a document; see Keeper.Create.
func Create[T any, P document[T]](ctx context.Context, k *Keeper, d T) (T, error) {
	return value[T, P](k.Create(ctx, named[T, P](d), false))
}

// Update replaces all of a document but its status.
func Update[T any, P document[T]](ctx context.Context, k *Keeper, d T) (T, error) {
	return value[T, P](k.Update(ctx, named[T, P](d), Main, false))
}

// UpdateStatus replaces the status of a document alone.
func UpdateStatus[T any, P document[T]](ctx context.Context, k *Keeper, d T) (T, error) {
	return value[T, P](k.Update(ctx, named[T, P](d), Status, false))
}

// Save replaces all of a document in one write, unchecked: it is for controllers that maintain documents.
func Save[T any, P document[T]](ctx context.Context, k *Keeper, d T) (T, error) {
	return value[T, P](k.Update(ctx, named[T, P](d), All, false))
}

// Delete deletes a document; see Keeper.Delete.
func Delete[T any, P document[T]](ctx context.Context, k *Keeper, namespace, name string,
	o DeleteOptions) (T, bool, error) {
	d, gone, err := k.Delete(ctx, Key{Kind: kindOf[T, P](), Namespace: namespace, Name: name}, o)
	v, err := value[T, P](d, err)
	return v, gone, err
}
