package node

import "testing"

// TestSystemUUID: one machine is known in both byte orders and all ways of writing; UUIDs that boards share are none.
func TestSystemUUID(t *testing.T) {
	const uuid = "4c4c4544-0043-4a10-8052-b4c04f4d3432"
	for text, want := range map[string]string{
		uuid:                                    uuid,
		"4C4C4544-0043-4A10-8052-B4C04F4D3432":  uuid,
		" {4c4c454400434a108052b4c04f4d3432}\n": uuid,
		"00000000-0000-0000-0000-0cc47a112233":  "00000000-0000-0000-0000-0cc47a112233", // Supermicro: the MAC address
		"":                                      "",
		"Not Settable":                          "",
		"Not Present":                           "",
		"To be filled by O.E.M.":                "",
		"00000000-0000-0000-0000-000000000000":  "",
		"FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF":  "",
		"fefefefe-fefe-fefe-fefe-fefefefefefe":  "",
		"03000200-0400-0500-0006-000700080009":  "",
		"00020003-0004-0005-0006-000700080009":  "", // the same, swapped
		"4c4c4544-0000-2010-8020-80c04f202020":  "",
		"4c4c4544-0043-4a10-8052-b4c04f4d343":   "",
		"4c4c4544-0043-4a10-8052-b4c04f4d34322": "",
		"4c4c4544-0043-4a10-8052-b4c04f4d34zz":  "",
	} {
		if got := SystemUUID(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	const swapped, other = "44454c4c-4300-104a-8052-b4c04f4d3432", "44454c4c-4300-104a-8052-b4c04f4d3433"
	if SystemKey(uuid) != SystemKey(swapped) || SystemKey(uuid) == SystemKey(other) || SystemKey("Not Settable") != "" {
		t.Errorf("keys: %q %q %q", SystemKey(uuid), SystemKey(swapped), SystemKey(other))
	}
}

// FuzzSystemUUID: a UUID parses to itself, and both byte orders have the same key.
func FuzzSystemUUID(f *testing.F) {
	for _, seed := range []string{"4c4c4544-0043-4a10-8052-b4c04f4d3432", "Not Settable", "{}", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		uuid := SystemUUID(text)
		if uuid == "" {
			return
		}
		if len(uuid) != 36 || SystemUUID(uuid) != uuid || SystemKey(uuid) != SystemKey(text) || SystemKey(uuid) > uuid {
			t.Errorf("%q is %q with key %q", text, uuid, SystemKey(text))
		}
	})
}
