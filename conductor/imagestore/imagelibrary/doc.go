// Package imagelibrary keeps the images that operators have named: the record of each name and its bytes in imagestore
// together. It fetches images from URLs, and from other conductors of a cluster.
//
// It must know neither deploys of nodes nor the rights of readers: imagesource and the API check those.
package imagelibrary
