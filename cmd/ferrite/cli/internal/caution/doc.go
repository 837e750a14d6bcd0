// Package caution keeps operators from mistakes that cost a machine: it asks at a terminal before data is lost (--yes),
// sends a request again that the conductor refuses by default (--force), and looks whether all nodes are there before
// the first is touched.
package caution
