// Package trace shows which thread does what and when while a benchmark runs, and what more
// threads would do.
//
//	s := trace.Settings{File: "lanes.svg"}
//	if err := s.Check(""); err != nil {
//		return err
//	}
//	return s.Record(e, timer, benchmarks)
//
// Record runs benchmarks, Show reads what was kept. Both print tables, and draw or keep the
// records as the settings say.
package trace
