package redfish

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// mend brings a document to the kinds that the Go types into expect. encoding/json, and with it gofish, gives up a
// whole document for one number that is text (stmcginnis/gofish#99, #409, #532, #545).
//
// The strategy is to ask each type by decoding. A part of the document that it refuses is halved until the odd property
// is found. That property is brought to another kind, or left out. So a type needs no description, and oddities within
// gofish's own decoders are found too. Our types have int32 for counts: 4294967295, which some BMCs write for none, is
// left out.
//
// A document that is not an object stays as it is. A document that exceeds the bounds is an error.
func mend(ctx context.Context, path string, body []byte, into ...reflect.Type) (mended []byte, odd []Oddity,
	err error) {
	for _, t := range into {
		m := mender{ctx: ctx, path: path, into: t, left: maxDecodings, text: maxDecoded}
		if m.decodes(body) {
			continue
		}
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber() // a size in bytes keeps its digits
		var doc map[string]any
		if !json.Valid(body) || decoder.Decode(&doc) != nil || doc == nil { // a decoder reads one value of several
			return body, odd, nil
		}
		m.members(nil, doc)
		if m.err != nil {
			return body, odd, m.err
		}
		if text, err := json.Marshal(doc); err == nil {
			body, odd = text, append(odd, m.odd[:min(len(m.odd), maxOddities)]...)
		}
	}
	return body, odd, nil
}

// Bounds of mending one document, which a hostile BMC may fill with odd values: these values, the decodings, and bytes
// of them all. A registry of BIOS settings has 700, each with some ten values.
const (
	maxMended    = 2000
	maxDecodings = 20000
	maxDecoded   = 16 << 20
)

// mender brings a document to one type.
type mender struct {
	ctx  context.Context //nolint:containedctx // of mend alone
	path string
	into reflect.Type
	left int // decodings
	text int // bytes
	odd  []Oddity
	err  error // the mending was given up
}

// decodes reports whether the type takes a document. A decoder of the type's own is called directly: json.Unmarshal
// would read all of it twice before.
func (m *mender) decodes(body []byte) bool {
	v := reflect.New(m.into).Interface()
	if own, ok := v.(json.Unmarshaler); ok {
		return own.UnmarshalJSON(body) == nil
	}
	return json.Unmarshal(body, v) == nil
}

// place is where in a document a value is: names of properties, and whole numbers for items of lists.
type place []any

func (p place) to(step any) place { return append(slices.Clip(p), step) }

func (p place) String() string {
	var text strings.Builder
	for i, step := range p {
		switch name, ok := step.(string); {
		case !ok:
			fmt.Fprintf(&text, "[%d]", step)
		case i == 0:
			text.WriteString(name)
		default:
			text.WriteString("." + name)
		}
	}
	return text.String()
}

// takes reports whether the type takes a document with nothing but v at a place. Once the mending is given up, it takes
// all, which ends it.
func (m *mender) takes(at place, v any) bool {
	if m.left--; m.err == nil && (m.left < 0 || m.text < 0 || len(m.odd) > maxMended) {
		m.err = &documentError{m.path, fmt.Sprintf("more of its values are of a wrong kind than the %d that are corrected, "+
			"or they are too long: update the BMC's firmware", maxMended)}
	}
	if m.err = cmp.Or(m.err, m.ctx.Err()); m.err != nil {
		return true
	}
	for _, step := range slices.Backward(at) {
		if name, ok := step.(string); ok {
			v = map[string]any{name: v}
		} else {
			v = []any{v}
		}
	}
	text, err := json.Marshal(v)
	m.text -= len(text)
	return err == nil && m.decodes(text)
}

// members mends the properties of an object.
func (m *mender) members(at place, doc map[string]any) {
	halve(slices.Sorted(maps.Keys(doc)), func(names []string) bool {
		part := map[string]any{}
		for _, name := range names {
			part[name] = doc[name]
		}
		return m.takes(at, part)
	}, func(name string) {
		if v, ok := m.value(at.to(name), doc[name]); ok {
			doc[name] = v
		} else {
			delete(doc, name)
		}
	})
}

// items mends the items of a list; those that are left out make it shorter.
func (m *mender) items(at place, list []any) []any {
	out := map[int]bool{}
	numbers := make([]int, len(list))
	for i := range numbers {
		numbers[i] = i
	}
	halve(numbers, func(some []int) bool { return m.takes(at, list[some[0]:some[0]+len(some)]) }, func(i int) {
		var ok bool
		if list[i], ok = m.value(at.to(i), list[i]); !ok {
			out[i] = true
		}
	})
	kept := []any{}
	for i, v := range list {
		if !out[i] {
			kept = append(kept, v)
		}
	}
	return kept
}

// halve finds the items that are not good, and mends each. The caller knows that all together are not good.
func halve[T any](all []T, good func([]T) bool, mend func(T)) {
	switch half := len(all) / 2; {
	case len(all) == 1:
		mend(all[0])
	case len(all) > 1:
		first, second := all[:half], all[half:]
		fine := good(first)
		if !fine {
			halve(first, good, mend)
		}
		if fine && len(second) > 1 || !good(second) { // where only the second can be at fault, it is not asked as a whole
			halve(second, good, mend)
		}
	}
}

// value returns v in a form that the type takes; ok is false where it takes none.
func (m *mender) value(at place, v any) (mended any, ok bool) {
	switch v := v.(type) {
	case map[string]any:
		if m.takes(at, map[string]any{}) {
			m.members(at, v)
			return v, true
		}
	case []any:
		if m.takes(at, []any{}) {
			return m.items(at, v), true
		}
	}
	done := "left out"
	for _, r := range forms(v) {
		if ok = m.takes(at, r.value); ok {
			mended, done = r.value, "read as "+r.kind
			break
		}
	}
	m.odd = append(m.odd, Oddity{Path: m.path, Field: at.String(), Kind: nodeapi.JSONKind(v), Done: done})
	return mended, ok
}
