package reconciler

import (
	"context"
	"reflect"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// noSwitches is the look at documents about switches, of which none is acted upon: it sets the condition that says so.
// statusOf is the status of a document.
func noSwitches[T any, P document[T]](r *Reconciler, statusOf func(*T) *hostapi.SwitchStatus) func(context.Context,
	key) (next, error) {
	return func(ctx context.Context, k key) (next, error) {
		d, err := getIfAny[T, P](ctx, r.Documents, k.namespace, k.name)
		if d == nil || err != nil {
			return next{}, err
		}
		st := statusOf(d)
		conditions := hostapi.WithCondition(st.Conditions, hostapi.Condition{Type: hostapi.ConditionValid,
			Status: hostapi.False, Reason: "NoSwitches", Message: hostapi.NoSwitches,
			ObservedGeneration: P(d).Meta().Generation, LastTransitionTime: hostapi.At(r.Now())})
		if reflect.DeepEqual(conditions, st.Conditions) {
			return next{}, nil
		}
		st.Conditions = conditions
		_, err = objects.Save[T, P](ctx, r.Documents, *d)
		return next{}, overtaken(err)
	}
}
