// Command bench measures situationd beside peers that give the same guarantee,
// in one run on one machine: a put is counted when its answer says that it
// would survive a power failure. It is a module of its own so that the peers'
// clients are no dependency of the product.
//
// The scripts beside it start the servers on loopback and print medians and
// ratios; ../docs/performance.md holds what they printed.
package main
