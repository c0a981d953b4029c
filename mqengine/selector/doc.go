// Package selector is the language of selection strings: the SQL92 conditional
// expressions with which an MQOPEN for input or browse picks messages by their
// properties and by fields of their descriptor (Root.MQMD.*).
//
// Modelled: AND OR NOT with three-valued logic, comparison, arithmetic, BETWEEN,
// IN, LIKE with ESCAPE, IS NULL, literals of strings, numbers (decimal,
// hexadecimal, approximate), booleans and byte strings ("0x0AFC"). As in JMS a
// comparison of values of different kinds is false, of strings and booleans only
// = and <> mean anything, and a property that is not there makes a comparison
// unknown. Left out: selection on the content of a message, extended message
// selection, and the functions of brokers.
//
// The package is pure: no goroutines, no clock, no state. A Selector is
// immutable and may be used by any number of goroutines.
package selector
