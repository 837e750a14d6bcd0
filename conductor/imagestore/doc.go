// Package imagestore keeps the bytes of images in a folder, by digest: those that operators gave this conductor, until
// they are removed, and those that were pulled through it, as long as they have room.
//
// A file appears under its name only once all of it was read and its checksum was found right. A pulled image is
// served while it comes, to any number of readers from one transfer; its last bytes are held back until it is verified.
// Files go out by sendfile, so memory does not depend on sizes or readers.
//
//	DIR/stored/HEX    an operator's image, by its sha256
//	DIR/cache/KEY     a pulled image, by its checksum and URL
//	DIR/partial/      images that are not complete, and what is known of them
//
// It must know neither names of images nor nodes, and decides nothing of who may read what.
package imagestore
