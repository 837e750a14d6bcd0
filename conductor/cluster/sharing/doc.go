// Package sharing keeps equal on all members the keys that seal secrets and sign erase reports, the certificate of the
// API, and the bytes of images. Keys and certificate are in the database, sealed with the cluster key; images are
// fetched from the member that has them.
//
// It knows neither nodes nor settings, and does not depend on leadership.
package sharing
