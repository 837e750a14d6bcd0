package rest

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// The append functions write JSON as encoding/json would, without reflection. A node is some seventy small values, and
// conductors answer GET and list of nodes most often.

const hexDigits = "0123456789abcdef"

// AppendString writes s quoted. Bytes that are not UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	return append(appendEscaped(append(dst, '"'), s), '"')
}

// appendEscaped writes s as it stands between quotes.
func appendEscaped(dst []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[start:i]...), `\ufffd`...)
				start = i + size
			}
			i += size
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\n`...)
		case '\t':
			dst = append(dst, `\t`...)
		case '\r':
			dst = append(dst, `\r`...)
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
		}
		i++
		start = i
	}
	return append(dst, s[start:]...)
}

// AppendText writes s, or null when it is empty.
func AppendText(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return AppendString(dst, s)
}

// AppendTime writes t as Ironic does, in UTC with microseconds, or null.
func AppendTime(dst []byte, t *time.Time) []byte {
	if t == nil || t.IsZero() {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = t.UTC().AppendFormat(dst, "2006-01-02T15:04:05.000000+00:00")
	return append(dst, '"')
}

// AppendBool writes b, or null.
func AppendBool(dst []byte, b *bool) []byte {
	if b == nil {
		return append(dst, "null"...)
	}
	return strconv.AppendBool(dst, *b)
}

// AppendWhole writes n, or null.
func AppendWhole(dst []byte, n *int64) []byte {
	if n == nil {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, *n, 10)
}

// AppendMaybe writes s, which may be empty, or null.
func AppendMaybe(dst []byte, s *string) []byte {
	if s == nil {
		return append(dst, "null"...)
	}
	return AppendString(dst, *s)
}

// AppendObject writes m with its keys sorted; an absent one is {}.
func AppendObject(dst []byte, m map[string]any) []byte {
	if len(m) == 0 {
		return append(dst, "{}"...)
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for i, k := range keys {
		dst = append(dst, "{,"[min(i, 1)])
		dst = append(AppendString(dst, k), ':')
		dst = AppendAny(dst, m[k])
	}
	return append(dst, '}')
}

// AppendAny writes a value as encoding/json decodes them, and anything else by
// way of encoding/json.
func AppendAny(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case string:
		return AppendString(dst, v)
	case bool:
		return strconv.AppendBool(dst, v)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return strconv.AppendInt(dst, int64(v), 10)
		}
	case map[string]any:
		return AppendObject(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendAny(dst, item)
		}
		return append(dst, ']')
	}
	text, err := json.Marshal(v)
	if err != nil { // a channel or NaN: cannot have come out of JSON
		return append(dst, "null"...)
	}
	return append(dst, text...)
}

// AppendTexts writes a list of strings.
func AppendTexts(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, s)
	}
	return append(dst, ']')
}

// AppendLinks writes the two links Ironic gives every resource. path is in parts
// with their slashes: a node in full has ten links, which are put together
// nowhere but here.
func AppendLinks(dst []byte, base string, path ...string) []byte {
	dst = appendURL(append(dst, `[{"href":`...), base, "/v1/", path)
	dst = appendURL(append(dst, `,"rel":"self"},{"href":`...), base, "/", path)
	return append(dst, `,"rel":"bookmark"}]`...)
}

func appendURL(dst []byte, base, root string, path []string) []byte {
	dst = append(appendEscaped(append(dst, '"'), base), root...)
	for _, part := range path {
		dst = appendEscaped(dst, part)
	}
	return append(dst, '"')
}
