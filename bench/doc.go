// Command bench measures situationd beside peers that give the same guarantee,
// in one run on one machine: a put is counted when its answer says that it
// would survive a power failure. It is a module of its own so that the peers'
// clients are no dependency of the product.
//
// `bench suite` starts the servers on loopback, runs interleaved rounds, counts
// the syncs of every side (with strace), voids a round that was answered with too few, and
// prints medians and ratios beside the goals; run.sh builds what it needs. The
// other modes are one client each, started by the suite as processes of their
// own. ../docs/performance.md holds what was measured.
package main
