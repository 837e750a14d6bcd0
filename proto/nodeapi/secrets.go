package nodeapi

import (
	"slices"
	"strings"
)

// secretParts mark a key as secret wherever they occur in it.
func secretParts() []string {
	return []string{
		"password", "passwd", "passphrase", "pswd", "secret", "token",
		"private_key", "auth_key", "priv_key", "kg_key", "hex_kg", "community",
		"authorization",
	}
}

// Secret reports whether a key of driver_info and the like names a secret.
func Secret(key string) bool {
	key = strings.ToLower(key)
	for _, p := range secretParts() {
		if strings.Contains(key, p) {
			return true
		}
	}
	return false
}

// Mask returns m with every secret replaced, at any depth, and the credentials in every URL. It copies only the
// changed parts; m itself is never written.
func Mask(m map[string]any) map[string]any {
	masked, _ := mask(m)
	return masked
}

// MaskInstance is Mask for instance_info, where a config drive and a signed
// image URL are secret too.
func MaskInstance(m map[string]any) map[string]any {
	masked, copied := mask(m)
	for key, value := range m {
		url, _ := value.(string)
		if key != "configdrive" && !strings.Contains(url, "temp_url_sig=") {
			continue
		}
		if !copied {
			masked, copied = clone(masked), true
		}
		masked[key] = Masked
	}
	return masked
}

// MaskValue is Mask for any decoded JSON value that is no secret as a whole.
func MaskValue(value any) any {
	masked, _ := maskValue(value)
	return masked
}

func mask(m map[string]any) (masked map[string]any, copied bool) {
	masked = m
	name, _ := m["name"].(string) // a setting of the BIOS: {"name": "AdminPassword", "value": ...}
	for key, value := range m {
		changed := value != nil && (Secret(key) || key == "value" && Secret(name))
		if changed {
			value = Masked
		} else if value, changed = maskValue(value); !changed {
			continue
		}
		if !copied {
			masked, copied = clone(m), true
		}
		masked[key] = value
	}
	return masked, copied
}

// maskValue masks inside a value that is no secret as a whole.
func maskValue(value any) (masked any, changed bool) {
	switch v := value.(type) {
	case map[string]any:
		return mask(v)
	case []any:
		return maskList(v)
	case string:
		text := MaskText(v)
		return text, text != v
	}
	return value, false
}

func maskList(list []any) (masked []any, copied bool) {
	masked = list
	for i, value := range list {
		value, changed := maskValue(value)
		if !changed {
			continue
		}
		if !copied {
			masked, copied = slices.Clone(list), true
		}
		masked[i] = value
	}
	return masked, copied
}

func clone(m map[string]any) map[string]any {
	c := make(map[string]any, len(m)+1)
	for k, v := range m {
		c[k] = v
	}
	return c
}
