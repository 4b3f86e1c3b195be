package task

// Node is what --task says where nodes are told apart.
const Node = "node"

// Graph is what --task says where whole graphs are told apart.
const Graph = "graph"

// Facts is what files call the task of facts.
const Facts = "facts"

// Link is what --task says where links are predicted.
const Link = "link"

// Edge is what --task says where edges are told apart. Its task is one of nodes whose
// examples are edges: a network of nodes, and a head that reads the rows of both ends.
const Edge = "edge"
