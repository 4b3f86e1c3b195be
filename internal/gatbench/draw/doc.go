// Package draw makes the pictures of gatbench: what a training came to (Training), what the layers of a
// network attend to (Neighbourhoods), what a node's class comes from (Explained), and how fast kernels
// are (Sweep). Each is given numbers. Write writes a file, as SVG or PNG, and Text returns the same panels
// for a terminal. How panels look is internal/picture's.
package draw
