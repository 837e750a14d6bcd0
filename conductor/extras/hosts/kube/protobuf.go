package kube

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// protobufType is the media type of Kubernetes' own form of bodies. kubectl 1.32 and later uses it for documents that
// it makes by itself. It is an envelope with kind and apiVersion around a message of k8s.io's generated.proto files.
const protobufType = "application/vnd.kubernetes.protobuf"

// protobufMagic begins every such body.
var protobufMagic = []byte("k8s\x00")

// message is the fields that a message has, by their numbers.
type message map[protowire.Number]field

// field has a field's name in JSON, and its reader.
type field struct {
	name string
	read reader
	many bool // it comes once for each element of a list
}

// reader turns a field's value into JSON; was is the field's earlier value, if it is not a list.
type reader struct {
	wire protowire.Type
	take func(was any, value []byte, number uint64) (any, error)
}

// envelope is runtime.Unknown of k8s.io/apimachinery.
var envelope = message{
	1: {
		name: "typeMeta",
		read: readMessage(message{1: {name: "apiVersion", read: readString}, 2: {name: "kind", read: readString}}),
	},
	2: {name: "raw", read: readRaw},
	3: {name: "contentEncoding", read: readString},
	4: {name: "contentType", read: readString},
}

// fromProtobuf reads a body with a message of this shape, as the object that JSON would have. A field that the shape
// lacks gets its number as name, so that it is reported like any other unknown field.
func fromProtobuf(body []byte, shape message) (map[string]any, error) {
	rest, ok := bytes.CutPrefix(body, protobufMagic)
	if !ok {
		return nil, badRequest("the body is no Kubernetes protobuf: it does not begin with %q", protobufMagic)
	}
	outer, err := decode(nil, rest, envelope)
	if err != nil {
		return nil, badRequest("the envelope of the body is no Kubernetes protobuf: %v", err)
	}
	for _, name := range []string{"contentEncoding", "contentType"} {
		if outer[name] != nil {
			return nil, badRequest("the envelope of the body has the %s %q: expected none", name, outer[name])
		}
	}
	packed, _ := outer["raw"].([]byte)
	doc, err := decode(nil, packed, shape)
	if err != nil {
		return nil, badRequest("the body is no such protobuf message: %v", err)
	}
	about, _ := outer["typeMeta"].(map[string]any)
	for name, value := range about {
		doc[name] = value
	}
	return doc, nil
}

// maxField bounds the numbers of unknown fields that are reported.
const maxField = 200

// decode adds the fields of a message to an object. Text that is empty is as if it
// were not there: Kubernetes writes that, too.
func decode(into map[string]any, b []byte, shape message) (map[string]any, error) {
	if into == nil {
		into = map[string]any{}
	}
	for len(b) > 0 {
		number, wire, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		b = b[n:]
		f, known := shape[number]
		if n = protowire.ConsumeFieldValue(number, wire, b); n < 0 {
			return nil, fmt.Errorf("field %d: %w", number, protowire.ParseError(n))
		}
		value := b[:n]
		b = b[n:]
		if !known && number > maxField {
			return nil, fmt.Errorf("field %d: no message of Kubernetes has so many", number)
		}
		if !known {
			into[fmt.Sprintf("(field %d)", number)] = nil
			continue
		}
		if wire != f.read.wire {
			return nil, fmt.Errorf("%s has wire type %d, expected %d", f.name, wire, f.read.wire)
		}
		if err := f.add(into, value); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return into, nil
}

// add reads one value of a field, as it is on the wire, into an object.
func (f field) add(into map[string]any, wire []byte) error {
	var value []byte
	var number uint64
	if f.read.wire == protowire.VarintType {
		number, _ = protowire.ConsumeVarint(wire)
	} else {
		value, _ = protowire.ConsumeBytes(wire)
	}
	if f.many {
		v, err := f.read.take(nil, value, number)
		list, _ := into[f.name].([]any)
		into[f.name] = append(list, v)
		return err
	}
	v, err := f.read.take(into[f.name], value, number)
	if v != "" {
		into[f.name] = v
	}
	return err
}

// How fields are read.
var (
	readString = reader{protowire.BytesType, func(_ any, b []byte, _ uint64) (any, error) {
		if !utf8.Valid(b) {
			return nil, fmt.Errorf("%q is no text in UTF-8", b)
		}
		return string(b), nil
	}}
	readRaw   = reader{protowire.BytesType, func(_ any, b []byte, _ uint64) (any, error) { return b, nil }}
	readBytes = reader{
		protowire.BytesType, func(_ any, b []byte, _ uint64) (any, error) {
			return base64.StdEncoding.EncodeToString(b), nil
		},
	}
	readInt = reader{protowire.VarintType, func(_ any, _ []byte, n uint64) (any, error) {
		return int64(n), nil
	}} //nolint:gosec // int64 on the wire
	readBool = reader{protowire.VarintType, func(_ any, _ []byte, n uint64) (any, error) { return n != 0, nil }}
	readTime = reader{protowire.BytesType, takeMoment}
)

// readMessage reads a message in a message; several are one, as protobuf has it.
func readMessage(shape message) reader {
	return reader{protowire.BytesType, func(was any, b []byte, _ uint64) (any, error) {
		is, _ := was.(map[string]any)
		return decode(is, b, shape)
	}}
}

// readMap reads an entry of a map from text to something.
func readMap(value reader) reader {
	entry := message{1: {name: "key", read: readString}, 2: {name: "value", read: value}}
	return reader{protowire.BytesType, func(was any, b []byte, _ uint64) (any, error) {
		all, _ := was.(map[string]any)
		if all == nil {
			all = map[string]any{}
		}
		e, err := decode(nil, b, entry)
		if err != nil {
			return nil, err
		}
		key, _ := e["key"].(string)
		all[key] = ""
		if v, ok := e["value"]; ok {
			all[key] = v
		}
		return all, nil
	}}
}

// takeMoment reads a Time, of which none is empty.
func takeMoment(_ any, b []byte, _ uint64) (any, error) {
	t, err := decode(nil, b, message{1: {name: "seconds", read: readInt}, 2: {name: "nanos", read: readInt}})
	if err != nil || len(t) == 0 {
		return nil, err
	}
	seconds, _ := t["seconds"].(int64)
	at := time.Unix(seconds, 0).UTC()
	if at.Year() < 1 || at.Year() > 9999 {
		return nil, fmt.Errorf("%d seconds since 1970 are no time of the years 1 to 9999", seconds)
	}
	return at.Format(time.RFC3339), nil
}
