package nodeapi

import "strings"

// secretParts mark a key as secret wherever they occur in it.
func secretParts() []string {
	return []string{
		"password", "passwd", "passphrase", "pswd", "secret", "token",
		"private_key", "auth_key", "priv_key", "kg_key", "hex_kg", "community",
		"authorization",
	}
}

// secret reports whether a key of driver_info and the like names a secret.
func secret(key string) bool {
	key = strings.ToLower(key)
	for _, p := range secretParts() {
		if strings.Contains(key, p) {
			return true
		}
	}
	return false
}

// Mask returns m with every secret replaced, at any depth. It copies only what
// it changes; m itself is never written.
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

func mask(m map[string]any) (masked map[string]any, copied bool) {
	masked = m
	put := func(key string, value any) {
		if !copied {
			masked, copied = clone(m), true
		}
		masked[key] = value
	}
	for key, value := range m {
		if value != nil && secret(key) {
			put(key, Masked)
			continue
		}
		if inner, ok := value.(map[string]any); ok {
			if c, changed := mask(inner); changed {
				put(key, c)
			}
		}
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
