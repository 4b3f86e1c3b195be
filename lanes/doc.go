// Package lanes shows what the threads did while a function ran, and what more of them would do: which
// parallel loops ran, how they were cut, and what ran on one thread between them. From a record made on
// two threads it predicts sixteen.
//
// Its nouns:
//
//   - a [Record] has the parallel loops of a function, one after the other, each with its chunks: when
//     each began and ended, and on which thread. [Of] and [Median] make one, [Write] and [Read] keep it;
//   - a [Schedule] is a record as it ran ([Record.Measured]) or as it would run on some number of
//     threads ([Record.On]), with the time it takes and the share of the threads' time that is work;
//   - [Costs] are what a prediction assumes of waking threads and handing out chunks;
//   - a [Part] is what the loops of one place take of a schedule, and why threads have no work there.
//
// A step of a training, recorded and shown:
//
//	r := lanes.Median(9, step, 16) // as it is, and cut for 16 threads
//	r.Name = "a step"
//	err := r.WriteTable(os.Stdout, 16, lanes.Measure())         // predicted times, and what loses most on 16 threads
//	err = lanes.Draw(file, "svg", []*lanes.Record{r}, lanes.Usual(), 8, 16) // a lane a thread
//
// A record costs a program nothing until it is made: one look at a variable for each loop. While it is made a
// chunk takes about 0.1 µs longer.
//
// Loops are cut by the number of threads, where no bit depends on it. So a prediction for some number lays out
// the chunks of a record whose loops were cut for it ([CutFor], [Record.Others]), or for the nearest number. It knows when
// there are too few of them, that one is longer than the others, and what runs on one thread. It does not know that
// chunks take longer when all processors are at work and share clock, caches and memory ([Costs.Growing] says
// by how much). Measure on the machine and the number of threads in question where you can.
package lanes
