package nodeapi

import "net/http"

// Unbuffered marks an answer that is sent in pieces: nginx passes each on as it comes, instead of 1,460 bytes at a time
// (X-Accel-Buffering), and no cache keeps it.
func Unbuffered(h http.Header) {
	h.Set("X-Accel-Buffering", "no")
	h.Set("Cache-Control", "no-store")
}
