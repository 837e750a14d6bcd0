package imports

import (
	"bytes"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// verdicts are the results for all differences.
type verdicts struct {
	changes, kept, conflicts []node.Difference
	take                     []func(to, from *node.Bundle)
}

var zeroTime time.Time

// compare judges every item that differs. Base, of the last import from the same source, shows which side has changed
// it. A change only there is taken, a change only here stays, and anything else is a conflict.
func compare(ours, there node.Bundle, source string, overwrite bool) (v verdicts) {
	here, theirs := items(&ours), items(&there)
	base := map[string]string{}
	imported := ours.Node.Import != nil && ours.Node.Import.Source == source
	if imported {
		base = ours.Node.Import.Base
	}
	for _, name := range namesOf(here, theirs) {
		o, t := document(here[name].value), document(theirs[name].value)
		if bytes.Equal(o, t) {
			continue
		}
		d := node.Difference{Item: name, Here: public(o), There: public(t),
			Secret: !isNull(o) && !isNull(t) && !same(secrets(o), secrets(t))}
		was, known := base[name]
		if imported && !known { // it was absent there
			was, known = digest(document(nil)), true
		}
		mine, other := digest(o), digest(t)
		switch take := taking(here[name], theirs[name]); {
		case !known && theirs[name].take == nil: // a record that only this side has
			v.kept = append(v.kept, d)
		case overwrite, known && mine == was && !d.Secret:
			v.changes, v.take = append(v.changes, d), append(v.take, take)
		case known && other == was && !d.Secret:
			v.kept = append(v.kept, d)
		default:
			v.conflicts = append(v.conflicts, d)
		}
	}
	return v
}

func isNull(raw []byte) bool { return string(raw) == "null" }

// taking is how an item is taken over, which one of the sides at least has.
func taking(here, there item) func(to, from *node.Bundle) {
	if there.take != nil {
		return there.take
	}
	return here.take
}
