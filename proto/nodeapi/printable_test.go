package nodeapi

import "testing"

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "",
		"plain, häßlich, 日本 😀":                   "plain, häßlich, 日本 😀",
		"two\nlines\r\nand\ta tab":               "two lines  and a tab",
		"\x1b[31mred\x1b[0m":                     "[31mred[0m",
		"nul\x00, bell\a, del\x7f":               "nul, bell, del",
		"C1 \u009b31m":                           "C1 31m",
		"\u202Eevil\u202C \u2066x\u2069 \u200Fy": "evil x y",
		"line\u2028end":                          "line end",
		"no UTF-8: \xff\xfe.":                    "no UTF-8: .",
		"\uFEFFmark, tag \U000E0041":             "mark, tag ",
	} {
		if got := Printable(text); got != want || Printable(got) != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
