// Package actions turns intents into effects: it sets queue attributes, has
// messages moved, runs programs, writes universal messages and tells the
// Alertmanagers, and keeps the journal of what it did.
//
// The deciding half is pure (lever.go, guard.go, claims.go, decide.go,
// peers.go, fallback.go): given an action, the freshest sample and the time it
// says act, no change, or held and why. The doing half is the Engine: the
// runner of package situations hands it confirmed intents (Dispatch) and every
// sample (Observe), and it works through them with one worker per queue.
//
// What the runner has to know:
//
//   - An intent replaces the unfinished intents of its situation and item.
//     An intent without actions only says that the edge reversed.
//   - Dispatch comes after the transaction that stored the intents, Observe
//     after Dispatch of the same tick; Observe also with samples that decide no
//     edge (start, end of grace).
//   - Observation.At is when the sample was asked for, not when it was answered:
//     a sample asked for before a change of ours ended says nothing about it.
//
// Of MQ the package knows attribute names and values (PUT, CLWLRANK, CLWLPRTY,
// CLWLUSEQ) and which instances the cluster workload algorithm could choose; it
// leaves the algorithm itself, and every way to reach a queue manager, to
// others. The levers of channels (CLWLWGHT, CLWLRANK, CLWLPRTY, started or
// stopped) and of the queue manager (suspended from a cluster) are decided in
// decide_groups.go, and what they take away in scope.go.
//
// Goroutines: Engine.Run and Notifier.Run own all they start and wait for them.
package actions
