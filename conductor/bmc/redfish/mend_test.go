package redfish

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stmcginnis/gofish"
	"github.com/stmcginnis/gofish/schemas"
)

// TestMend: each value becomes a value that the type takes, or is left out, and its neighbours stay.
func TestMend(t *testing.T) {
	type inner struct {
		Text  string
		Count *uint
	}
	type doc struct {
		Text  string
		Count *uint
		Size  int64
		GiB   *float64
		On    bool
		Link  reference
		Links []reference
		Names []string
		Inner inner
		List  []inner
	}
	for _, c := range []struct {
		given, want string
		odd         []string
	}{
		{`{"Text": "a", "Size": 1}`, `{"Text": "a", "Size": 1}`, nil},
		{`{"Text": 12345678901234567, "Size": 1}`, `{"Size":1,"Text":"12345678901234567"}`, []string{"/d Text is a number, read as text"}},
		{`{"Text": true}`, `{"Text":"true"}`, []string{"/d Text is true or false, read as text"}},
		{`{"Text": ["a"]}`, `{"Text":"a"}`, []string{"/d Text is a list, read as its only item"}},
		{`{"Text": {"@odata.id": "/x"}}`, `{"Text":"/x"}`, []string{"/d Text is an object, read as the text of its link"}},
		{`{"Text": {"a": 1}, "Size": 2}`, `{"Size":2}`, []string{"/d Text is an object, left out"}},
		{`{"Count": "2"}`, `{"Count":2}`, []string{"/d Count is text, read as a number"}},
		{`{"Count": " 2.0 "}`, `{"Count":2}`, []string{"/d Count is text, read as a number"}},
		{`{"Count": 2.5}`, `{"Count":2}`, []string{"/d Count is a number, read as a whole number"}},
		{`{"Count": "N/A"}`, `{}`, []string{"/d Count is text, left out"}},
		{`{"Count": -1}`, `{}`, []string{"/d Count is a number, left out"}},
		{`{"Count": "1e999"}`, `{}`, []string{"/d Count is text, left out"}},
		{`{"Size": "9007199254740993"}`, `{"Size":9007199254740993}`, []string{"/d Size is text, read as a number"}},
		{`{"GiB": "64.5"}`, `{"GiB":64.5}`, []string{"/d GiB is text, read as a number"}},
		{`{"On": "Enabled"}`, `{"On":true}`, []string{"/d On is text, read as true"}},
		{`{"On": "FALSE"}`, `{"On":false}`, []string{"/d On is text, read as false"}},
		{`{"On": 0}`, `{"On":false}`, []string{"/d On is a number, read as true or false"}},
		{`{"On": null, "Text": 1}`, `{"On":null,"Text":"1"}`, []string{"/d Text is a number, read as text"}},
		{`{"Link": "/a"}`, `{"Link":{"@odata.id":"/a"}}`, []string{"/d Link is text, read as a link"}},
		{`{"Link": "N/A"}`, `{}`, []string{"/d Link is text, left out"}},
		{`{"Links": {"@odata.id": "/a"}}`, `{"Links":[{"@odata.id":"/a"}]}`, []string{"/d Links is an object, read as a list of it"}},
		{`{"Links": [{"@odata.id": "/a"}, "b", 3, "/c"]}`, `{"Links":[{"@odata.id":"/a"},{"@odata.id":"/c"}]}`,
			[]string{"/d Links[1] is text, left out", "/d Links[2] is a number, left out",
				"/d Links[3] is text, read as a link"}},
		{`{"Names": "a"}`, `{"Names":["a"]}`, []string{"/d Names is text, read as a list of it"}},
		{`{"Inner": {"Text": 1, "Count": 1}}`, `{"Inner":{"Count":1,"Text":"1"}}`, []string{"/d Inner.Text is a number, read as text"}},
		{`{"Inner": "x", "Text": "a"}`, `{"Text":"a"}`, []string{"/d Inner is text, left out"}},
		{`{"List": [{"Count": "1"}, {"Count": 2}]}`, `{"List":[{"Count":1},{"Count":2}]}`,
			[]string{"/d List[0].Count is text, read as a number"}},
		{`{"text": 5, "TEXT": "a"}`, `{"TEXT":"a","text":"5"}`, []string{"/d text is a number, read as text"}},
		{`["a"]`, `["a"]`, nil},
		{`null`, `null`, nil},
		{`{`, `{`, nil},
	} {
		body, odd, _ := mend(t.Context(), "/d", []byte(c.given), reflect.TypeFor[doc]())
		var said []string
		for _, o := range odd {
			said = append(said, o.String())
		}
		if string(body) != c.want || !slices.Equal(said, c.odd) {
			t.Errorf("%s became %s, %q\nwant %s, %q", c.given, body, said, c.want, c.odd)
		}
	}
}

// TestMendGofish: oddities within gofish's own decoders are found, too.
func TestMendGofish(t *testing.T) {
	body, odd, _ := mend(t.Context(), "/d", []byte(`{"@odata.etag": 87422082150, "SerialNumber": 1, "Boot": {"BootNext": 0, "BootOrder": ["a", 1],
		"BootSourceOverrideTarget": "Pxe"}, "MemorySummary": {"TotalSystemMemoryGiB": "64"}, "PCIeDevices@odata.count": "3",
		"Actions": {"#ComputerSystem.Reset": {"target": "/r", "ResetType@Redfish.AllowableValues": "On"}}}`),
		reflect.TypeFor[schemas.ComputerSystem]())
	var sys schemas.ComputerSystem
	if err := json.Unmarshal(body, &sys); err != nil || len(odd) != 7 {
		t.Fatalf("%v, %d oddities: %v", err, len(odd), odd)
	}
	resets, err := sys.GetSupportedResetTypes()
	if err != nil || len(resets) != 1 || sys.ODataEtag != "87422082150" ||
		sys.Boot.BootNext != "0" || *sys.MemorySummary.TotalSystemMemoryGiB != 64 ||
		sys.Boot.BootSourceOverrideTarget != "Pxe" || len(sys.Boot.BootOrder) != 2 || sys.PCIeDevicesCount != 3 {
		t.Errorf("%v, %v, read as %+v", err, resets, sys)
	}
	body, odd, _ = mend(t.Context(), "/", []byte(`{"ProtocolFeaturesSupported": {"ExpandQuery": false, "FilterQuery": true}}`), reflect.TypeFor[gofish.Service]())
	var root gofish.Service
	if err := json.Unmarshal(body, &root); err != nil || !root.ProtocolFeaturesSupported.FilterQuery || len(odd) != 1 {
		t.Errorf("%v, %v, %+v", err, odd, root.ProtocolFeaturesSupported)
	}
}

// TestMendIsBounded: a document with many values of a wrong kind is refused before it has cost much, and one with long
// ones. One odd value in a long document takes few bytes more than the document has. A call that has ended takes none.
func TestMendIsBounded(t *testing.T) {
	into := reflect.TypeFor[schemas.ComputerSystem]()
	long := strings.Repeat("7", 1500)
	for name, c := range map[string]struct {
		doc, want string
		most      int // bytes that are decoded
	}{
		"many":         {`{"HostingRoles": [7` + strings.Repeat(",7", 2*maxMended) + `]}`, "2000 that are corrected", 1 << 20},
		"many, spread": {`{"HostingRoles": [7` + strings.Repeat(`,"x",7`, 5000) + `]}`, "2000 that are corrected", 4 << 20},
		"long":         {`{"HostingRoles": [` + long + strings.Repeat(","+long, 2600) + `]}`, "or they are too long", maxDecoded + 4<<20},
		"one":          {`{"A": "` + strings.Repeat("x", 2<<20) + `", "Id": "a", "SerialNumber": 1}`, "", 3 << 20},
	} {
		m := mender{ctx: t.Context(), path: "/d", into: into, left: maxDecodings, text: maxDecoded}
		decoder := json.NewDecoder(strings.NewReader(c.doc))
		decoder.UseNumber()
		var doc map[string]any
		if err := decoder.Decode(&doc); err != nil {
			t.Fatal(err)
		}
		m.members(nil, doc)
		if c.want != "" && (!isDocument(m.err) || !strings.Contains(m.err.Error(), c.want)) || c.want == "" && m.err != nil {
			t.Errorf("%s: %v", name, m.err)
		}
		if maxDecoded-m.text > c.most {
			t.Errorf("%s: %d bytes of %d were decoded", name, maxDecoded-m.text, len(c.doc))
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := mend(ended, "/d", []byte(`{"SerialNumber": 1}`), into); !errors.Is(err, context.Canceled) {
		t.Errorf("it went on for a call that had ended: %v", err)
	}
}

// FuzzMend: a document of anything is decoded once it is mended, if it is an object. Mending it again changes nothing.
func FuzzMend(f *testing.F) {
	for _, seed := range []string{
		`{"Boot": {"BootNext": 0}, "MemorySummary": {"TotalSystemMemoryGiB": "64"}, "Actions": [{}]}`,
		`{"ProtocolFeaturesSupported": {"ExpandQuery": false}, "Links": "/x"}`,
		`{"Parameters": {"AllowableValues": "On"}, "Members": [1, "/a", {"@odata.id": {}}], "Attributes": []}`,
		`{"a": "1e400", "Id": -0.0, "PCIeDevices@odata.count": "0x10", "Status": null}`, `[]`, `{`, `{"Boot": {"BootNext": 0}},`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if checkShape(body) != nil || len(body) > 1<<16 {
			return
		}
		var doc map[string]any
		object := json.Unmarshal(body, &doc) == nil && doc != nil
		for _, at := range []string{"/redfish/v1", "/redfish/v1/Systems/1", "/redfish/v1/Systems/1/ActionInfo", "/x"} {
			for _, into := range typesFor(at) {
				once, odd, err := mend(t.Context(), at, body, into)
				if !object && len(odd) > 0 {
					t.Errorf("%v of what is no object", odd)
				}
				if err != nil {
					continue
				}
				if object && json.Unmarshal(once, reflect.New(into).Interface()) != nil {
					t.Errorf("%s does not take %s", into, once)
				}
				if twice, odd, _ := mend(t.Context(), at, once, into); object && (string(twice) != string(once) || len(odd) > 0) {
					t.Errorf("%s became %s, %v", once, twice, odd)
				}
			}
		}
	})
}
