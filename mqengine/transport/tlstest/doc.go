// Package tlstest makes certificate authorities and the key repositories of
// queue managers for tests, so that no certificate has to be kept, nor to expire.
package tlstest
