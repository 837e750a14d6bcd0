package module

// match reports whether name matches a pattern of modules.alias, which has fnmatch(3)'s syntax: * for any run of
// characters, ? for one, [a-c] and [!a-c] for one of a set, \ to take the next character as it is.
func match(pattern, name string) bool {
	// Where to go back to when a character does not match: the last star can
	// always eat one more. That makes it linear times linear at worst.
	star, resume := -1, 0
	p, n := 0, 0
	for n < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			star, resume = p, n
			p++
			continue
		}
		if width, ok := matchOne(pattern[min(p, len(pattern)):], name[n]); ok {
			p += width
			n++
			continue
		}
		if star < 0 {
			return false
		}
		resume++
		p, n = star+1, resume
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// matchOne matches the pattern's first element, which is no star, against one
// character and returns how long the element is.
func matchOne(pattern string, c byte) (width int, ok bool) {
	if pattern == "" {
		return 0, false
	}
	switch pattern[0] {
	case '?':
		return 1, true
	case '\\':
		if len(pattern) > 1 {
			return 2, pattern[1] == c
		}
	case '[':
		if width := setWidth(pattern); width > 0 {
			return width, inSet(pattern[1:width-1], c)
		}
	}
	return 1, pattern[0] == c
}

// setWidth is the length of the set a pattern starts with, brackets included,
// 0 when it is never closed: then the bracket stands for itself.
func setWidth(pattern string) int {
	i := 1
	if i < len(pattern) && pattern[i] == '!' {
		i++
	}
	for i++; i < len(pattern); i++ { // a ] right at the start is a member
		if pattern[i] == ']' {
			return i + 1
		}
	}
	return 0
}

// inSet looks for c between the brackets.
func inSet(set string, c byte) bool {
	negated := false
	if set != "" && set[0] == '!' {
		negated, set = true, set[1:]
	}
	found := false
	for i := 0; i < len(set); i++ {
		if i+2 < len(set) && set[i+1] == '-' {
			found = found || set[i] <= c && c <= set[i+2]
			i += 2
			continue
		}
		found = found || set[i] == c
	}
	return found != negated
}
