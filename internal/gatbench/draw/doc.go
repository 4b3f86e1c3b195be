// Package draw makes the pictures of gatbench: what a training came to (Training, of
// --plot), and what the layers of a network attend to (Neighbourhoods, of
// --attention), and how fast kernels are (Sweep, of bench --picture). All are given numbers and write a file, as SVG or PNG; how charts
// look is internal/picture's.
package draw
