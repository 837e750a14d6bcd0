package hostapi

import "slices"

// ConditionOf is a condition of this type; zero for none.
func ConditionOf(all []Condition, kind string) (c Condition) {
	if i := slices.IndexFunc(all, func(c Condition) bool { return c.Type == kind }); i >= 0 {
		c = all[i]
	}
	return c
}

// WithCondition is conditions with one as it becomes. While its status stays, the time
// of its last change does too.
func WithCondition(all []Condition, c Condition) []Condition {
	all = slices.Clone(all)
	i := slices.IndexFunc(all, func(other Condition) bool { return other.Type == c.Type })
	if i < 0 {
		return append(all, c)
	}
	if all[i].Status == c.Status {
		c.LastTransitionTime = all[i].LastTransitionTime
	}
	all[i] = c
	return all
}

// ConditionStatus is the status of a condition that holds or not.
func ConditionStatus(holds bool) string {
	if holds {
		return True
	}
	return False
}

// WithoutFinalizer is the finalizers of a document without one. The slice is not changed.
func WithoutFinalizer(all []string, gone string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(f string) bool { return f == gone })
}

// WithOwner is the owners of a document with this one among them. It takes the place
// of an earlier one of its name. A document without an owner would outlive its host.
func WithOwner(owners []OwnerReference, kind string, by ObjectMeta) []OwnerReference {
	reference := OwnerReference{APIVersion: APIVersion, Kind: kind, Name: by.Name, UID: by.UID}
	i := slices.IndexFunc(owners, func(o OwnerReference) bool { return o.Kind == kind && o.Name == by.Name })
	switch {
	case i < 0:
		return append(slices.Clone(owners), reference)
	case owners[i].UID != by.UID:
		owners = slices.Clone(owners)
		owners[i] = reference
	}
	return owners
}
