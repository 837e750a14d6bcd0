package configdrive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Label is the volume label by which a config drive is found.
const Label = "config-2"

// MaxSize bounds a config drive, in bytes, as Ironic does.
const MaxSize = 64 << 20

// ErrInvalid is wrapped by the error for every config drive that is refused for its
// content.
var ErrInvalid = errors.New("config drive")

// Data is the content of a config drive. The documents are JSON as OpenStack's
// metadata service has them; empty ones are left out, except meta_data.
type Data struct {
	MetaData    json.RawMessage
	NetworkData json.RawMessage
	VendorData  json.RawMessage
	UserData    []byte // any text: cloud-config, a script, ignition JSON
}

// Parse reads the JSON object Ironic's API takes for a config drive: meta_data,
// network_data and vendor_data are objects, user_data is a string, or an
// object or array that is passed on as JSON text.
func Parse(raw []byte) (Data, error) {
	var in struct {
		MetaData    json.RawMessage `json:"meta_data"`
		NetworkData json.RawMessage `json:"network_data"`
		VendorData  json.RawMessage `json:"vendor_data"`
		UserData    json.RawMessage `json:"user_data"`
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return Data{}, fmt.Errorf("%w: expected an object of meta_data, network_data, vendor_data and user_data: %w",
			ErrInvalid, err)
	}
	d := Data{MetaData: in.MetaData, NetworkData: in.NetworkData, VendorData: in.VendorData}
	for _, doc := range d.documents() {
		if err := isObject(doc.content); err != nil {
			return Data{}, fmt.Errorf("%w: %s: %w", ErrInvalid, doc.name, err)
		}
	}
	var err error
	d.UserData, err = userData(in.UserData)
	return d, err
}

// userData takes a string as it is and anything else as JSON text.
func userData(raw json.RawMessage) ([]byte, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	switch raw[0] {
	case '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, fmt.Errorf("%w: user_data: %w", ErrInvalid, err)
		}
		return []byte(s), nil
	case '{', '[':
		return raw, nil
	}
	return nil, fmt.Errorf("%w: user_data: expected a string, an object or an array", ErrInvalid)
}

// isObject checks that a document is a JSON object or absent.
func isObject(raw json.RawMessage) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var m map[string]json.RawMessage
	err := json.Unmarshal(raw, &m)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("expected an object, found %s", wrong.Value)
	}
	return err
}

// document is a file of the drive.
type document struct {
	name    string
	content json.RawMessage
}

// documents are the JSON documents and their file names.
func (d Data) documents() []document {
	return []document{
		{"meta_data.json", d.MetaData},
		{"network_data.json", d.NetworkData},
		{"vendor_data.json", d.VendorData},
	}
}

// WithDefaults returns d with uuid, name and hostname added to meta_data where they are missing, as Ironic does. An
// empty value stays empty.
func (d Data) WithDefaults(uuid, name string) (Data, error) {
	meta := map[string]json.RawMessage{}
	if len(d.MetaData) > 0 {
		if err := json.Unmarshal(d.MetaData, &meta); err != nil {
			return Data{}, fmt.Errorf("%w: meta_data: %w", ErrInvalid, err)
		}
	}
	if meta == nil { // it was null
		meta = map[string]json.RawMessage{}
	}
	for _, v := range [][2]string{{"uuid", uuid}, {"name", name}, {"hostname", name}} {
		if _, has := meta[v[0]]; has || v[1] == "" {
			continue
		}
		text, err := json.Marshal(v[1])
		if err != nil {
			return Data{}, fmt.Errorf("%w: meta_data: %w", ErrInvalid, err)
		}
		meta[v[0]] = text
	}
	var err error
	if d.MetaData, err = json.Marshal(meta); err != nil {
		return Data{}, fmt.Errorf("%w: meta_data: %w", ErrInvalid, err)
	}
	return d, nil
}

// ISO makes the image. The files lie in openstack/latest, where every reader
// of config drives looks when it knows no dated version better.
func (d Data) ISO() ([]byte, error) {
	files := map[string][]byte{}
	for _, doc := range d.documents() {
		if len(doc.content) > 0 && string(doc.content) != "null" {
			files["openstack/latest/"+doc.name] = doc.content
		}
	}
	if files["openstack/latest/meta_data.json"] == nil {
		files["openstack/latest/meta_data.json"] = []byte("{}")
	}
	if len(d.UserData) > 0 {
		files["openstack/latest/user_data"] = d.UserData
	}
	return Build(Label, files)
}
