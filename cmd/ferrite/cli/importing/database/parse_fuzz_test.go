package database

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// places are URLs with a password, and how it is escaped there.
var places = []struct {
	form   string
	escape func(string) string
}{
	{"mysql://u:%s@db/ironic", url.PathEscape},
	{"mysql+pymysql://u:%s@db:3306/ironic?charset=utf8", url.PathEscape},
	{"mariadb://u:%s@/ironic?unix_socket=/run/my@1.sock", url.PathEscape},
	{"mysql://u:%s@db/ironic?ssl_ca=/a@b", url.PathEscape},
	{"mysql://db/ironic?password=%s", url.QueryEscape},
	{"postgresql://u:%s@db/ironic", url.PathEscape},
	{"postgresql://u:%s@a:1,[::1]:2/ironic?sslmode=require", url.PathEscape},
	{"postgresql://db/ironic?user=u&password=%s", url.QueryEscape},
	{"postgresql://db:5432/ironic?user=u&password=%s&sslmode=require", url.QueryEscape},
	{"postgresql:///ironic?host=/run/pg&password=%s", url.QueryEscape},
}

// FuzzParse: no text panics. A password is read as it is if it is escaped, and never shown, also if it is not.
func FuzzParse(f *testing.F) {
	for i := range places {
		for _, around := range [][2]string{
			{"", ""}, {"a@", ""}, {"", "@b"}, {"a@", "/b"}, {"a@", "?b@c"}, {"12/", "?b=@"}, {"1?x=", "&y=z"}, {"100%&", "%40"},
			{"[", "]:1"}, {"a:", ":1/"}, {"a&b=", "#c"}, {"a@c?", "="}, {"$$", "+ "}, {"://", "\\'"}, {"a@b/c?ssl_ca=", "@d"},
		} {
			f.Add(i, around[0], around[1])
		}
	}
	f.Fuzz(func(t *testing.T, place int, before, after string) {
		_, _ = Parse(before + after) // no panic
		const secret = "hunter2"
		if place < 0 || place >= len(places) {
			return
		}
		p, password := places[place], before+secret+after
		raw := fmt.Sprintf(p.form, password)
		u, err := Parse(raw)
		if shown := fmt.Sprint(u, err); strings.Contains(shown, secret) {
			t.Errorf("%q is shown as %s", raw, shown)
		}
		escaped := fmt.Sprintf(p.form, p.escape(password))
		if u, err = Parse(escaped); err != nil || u.Password != password || strings.Contains(u.String(), secret) {
			t.Errorf("%q: %s, %v, password %q", escaped, u, err, u.Password)
		}
	})
}
