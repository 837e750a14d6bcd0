package agentapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestBMCUserValidate(t *testing.T) {
	good := BMCUser{Token: "t", Name: "ferrite-inband", Password: "Abcdefgh-1234567", Address: "10.0.0.5"}
	with := func(change func(*BMCUser)) BMCUser {
		u := good
		change(&u)
		return u
	}
	for name, tc := range map[string]struct {
		user BMCUser
		want string // part of the error, "" for none
	}{
		"a user":         {good, ""},
		"at IPv6":        {with(func(u *BMCUser) { u.Address = "2001:db8::5" }), ""},
		"an error":       {BMCUser{Token: "t", Error: "this machine has no BMC"}, ""},
		"no token":       {with(func(u *BMCUser) { u.Token = "" }), "token has 0"},
		"a long token":   {with(func(u *BMCUser) { u.Token = strings.Repeat("t", 129) }), "token has 129"},
		"both":           {with(func(u *BMCUser) { u.Error = "e" }), "exclude each other"},
		"a long error":   {BMCUser{Token: "t", Error: strings.Repeat("e", 256)}, "no line of at most 255"},
		"error in lines": {BMCUser{Token: "t", Error: "a\nb"}, "no line"},
		"no name":        {with(func(u *BMCUser) { u.Name = "" }), `name ""`},
		"a long name":    {with(func(u *BMCUser) { u.Name = strings.Repeat("n", 17) }), "1 to 16"},
		"a bad name":     {with(func(u *BMCUser) { u.Name = "a\x00" }), "1 to 16"},
		"short password": {with(func(u *BMCUser) { u.Password = "short-1" }), "8 to 20"},
		"long password":  {with(func(u *BMCUser) { u.Password = strings.Repeat("p", 21) }), "8 to 20"},
		"no address":     {with(func(u *BMCUser) { u.Address = "" }), `address ""`},
		"a zone":         {with(func(u *BMCUser) { u.Address = "fe80::1%eth0" }), "without a zone"},
	} {
		err := tc.user.Validate()
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, expected %q", name, err, tc.want)
		}
		if p := tc.user.Password; err != nil && p != "" && strings.Contains(err.Error(), p) {
			t.Errorf("%s: the error shows the password: %v", name, err)
		}
	}
}

// TestBMCUserIsNotPrinted: a password does not get into logs by mistake.
func TestBMCUserIsNotPrinted(t *testing.T) {
	u := BMCUser{Token: "the-token", Name: "ferrite-inband", Password: "Abcdefgh-1234567", Address: "10.0.0.5"}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		if text := fmt.Sprintf(format, u); strings.Contains(text, u.Password) || strings.Contains(text, u.Token) {
			t.Errorf("%s prints %s", format, text)
		}
	}
}

func TestBMCUserError(t *testing.T) {
	if got := BMCUserError(errors.New("a\nb\u00e9" + strings.Repeat("x", 300))); len(got) != 255 ||
		!strings.HasPrefix(got, "a?b??x") {
		t.Errorf("%d characters: %s", len(got), got)
	}
}

func FuzzBMCUser(f *testing.F) {
	for _, seed := range []string{
		`{"token":"t","name":"n","password":"Abcdefgh-1234567","address":"10.0.0.5"}`, `{"token":"t","error":"no BMC"}`, `{}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var u BMCUser
		if json.Unmarshal(raw, &u) != nil || u.Validate() != nil {
			return
		}
		if (u.Error == "") != (u.Address != "") || len(u.Password) > MaxBMCPassword {
			t.Errorf("%q was taken", raw)
		}
	})
}
