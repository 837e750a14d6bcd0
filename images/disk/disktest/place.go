package disktest

// Place is a file of size bytes with a text at an offset, and zeroes around it.
func Place(size, offset int, text string) []byte {
	b := make([]byte, size)
	copy(b[offset:], text)
	return b
}
