// Package imagelibrary is the images that operators have given the conductor: it keeps the record of each name and the
// bytes in imagestore together, fetches images from URLs, and gets the bytes that another conductor of a cluster has.
//
// It must not know nodes' deploys, nor who may read an image: imagesource and the API ask for that.
package imagelibrary
