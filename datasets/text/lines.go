package text

// ReadLines returns the lines of a text in UTF-8, perhaps in gzip or zstd. A line ends
// with a line feed, perhaps with a carriage return before it; the last need not. A
// byte-order mark is left out, and empty lines are kept.
func ReadLines(path string) ([]string, error) {
	d, err := readDocument(path)
	if err != nil {
		return nil, err
	}
	return d.lines()
}
