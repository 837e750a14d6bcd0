// Package seal encrypts small values at rest: bytes in, an envelope out, and back.
//
// An envelope names the key that sealed it, so that a ring of several keys finds the
// right one while keys are rotated. It is bound to a context, which names the record
// that holds it: under another record it does not open.
//
// The form of an envelope, in bytes:
//
//	 4  "fsl" and the version of this form, 1
//	 8  the id of the key
//	12  a random nonce
//	    the ciphertext, and its tag of 16
//
// The cipher is AES-256-GCM (NIST SP 800-38D). Its key is made from the ring's by
// the one-step derivation of NIST SP 800-56C, 4.1, with SHA-256 and the context: random
// nonces are safe for 2^32 messages of one key, which the saves of one record do not
// reach. The head of 12 bytes and the context are authenticated too.
//
// The package reads no file and no clock, and knows no record.
package seal
