// Package rest is the generic part of an Ironic REST API: a table of routes, tables of
// fields, lists with filters and pages, JSON patch, microversions, and the OpenAPI
// document made of them.
//
// It must not know any resource: fields are generic over the type they belong to, and
// a Server gets the checks that depend on a record as functions.
package rest
