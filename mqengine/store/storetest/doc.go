// Package storetest is the conformance suite of store.Store: what a queue
// manager relies on, crashes included. Only tests import it.
package storetest
