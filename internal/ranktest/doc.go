// Package ranktest joins goroutines as if they were the ranks of a job, for tests: each is a rank with a Comm of its own.
package ranktest
