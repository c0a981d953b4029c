// Package mqi holds the words of the MQI that every other room uses: reason
// and completion codes, AMQ message ids, the message descriptor, object
// descriptors and the option bits of MQOPEN, MQPUT and MQGET.
//
// Spelling is IBM's own (MQRC_Q_FULL, MQOO_BIND_NOT_FIXED) so that a name found
// here is the name in the manual. The package imports nothing of ours, starts
// no goroutines and holds no state.
package mqi
