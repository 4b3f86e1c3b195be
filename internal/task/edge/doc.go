// Package edge is the task of edges: what differs from that of nodes, whose networks it trains with a head that reads both ends.
package edge
