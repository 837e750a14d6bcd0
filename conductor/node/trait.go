package node

import "regexp"

// MaxTraits is how many traits a node may have, as in Ironic.
const MaxTraits = 50

// A trait is an operator's own, or one of those the os-traits project has
// standardised, which all begin with one of five words. Ironic has the list of
// the os-traits release beside it; the form alone does not refuse a trait only
// because it is newer than us.
var traitForm = regexp.MustCompile(`^(CUSTOM|COMPUTE|HW|MISC|OWNER|STORAGE)_[A-Z0-9_]+$`)

// ValidTrait reports whether name has the form of a trait.
func ValidTrait(name string) bool { return len(name) <= 255 && traitForm.MatchString(name) }
