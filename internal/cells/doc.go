// Package cells makes columns of texts: it says what is a number, a time, a gap or a word, and what is mixed or written
// for people. [Read] reads tables as CSV has them, block by block on several threads; [List] holds the cells of
// a column while another kind of file is read.
package cells
