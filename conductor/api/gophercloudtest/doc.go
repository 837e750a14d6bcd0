// Package gophercloudtest calls the API with gophercloud, the library of Metal3 and Terraform. Every function that the
// library has for bare metal is called once at least. The package has tests alone.
package gophercloudtest
