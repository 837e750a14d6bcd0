// Package recorded serves a BMC's recorded answers, as a BMC that can be used again: a tree of documents in the layout
// of DMTF's Redfish-Mockup-Creator (PATH/index.json for each resource). Reads are answered from the tree. Writes change
// a copy in memory, as the standard has it: power follows a reset, a boot override is used up, settings come true at
// the next start.
//
// It must not start processes or ask the network. Trees come from strangers: their number, size,
// depth and names are bounded.
package recorded
